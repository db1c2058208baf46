"""A friction problem from arrays, without any bodies: a block of 1 kg on three legs, pushed along x, under every solver
that takes it. Then the step problem of a wall of bricks, taken out of a running system."""
import pathlib

import stiction

# M v = H r + f, u = H' v: the columns of H are the directions of the legs, at (x, y, -0.1) from the centre of mass
h, g, push = 0.01, 9.81, 3.0
legs = [(0.2, 0.0), (-0.1, 0.17), (-0.1, -0.17)]
directions = [(0, 0, 1), (1, 0, 0), (0, 1, 0)]  # normal first


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


columns = [list(d) + cross((x, y, -0.1), d) for x, y in legs for d in directions]
H = [list(row) for row in zip(*columns)]
mass = [1, 1, 1, 0.02, 0.02, 0.03]
M = [[mass[i] if i == j else 0.0 for j in range(6)] for i in range(6)]
problem = stiction.FrictionProblem([0.5] * 3, M=M, H=H, f=[push * h, 0, -g * h, 0, 0, 0], w=[0] * 9)

print(problem)
for solver in stiction.solvers():
    if not problem.accepts(solver):
        continue
    s = problem.solve(solver=solver, tolerance=1e-10)
    print(
        f"{solver:9} {'solved' if s.converged else 'not solved'}, error {s.error:.1e}, {s.iterations} iterations, "
        f"carried {sum(s.r[::3]) / h:.4f} N, held {-sum(s.r[1::3]) / h:.4f} N"
    )
    assert s.converged and abs(sum(s.r[::3]) / h - g) < 1e-6 and abs(sum(s.r[1::3]) / h + push) < 1e-6

wall = stiction.Scene(pathlib.Path(__file__).parents[1] / "world/wall.json").system()
wall.step(steps=20)
step = wall.problem()
print(step)
print(f"{step.solve().solver} solves it to {step.solve().error:.1e}")
