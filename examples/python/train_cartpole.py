"""Learn to balance a pole on a cart with an evolution strategy: every world of a batch tries another policy.

    python3 examples/python/train_cartpole.py [GENERATIONS]

The policy is linear in cart position, cart speed, pole angle and pole speed. Each generation draws policies around the
present one, runs all of them at once, and moves towards those that did well. Look for: the pole falls after a second at
first, and stays up for the whole episode of 6 s after a few generations. It needs numpy.
"""
import sys
import time

try:
    import numpy
except ImportError:
    print("train_cartpole: skipped: needs numpy (Debian: python3-numpy)")
    sys.exit(77)

import stiction
import stiction.gym

WORLDS = 64
EPISODE = 300  # actions of 0.02 s

SCENE = stiction.Scene.from_dict(
    {
        "simulation": {"h": 0.02},
        "bodies": [
            {"name": "cart", "mass": 1, "inertia": 0.1},
            {"name": "pole", "mass": 0.1, "inertia": [0.0083, 0.0083, 1e-4], "position": [0, 0, 0.5]},
        ],
        "joints": [
            {"name": "rail", "type": "prismatic", "a": "ground", "b": "cart", "point": [0, 0, 0], "axis": [1, 0, 0],
             "motor": {"type": "force", "target": 0}},
            {"name": "hinge", "type": "revolute", "a": "cart", "b": "pole", "point": [0, 0, 0], "axis": [0, 1, 0]},
        ],
    }
)


def observation(batch):
    """Cart position and speed, pole angle and speed."""
    sensors = batch.read_sensors()
    names = batch.sensor_names
    return sensors[:, [names.index(n) for n in ("rail.coordinate", "rail.speed", "hinge.coordinate", "hinge.speed")]]


def tilt(rng, q, v, mask):
    """Push the pole a little, either way."""
    del q
    n_cart = 6  # velocities of the cart come first; the pole turns about its y axis and swings with it
    push = rng.uniform(-0.4, 0.4, mask.sum())
    v[mask, n_cart + 4] = push
    v[mask, n_cart] = 0.5 * push


def fallen(batch):
    x = observation(batch)
    return (numpy.abs(x[:, 0]) > 2.4) | (numpy.abs(x[:, 2]) > 0.4)


def evaluate(env, policies, seed):
    """Steps that each policy keeps its pole up, less a little for leaving the middle."""
    x, _ = env.reset(seed=seed)
    score, up = numpy.zeros(env.num_envs), numpy.ones(env.num_envs, dtype=bool)
    for _ in range(EPISODE):
        force = numpy.einsum("ij,ij->i", policies, x)
        x, reward, terminated, _, _ = env.step(force[:, None])
        score += up * reward
        up &= ~terminated
        if not up.any():
            break
    return score, up


def main(generations):
    env = stiction.gym.VectorEnv(
        SCENE, WORLDS, observation, lambda batch, actions: 1 - 0.1 * numpy.abs(observation(batch)[:, 0]), terminated=fallen,
        vary=tilt, action_low=-20, action_high=20, autoreset=stiction.gym.AutoresetMode.DISABLED, threads=2,
    )
    rng = numpy.random.default_rng(1)
    policy, spread, start = numpy.zeros(4), 10.0, time.perf_counter()
    for generation in range(generations):
        noise = rng.normal(size=(WORLDS // 2, 4))
        noise = numpy.concatenate([noise, -noise])  # pairs: the mean of their scores drops out
        score, _ = evaluate(env, policy + spread * noise, seed=generation)
        rank = numpy.argsort(numpy.argsort(score)) / (WORLDS - 1) - 0.5
        policy += 6 * spread / WORLDS * rank @ noise
        spread *= 0.9
        steady, up = evaluate(env, numpy.tile(policy, (WORLDS, 1)), seed=1000 + generation)
        print(f"generation {generation + 1:2d}: best {score.max():5.0f}, policy {steady.mean():5.0f}, {up.mean():4.0%} up")
        if up.all():
            break
    print(f"{time.perf_counter() - start:.1f} s; policy", numpy.round(policy, 1))
    assert up.mean() > 0.9, "the pole falls"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
