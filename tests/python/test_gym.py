"""stiction.gym: the documented interface of gymnasium.vector.VectorEnv, in its three modes of reset."""
import sys
import unittest

try:
    import numpy
except ImportError:
    print("gym: skipped: there is no numpy here (Debian: python3-numpy)")
    sys.exit(77)

import stiction
import stiction.gym as gym
import support

N = 4


def observation(batch):
    return batch.q[:, [0, 2]]


def make(**keywords):
    """A ball in free flight along x at 1 m/s; world k is at x = t. It ends past 0.05 m: in the sixth action of 0.01 s."""
    scene = {
        "simulation": {"h": 0.01, "gravity": [0, 0, 0]},
        "bodies": [{"name": "ball", "mass": 1, "inertia": 0.1, "velocity": [1, 0, 0]}],
        "forces": [{"name": "push", "body": "ball", "force": [0, 0, 0]}],
    }
    options = {"terminated": lambda batch: batch.q[:, 0] > 0.055, "actions": ["push.fz"]}
    return gym.VectorEnv(
        stiction.Scene.from_dict(scene), N, observation, lambda batch, actions: batch.q[:, 0] + actions[:, 0],
        **{**options, **keywords},
    )


class Interface(unittest.TestCase):
    def test_attributes_and_spaces(self):
        env = make(action_low=-2, action_high=3)
        self.assertEqual(env.num_envs, N)
        self.assertEqual(env.single_action_space.shape, (1,))
        self.assertEqual(env.action_space.shape, (N, 1))
        self.assertEqual(env.single_observation_space.shape, (2,))
        self.assertEqual(env.observation_space.shape, (N, 2))
        self.assertEqual(env.metadata["autoreset_mode"], gym.AutoresetMode.NEXT_STEP)
        self.assertIs(env.unwrapped, env)
        self.assertIsNone(env.render_mode)
        self.assertIsNone(env.spec)
        env.action_space.seed(3)
        action = env.action_space.sample()
        self.assertTrue(env.action_space.contains(action))
        self.assertFalse(env.action_space.contains(action + 10))
        self.assertEqual(action.shape, (N, 1))
        observations, infos = env.reset(seed=1)
        self.assertTrue(env.observation_space.contains(observations))
        self.assertIsInstance(infos, dict)
        env.close()
        self.assertTrue(env.closed)
        with self.assertRaisesRegex(RuntimeError, "closed"):
            env.step(action)

    def test_step(self):
        env = make()
        env.reset(seed=1)
        for k in range(1, 5):
            x, reward, terminated, truncated, infos = env.step(numpy.full((N, 1), 0.5))
            numpy.testing.assert_allclose(x[:, 0], 0.01 * k, atol=1e-14)
            numpy.testing.assert_allclose(reward, 0.01 * k + 0.5, atol=1e-14)
            for flags in (terminated, truncated):
                self.assertEqual((flags.shape, flags.dtype), ((N,), bool))
                self.assertFalse(flags.any())
            self.assertFalse(infos["failed"].any())
        # linearly implicit Euler: z after n steps of h under a constant force is F/m h^2 n(n + 1)/2
        numpy.testing.assert_allclose(x[:, 1], 0.5 * 1e-4 * 4 * 5 / 2, rtol=1e-12)
        before = x.copy()
        env.step(numpy.zeros((N, 1)))
        numpy.testing.assert_array_equal(x, before)  # arguments do not change

    def test_actions_are_clipped_to_their_space(self):
        env = make()
        env.reset()
        _, reward, *_ = env.step(numpy.full((N, 1), 1e6))
        numpy.testing.assert_allclose(reward, 0.01 + 1)

    def until_the_end(self, env):
        env.reset()
        for _ in range(5):
            _, _, terminated, _, _ = env.step(numpy.zeros((N, 1)))
            self.assertFalse(terminated.any())
        return env.step(numpy.zeros((N, 1)))

    def test_next_step(self):
        env = make()
        x, _, terminated, truncated, _ = self.until_the_end(env)
        self.assertTrue(terminated.all() and not truncated.any())
        numpy.testing.assert_allclose(x[:, 0], 0.06)
        x, reward, terminated, truncated, _ = env.step(numpy.ones((N, 1)))
        numpy.testing.assert_array_equal(x[:, 0], 0)  # the observation of the reset
        numpy.testing.assert_array_equal(reward, 0)
        self.assertFalse(terminated.any() or truncated.any())
        x, *_ = env.step(numpy.zeros((N, 1)))
        numpy.testing.assert_allclose(x[:, 0], 0.01)

    def test_same_step(self):
        env = make(autoreset=gym.AutoresetMode.SAME_STEP)
        x, reward, terminated, _, infos = self.until_the_end(env)
        self.assertTrue(terminated.all())
        numpy.testing.assert_array_equal(x[:, 0], 0)
        numpy.testing.assert_allclose(reward, 0.06)
        numpy.testing.assert_allclose(infos["final_obs"][:, 0], 0.06)
        self.assertTrue(infos["_final_obs"].all())

    def test_disabled(self):
        env = make(autoreset="Disabled")
        x, *_ = self.until_the_end(env)
        x, reward, terminated, _, _ = env.step(numpy.zeros((N, 1)))
        numpy.testing.assert_allclose(x[:, 0], 0.06)  # it rests
        numpy.testing.assert_array_equal(reward, 0)
        mask = numpy.array([True, False, False, True])
        x, _ = env.reset(options={"reset_mask": mask})
        numpy.testing.assert_allclose(x[:, 0], numpy.where(mask, 0, 0.06))

    def test_truncation(self):
        env = make(max_episode_steps=3)
        env.reset()
        for k in range(3):
            _, _, terminated, truncated, _ = env.step(numpy.zeros((N, 1)))
        self.assertTrue(truncated.all() and not terminated.any())

    def test_seeds_and_variation(self):
        def vary(rng, q, v, mask):
            q[mask, 0] = rng.uniform(0, 0.01, mask.sum())

        env = make(vary=vary)
        first, _ = env.reset(seed=5)
        second, _ = env.reset(seed=5)
        third, _ = env.reset(seed=6)
        numpy.testing.assert_array_equal(first, second)
        self.assertFalse(numpy.array_equal(first, third))
        self.assertEqual(len(set(first[:, 0])), N)

    def test_parameters_per_world(self):
        def randomize(rng, parameters, mask):
            parameters[mask, 0] = rng.uniform(1, 2, mask.sum())

        env = make(randomize=randomize, parameters=["bodies/ball/mass"])
        env.reset(seed=2)
        masses = env.batch.parameters[:, 0].copy()
        x, *_ = env.step(numpy.ones((N, 1)))
        numpy.testing.assert_allclose(x[:, 1], 1e-4 / masses, rtol=1e-12)

    def test_a_world_that_fails_ends(self):
        def fast(rng, q, v, mask):
            v[1, 0] = 100

        env = make(vary=fast, speed_limit=10.0)
        env.reset()
        x, _, terminated, _, infos = env.step(numpy.zeros((N, 1)))
        numpy.testing.assert_array_equal(terminated, [False, True, False, False])
        numpy.testing.assert_array_equal(infos["failed"], terminated)

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(ValueError, "there is no control 'push.f'"):
            make(actions=["push.f"])
        with self.assertRaisesRegex(ValueError, "steps is 0"):
            make(steps=0)
        hinge = {"type": "revolute", "name": "j", "b": "ball", "point": [0, 0, 0], "axis": [0, 0, 1],
                 "motor": {"type": "position", "target": 0, "stiffness": 1}}
        scene = {"bodies": [{"name": "ball", "mass": 1, "inertia": 0.1}], "joints": [hinge]}
        for motor, low, high in (({}, -1, 1), ({"lowest": -0.5, "highest": 2}, -0.5, 2)):
            scene["joints"][0]["motor"].update(motor)
            own = gym.VectorEnv(stiction.Scene.from_dict(scene), N, observation, lambda batch, actions: batch.q[:, 0])
            self.assertEqual([own.single_action_space.low, own.single_action_space.high], [[low], [high]])
        with self.assertRaisesRegex(ValueError, "render_mode is 'human'"):
            make(render_mode="human")
        self.assertIsNone(make().render())
        pictures = make(render_mode="rgb_array", width=32, height=24).render()
        self.assertEqual([picture.shape for picture in pictures], [(24, 32, 3)] * N)
        with self.assertRaisesRegex(ValueError, "max_episode_steps is 0"):
            make(max_episode_steps=0)
        with self.assertRaisesRegex(stiction.Error, "0 worlds"):
            gym.VectorEnv(stiction.Scene.from_dict(support.box()), 0, observation, lambda b, a: b.time)
        env = make()
        env.reset()
        with self.assertRaisesRegex(ValueError, r"actions has the shape \(4,\), must have \(4, 1\)"):
            env.step(numpy.zeros(N))
        with self.assertRaisesRegex(ValueError, "the action of world 2 is not a number"):
            env.step(numpy.array([[0], [0], [numpy.nan], [0]]))
        with self.assertRaisesRegex(ValueError, "reset_mask"):
            env.reset(options={"reset_mask": [True]})
        wrong = make()
        wrong._reward = lambda batch, actions: numpy.zeros((N, 2))
        wrong.reset()
        with self.assertRaisesRegex(ValueError, "reward has the shape"):
            wrong.step(numpy.zeros((N, 1)))
        with self.assertRaisesRegex(ValueError, "must have 4 rows"):
            gym.VectorEnv(stiction.Scene.from_dict(support.box()), N, lambda b: b.q[:2], lambda b, a: b.time)


if __name__ == "__main__":
    unittest.main()
