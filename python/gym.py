"""Worlds of a stiction.Batch as a vector environment with the interface of Gymnasium: gymnasium.vector.VectorEnv.

    env = stiction.gym.VectorEnv(scene, 64, observation=..., reward=..., terminated=..., steps=10)
    observations, infos = env.reset(seed=1)
    observations, rewards, terminations, truncations, infos = env.step(actions)

Observation, reward and termination are functions of the batch, that is of arrays with one row per world. Gymnasium is not
required. If it is installed, VectorEnv is a subclass of its VectorEnv, and the spaces are those of Gymnasium. numpy is required.
"""
import enum

import numpy

try:
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector import VectorEnv as _Base
except ImportError:
    _Base = object

    class AutoresetMode(enum.Enum):
        """When a world that has ended is reset; names and values are those of Gymnasium."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"

    class Box:
        """Arrays of numbers from `low` to `high`, as gymnasium.spaces.Box."""

        def __init__(self, low, high, shape=None, dtype=numpy.float64, seed=None):
            self.dtype = numpy.dtype(dtype)
            self.shape = tuple(shape) if shape is not None else numpy.shape(low)
            self.low = numpy.broadcast_to(numpy.asarray(low, self.dtype), self.shape).copy()
            self.high = numpy.broadcast_to(numpy.asarray(high, self.dtype), self.shape).copy()
            self.np_random = numpy.random.default_rng(seed)

        def seed(self, seed=None):
            self.np_random = numpy.random.default_rng(seed)
            return seed

        def sample(self):
            """Uniform if both bounds are finite, else normal and within the bounds."""
            finite = numpy.isfinite(self.low) & numpy.isfinite(self.high)
            normal = self.np_random.normal(size=self.shape)
            uniform = self.np_random.uniform(
                numpy.where(finite, self.low, 0.0), numpy.where(finite, self.high, 1.0), size=self.shape
            )
            return numpy.clip(numpy.where(finite, uniform, normal), self.low, self.high).astype(self.dtype)

        def contains(self, x):
            x = numpy.asarray(x)
            return bool(
                x.shape == self.shape
                and numpy.can_cast(x.dtype, self.dtype, casting="same_kind")
                and numpy.all(x >= self.low)
                and numpy.all(x <= self.high)
            )

        __contains__ = contains

        def __eq__(self, other):
            return (
                isinstance(other, Box)
                and self.shape == other.shape
                and self.dtype == other.dtype
                and numpy.array_equal(self.low, other.low)
                and numpy.array_equal(self.high, other.high)
            )

        def __repr__(self):
            return f"Box({self.low.min(initial=0)}, {self.high.max(initial=0)}, {self.shape}, {self.dtype})"


def _rows(value, what, shape):
    """An array of exactly this shape, or an error that names it."""
    array = numpy.asarray(value)
    if array.shape != shape:
        raise ValueError(f"{what} has the shape {array.shape}, must have {shape}")
    return array


def _motor_bounds(scene):
    """The range of each motor that has one, by the name of its control."""
    bounds = {}
    for joint in scene.to_dict().get("joints", []):
        motor = joint.get("motor", {})
        if "name" in joint and "lowest" in motor and "highest" in motor:
            bounds[joint["name"] + ".motor"] = motor["lowest"], motor["highest"]
    return bounds


class VectorEnv(_Base):
    """Many worlds of one scene as an environment.

    scene            a stiction.Scene
    num_envs         number of worlds
    observation      observation(batch) -> array (num_envs, n)
    reward           reward(batch, actions) -> array (num_envs,), after the steps
    terminated       terminated(batch) -> bools (num_envs,); None: a world ends only if a step fails
    actions          names of the controls that actions set, see Batch.control_names; None: all motors
    action_low, _high  bounds of actions; actions are clipped to them. None: `lowest` and `highest` of the motor in the
                     scene, which are ctrlrange in a robot file; -1 and 1 if it has none
    steps            steps of the simulation per action
    max_episode_steps  number of actions after which a world is truncated; None: never
    vary             vary(rng, q, v, mask): changes rows of states in place, after a reset
    randomize        randomize(rng, parameters, mask): changes rows of parameters in place, before a reset
    autoreset        AutoresetMode: NEXT_STEP, SAME_STEP or DISABLED
    render_mode      "rgb_array": render() returns one picture per world; None: it returns None
    width, height, camera  of these pictures, as in System.render
    others           arguments of stiction.Batch: threads, parameters, settings
    """

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, scene, num_envs, observation, reward, *, terminated=None, actions=None, action_low=None,
                 action_high=None, steps=1, max_episode_steps=None, vary=None, randomize=None,
                 autoreset=AutoresetMode.NEXT_STEP, render_mode=None, width=480, height=480, camera=None, **others):
        import stiction  # not before: it is the package of this module

        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}, must be 'rgb_array' or None")
        self.batch = stiction.Batch(scene, num_envs, **others)
        self.num_envs = self.batch.worlds
        self._observation, self._reward, self._terminated = observation, reward, terminated
        self._vary, self._randomize = vary, randomize
        names = self.batch.control_names
        wanted = [name for name in names if name.endswith(".motor")] if actions is None else list(actions)
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise ValueError(f"there is no control {unknown[0]!r}; there are {', '.join(names) or 'none'}")
        if steps < 1:
            raise ValueError(f"steps is {steps}, must be at least 1")
        if max_episode_steps is not None and max_episode_steps < 1:
            raise ValueError(f"max_episode_steps is {max_episode_steps}, must be at least 1")
        self._columns = [names.index(name) for name in wanted]
        self._steps, self._most = int(steps), max_episode_steps
        self._mode = AutoresetMode(autoreset)
        self._age = numpy.zeros(self.num_envs, dtype=int)
        self._ended = numpy.zeros(self.num_envs, dtype=bool)
        self.action_names = tuple(wanted)
        self.metadata = {**self.metadata, "autoreset_mode": self._mode}
        self.render_mode = render_mode
        self._picture = {"width": width, "height": height, "camera": camera}
        self.spec = None
        self.closed = False
        self._generator = numpy.random.default_rng()
        n = len(wanted)
        bounds = _motor_bounds(scene) if action_low is None or action_high is None else {}
        if action_low is None:
            action_low = [bounds.get(name, (-1.0, 1.0))[0] for name in wanted]
        if action_high is None:
            action_high = [bounds.get(name, (-1.0, 1.0))[1] for name in wanted]
        low = numpy.broadcast_to(numpy.asarray(action_low, float), (n,))
        high = numpy.broadcast_to(numpy.asarray(action_high, float), (n,))
        first = self._observe()
        self.single_action_space = Box(low, high, dtype=numpy.float64)
        self.action_space = Box(numpy.tile(low, (self.num_envs, 1)), numpy.tile(high, (self.num_envs, 1)),
                                dtype=numpy.float64)
        self.single_observation_space = Box(-numpy.inf, numpy.inf, shape=first.shape[1:], dtype=first.dtype)
        self.observation_space = Box(-numpy.inf, numpy.inf, shape=first.shape, dtype=first.dtype)

    @property
    def np_random(self):
        """The random number generator; reset(seed=...) restarts it."""
        return self._generator

    @np_random.setter
    def np_random(self, value):
        self._generator = value

    @property
    def unwrapped(self):
        return self

    def _observe(self):
        observation = numpy.array(self._observation(self.batch))  # a copy: the batch goes on
        if observation.ndim < 1 or observation.shape[0] != self.num_envs:
            raise ValueError(f"observation has the shape {observation.shape}, must have {self.num_envs} rows")
        return observation

    def _restart(self, mask):
        if self._randomize is not None:
            self._randomize(self._generator, self.batch.parameters, mask)
            self.batch.apply_parameters(mask)
        self.batch.reset(mask)
        if self._vary is not None:
            q, v = self.batch.q.copy(), self.batch.v.copy()
            self._vary(self._generator, q, v, mask)
            self.batch.set_states(q, v, mask=mask)
        self._age[mask] = 0
        self._ended[mask] = False

    def reset(self, *, seed=None, options=None):
        """Reset all worlds, or those of options["reset_mask"]: (observations, infos)."""
        if seed is not None:
            self._generator = numpy.random.default_rng(seed)
        mask = numpy.ones(self.num_envs, dtype=bool)
        if options is not None and "reset_mask" in options:
            mask = _rows(options["reset_mask"], "reset_mask", (self.num_envs,)).astype(bool)
        self._restart(mask)
        return self._observe(), {}

    def step(self, actions):
        """Take self.steps steps of each world: (observations, rewards, terminations, truncations, infos).

        NEXT_STEP: a world that has ended is reset by the next call, which ignores its action; its reward is 0 then.
        SAME_STEP: it is reset at once, and its last observation is in infos["final_obs"]. DISABLED: it continues only
        after reset(options={"reset_mask": mask}).
        """
        if self.closed:
            raise RuntimeError("the environment is closed")
        actions = _rows(actions, "actions", (self.num_envs, len(self._columns))).astype(float)
        if numpy.isnan(actions).any():
            raise ValueError(f"the action of world {int(numpy.isnan(actions).any(axis=1).argmax())} is not a number")
        actions = numpy.clip(actions, self.single_action_space.low, self.single_action_space.high)
        restarted = numpy.zeros(self.num_envs, dtype=bool)
        if self._mode is AutoresetMode.NEXT_STEP and self._ended.any():
            restarted = self._ended.copy()
            self._restart(restarted)
        going = ~restarted & ~self._ended
        self.batch.controls[:, self._columns] = actions
        self.batch.step(self._steps, mask=going)
        failed = (numpy.asarray(self.batch.status) != 0) & going
        observations = self._observe()
        rewards = _rows(self._reward(self.batch, actions), "reward", (self.num_envs,)).astype(float)
        ended = failed.copy()
        if self._terminated is not None:
            ended |= _rows(self._terminated(self.batch), "terminated", (self.num_envs,)).astype(bool)
        self._age[going] += 1
        terminations = ended & going
        truncations = (
            going & ~terminations & (self._age >= self._most) if self._most is not None else numpy.zeros_like(going)
        )
        rewards = numpy.where(going, rewards, 0.0)
        infos = {"failed": failed, "_failed": going.copy()}
        self._ended |= terminations | truncations
        over = terminations | truncations
        if self._mode is AutoresetMode.SAME_STEP and over.any():
            final = numpy.zeros_like(observations)
            final[over] = observations[over]
            infos.update({"final_obs": final, "_final_obs": over.copy(), "final_info": {}, "_final_info": over.copy()})
            self._restart(over)
            observations = self._observe()
        return observations, rewards, terminations, truncations, infos

    def render(self):
        """One picture per world, each an array height x width x 3 of bytes; None without a render_mode."""
        if self.render_mode is None:
            return None
        return tuple(numpy.asarray(self.batch.system(k).render(**self._picture)) for k in range(self.num_envs))

    def close(self, **kwargs):
        del kwargs
        self.closed = True

    def close_extras(self, **kwargs):
        del kwargs

    def __repr__(self):
        return f"<stiction.gym.VectorEnv of {self.num_envs} worlds>"
