"""Friction and complementarity problems: known answers, every form of a matrix, honest errors, files."""
import array
import math
import os
import random
import tempfile
import unittest

import stiction
import support

IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


class Coo:
    """The part of scipy.sparse that is used."""

    def __init__(self, dense):
        self.shape = (len(dense), len(dense[0]))
        entries = [(x, i, j) for i, row in enumerate(dense) for j, x in enumerate(row) if x]
        self.data, self.row, self.col = (list(column) for column in zip(*entries))

    def tocoo(self):
        return self


def columns(dense):
    data, indices, starts = [], [], [0]
    for j in range(len(dense[0])):
        for i, row in enumerate(dense):
            if row[j]:
                data.append(row[j])
                indices.append(i)
        starts.append(len(data))
    return data, indices, starts


class Friction(unittest.TestCase):
    def test_sticking_and_sliding_in_closed_form(self):
        # W = 1: sticks where |q_T| <= mu |q_n|, r = -q; else slides with r_T = mu r_n against q_T
        stick = stiction.FrictionProblem([0.5], W=IDENTITY, q=[-1, 0.3, 0.4]).solve(tolerance=1e-12)
        for got, expected in zip(stick.r, (1, -0.3, -0.4)):
            self.assertAlmostEqual(got, expected, 10)
        slide = stiction.FrictionProblem([0.5], W=IDENTITY, q=[-1, 3, 4]).solve(tolerance=1e-12)
        for got, expected in zip(slide.r, (1, -0.3, -0.4)):
            self.assertAlmostEqual(got, expected, 10)
        for got, expected in zip(slide.u, (0, 2.7, 3.6)):
            self.assertAlmostEqual(got, expected, 10)
        self.assertTrue(slide.converged)
        self.assertIsNone(slide.v)
        opened = stiction.FrictionProblem([0.5], W=IDENTITY, q=[1, 3, 4]).solve()
        self.assertEqual(opened.r.tolist(), [0, 0, 0])

    def test_every_form_of_a_matrix(self):
        rng = random.Random(7)
        n = 4
        root = [[rng.uniform(-1, 1) for _ in range(3 * n)] for _ in range(3 * n)]
        W = [
            [sum(root[k][i] * root[k][j] for k in range(3 * n)) + (i == j) for j in range(3 * n)] for i in range(3 * n)
        ]
        W[0][5] = W[5][0] = 0.0
        q = [rng.uniform(-1, 1) for _ in range(3 * n)]
        triplets = [(x, i, j) for i, row in enumerate(W) for j, x in enumerate(row)]
        rng.shuffle(triplets)
        halves = [(x / 2, i, j) for x, i, j in triplets] * 2  # entries at the same place are added
        flat = memoryview(array.array("d", sum(W, [])).tobytes()).cast("d", (3 * n, 3 * n))
        answers = []
        for form in (
            W,
            flat,
            Coo(W),
            columns(W),
            tuple(array.array(c, x) for c, x in zip("dqq", columns(W))),
            ([x for x, _, _ in halves], ([i for _, i, _ in halves], [j for _, _, j in halves])),
        ):
            problem = stiction.FrictionProblem([0.5] * n, W=form, q=q)
            answers.append(problem.solve(tolerance=1e-10).r.tolist())
            data, indices, starts = problem.W
            self.assertEqual([x for x in data if x], columns(W)[0])
        self.assertEqual([a == answers[0] for a in answers], [True] * 6)

    def test_global_is_the_same_as_local(self):
        # Two masses of 2 and 3 kg, each with a contact; M v = H r + f, u = H'v: W = H' inv(M) H
        M = [[2 * (i == j) if i < 3 else 3 * (i == j) for j in range(6)] for i in range(6)]
        H = [[float(i == j) for j in range(6)] for i in range(6)]
        f = [-2, 1, 0, -3, 9, 1]
        whole = stiction.FrictionProblem([0.3, 0.3], M=M, H=H, f=f, w=[0] * 6).solve(tolerance=1e-12)
        W = [[(1 / M[i][i]) * (i == j) for j in range(6)] for i in range(6)]
        local = stiction.FrictionProblem([0.3, 0.3], W=W, q=[f[i] / M[i][i] for i in range(6)]).solve(tolerance=1e-12)
        for x, y in zip(whole.r, local.r):
            self.assertAlmostEqual(x, y, 9)
        for k in range(6):
            self.assertAlmostEqual(M[k][k] * whole.v[k], whole.r[k] + f[k], 9)

    def test_equality_rows(self):
        # A bar holds the tangential velocity at zero: u_t = 0 = v_t, l = -f_t - r_t
        problem = stiction.FrictionProblem(
            [0.5], dim=2, M=[[1, 0], [0, 1]], H=[[1, 0], [0, 1]], f=[-1, 5], w=[0, 0], G=[[0], [1]], b=[0]
        )
        solution = problem.solve()
        self.assertEqual(problem.n_l, 1)
        self.assertAlmostEqual(solution.v[1], 0, 9)
        self.assertAlmostEqual(solution.l[0] + solution.r[1], -5, 9)

    def test_every_solver_that_accepts(self):
        problem = stiction.FrictionProblem([0.5], W=IDENTITY, q=[-1, 3, 4])
        taken = [name for name in stiction.solvers() if problem.accepts(name)]
        self.assertIn("nsgs", taken)
        self.assertFalse(problem.accepts("lemke"))
        for name in taken:
            self.assertLess(problem.solve(solver=name, tolerance=1e-8).error, 1e-6, name)
        with self.assertRaises(stiction.Error) as caught:
            problem.solve(solver="lemke")
        self.assertEqual(caught.exception.status, "unsupported")

    def test_errors_are_honest(self):
        problem = stiction.FrictionProblem([0.5], W=IDENTITY, q=[-1, 3, 4])
        # r = 0: u = q, and P(r - u^) of the cone is not 0. By hand: shifted u_n = -1 + 0.5*5 = 1.5 and
        # -u^ = (-1.5, -3, -4); |(-3, -4)| = 5, mu 5 = 2.5 > 1.5, so P lies on the cone:
        # r_n = (-1.5 + 0.5*5)/1.25 = 0.8, r_T = 0.4 towards it
        error = problem.error([0, 0, 0])
        self.assertAlmostEqual(error.error, math.hypot(0.8, 0.4) / math.sqrt(26), 12)
        self.assertAlmostEqual(error.penetration, 1, 12)
        self.assertAlmostEqual(
            problem.error([1, 2, 0]).cone_violation, 1.5 / math.sqrt(1.25), 12
        )  # from (1, 2) to the line of slope 1/2
        stopped = stiction.read_problem(support.ROOT / "examples/problems/box-on-slope.hdf5").solve(
            solver="nsgs", tolerance=1e-15, max_iterations=1
        )
        self.assertEqual(stopped.converged, stopped.residual <= 1e-15)

    def test_start(self):
        problem = stiction.read_problem(support.ROOT / "examples/problems/materials.hdf5")
        cold = problem.solve(solver="nsgs", tolerance=1e-9)
        warm = problem.solve(solver="nsgs", tolerance=1e-9, start=cold.r)
        self.assertLessEqual(warm.iterations, 1 + cold.iterations // 10)

    def test_hyperstatic(self):
        # Two contacts side by side carry one mass: W = [[1, 1], [1, 1]] on the normals, r_1 + r_2 = 1
        one = [1, 0, 0, 1, 0, 0]
        W = [[float(one[i] and one[j] or (i == j and not one[i])) for j in range(6)] for i in range(6)]
        problem = stiction.FrictionProblem([0.5, 0.5], W=W, q=[-1, 0, 0, -1, 0, 0])
        solution = problem.solve()
        found = problem.determined(solution.r, weight=[1, 3])
        self.assertLess(found.rank, found.active_rows)
        self.assertFalse(found.determined[0])
        self.assertAlmostEqual(found.least[0], 0.75, 6)  # shared as 1/weight
        self.assertGreaterEqual(problem.lowest(), -1e-9)
        self.assertEqual(problem.contradiction(), 0)

    def test_wrong_problems(self):
        make = stiction.FrictionProblem
        for wrong in (
            dict(mu=[0.5]),
            dict(mu=[0.5], W=IDENTITY),
            dict(mu=[0.5], q=[0, 0, 0]),
            dict(mu=[0.5], W=IDENTITY, M=IDENTITY, q=[0, 0, 0]),
            dict(mu=[0.5], W=(1, 2), q=[0, 0, 0]),
            dict(mu="x", W=IDENTITY, q=[0, 0, 0]),
            dict(mu=[0.5], W=3, q=[0, 0, 0]),
            dict(mu=[0.5], W=([1.0], ([0.5], [0])), q=[0, 0, 0]),
            dict(mu=[0.5], W=IDENTITY, q=[0, 0, 0], s=[1]),
            dict(),
        ):
            with self.assertRaises(TypeError, msg=wrong):
                make(**wrong)
        for wrong in (
            dict(mu=[0.5], W=IDENTITY[:2], q=[0, 0, 0]),
            dict(mu=[0.5], W=IDENTITY, q=[0, 0]),
            dict(mu=[0.5], dim=7, W=IDENTITY, q=[0, 0, 0]),
            dict(mu=[0.5], W=([1.0], ([3], [0])), q=[0, 0, 0]),
            dict(mu=[0.5], W=([1.0], ([-1], [0])), q=[0, 0, 0]),
            dict(mu=[0.5], W=([1.0], [0], [0, 1, 0, 1]), q=[0, 0, 0]),
            dict(mu=[0.5], W=([1.0], [0], [0, 2**40, 1, 1]), q=[0, 0, 0]),
            dict(mu=[0.5], W=([1.0], [0], [1, 1, 1, 1]), q=[0, 0, 0]),
        ):
            with self.assertRaises(ValueError, msg=wrong):
                make(**wrong)
        for wrong in (
            dict(mu=[-1], W=IDENTITY, q=[0, 0, 0]),
            dict(mu=[math.nan], W=IDENTITY, q=[0, 0, 0]),
            dict(mu=[0.5], W=[[math.nan, 0, 0], [0, 1, 0], [0, 0, 1]], q=[0, 0, 0]),
            dict(mu=[0.5], W=IDENTITY, q=[0, math.inf, 0]),
            dict(mu=[0.5], dim=5, W=[[float(i == j) for j in range(5)] for i in range(5)], q=[0] * 5),
        ):
            with self.assertRaises(stiction.Error, msg=wrong):
                make(**wrong)
        problem = make([0.5], W=IDENTITY, q=[-1, 0, 0])
        for wrong in (dict(solver="none"), dict(tolerance=-1), dict(tolerance=math.nan), dict(threads=0)):
            with self.assertRaises(stiction.Error, msg=wrong):
                problem.solve(**wrong)
        for wrong in (dict(max_iterations=0), dict(start=[1]), dict(max_iterations=math.nan)):
            with self.assertRaises(ValueError, msg=wrong):
                problem.solve(**wrong)
        with self.assertRaises(stiction.Error):
            problem.solve(start=[math.nan, 0, 0])
        with self.assertRaises(ValueError):
            problem.error([1])
        with self.assertRaises(TypeError):
            stiction.solve(3)

    def test_no_contacts(self):
        with self.assertRaises(stiction.Error):
            stiction.FrictionProblem([], W=[], q=[])


class Steps(unittest.TestCase):
    def test_the_step_problem_of_a_system(self):
        description = support.box()
        description["bodies"][0]["velocity"] = [0, 0, 0]
        system = support.system(description)
        with self.assertRaises(ValueError):
            system.problem()  # no step yet
        system.step()
        whole, local = system.problem(), system.problem(local=True)
        self.assertEqual(local.form, "local")
        # The impulses of a step of 1/1000 s carry the weight
        for problem in (whole, local):
            solution = problem.solve(tolerance=1e-12)
            self.assertAlmostEqual(sum(solution.r[::3]), 2 * 9.81e-3, 9)
        del system
        self.assertEqual(local.n_contacts, 4)
        self.assertEqual(local.mu.tolist(), [0.5] * 4)


class Files(unittest.TestCase):
    def test_written_and_read_again(self):
        problem = stiction.FrictionProblem([0.5], W=IDENTITY, q=[-1, 3, 4])
        solution = problem.solve()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.hdf5")
            problem.write(path, title="one contact", r=solution.r, u=solution.u)
            again = stiction.read_problem(path)
            solved = stiction.solve(path, tolerance=1e-10)
            with self.assertRaises(stiction.Error):
                problem.write(os.path.join(folder, "no", "p.hdf5"))
        self.assertEqual(again.stored.tolist(), solution.r.tolist())
        self.assertEqual([a.tolist() for a in again.W], [a.tolist() for a in problem.W])
        self.assertEqual(again.q.tolist(), [-1, 3, 4])
        self.assertTrue(solved.converged)
        self.assertIsNone(problem.stored)
        self.assertIsNone(problem.M)

    def test_solve_takes_a_dict(self):
        self.assertTrue(stiction.solve({"mu": [0.5], "W": IDENTITY, "q": [-1, 0, 0]}, solver="nsgs").converged)

    def test_wrong_files(self):
        with self.assertRaises(stiction.Error):
            stiction.read_problem("/nowhere.hdf5")
        with self.assertRaises(stiction.Error):
            stiction.read_problem(__file__)


def gradients(problem, start):
    """Projected gradients with the shift mu |u_T|: slow, and independent of the library's solvers."""
    r = list(start)
    for _ in range(20000):
        if problem.residual(r) <= problem.tolerance:
            break
        u = list(problem.apply(r))
        for (_, first, dim, mu, *_), rho in zip(problem.contacts, problem.rho):
            u[first] += mu * math.sqrt(sum(x * x for x in u[first + 1 : first + dim]))
            for i in range(first, first + dim):
                r[i] -= 0.3 * rho * u[i]
        r = list(problem.project(r))
    return r


class Solvers(unittest.TestCase):
    """For people who work on solvers."""

    def setUp(self):
        rng = random.Random(4)
        B = [[rng.uniform(-0.4, 0.4) for _ in range(12)] for _ in range(12)]
        W = [[sum(a * b for a, b in zip(x, y)) + (i == j) for j, y in enumerate(B)] for i, x in enumerate(B)]
        q = [rng.uniform(-1, 0.3) if k % 3 == 0 else rng.uniform(-1, 1) for k in range(12)]
        self.problem = stiction.FrictionProblem([0.4] * 4, W=W, q=q)

    def test_history(self):
        for name in ("auto", "nsgs", "newton", "admm"):
            plain = self.problem.solve(name, tolerance=1e-8)
            told = self.problem.solve(name, tolerance=1e-8, history=True)
            self.assertIsNone(plain.history)
            self.assertEqual(list(plain.r), list(told.r))
            self.assertEqual(told.history[-1].iteration, told.iterations)
            self.assertLessEqual(told.history[-1].residual, 1e-8)

    def test_parameters(self):
        plain = self.problem.solve("nsgs", parameters={"accelerate": 0})
        self.assertGreater(plain.iterations, self.problem.solve("nsgs").iterations)
        self.assertTrue(self.problem.solve(parameters={"ipm.border": 0.9}).converged)
        self.assertEqual(stiction.solver_parameters()["ipm.border"][:3], (0.995, 0.1, 0.999999))
        for wrong in ({"bordr": 1}, {"border": 7}):
            with self.assertRaises(stiction.Error):
                self.problem.solve("ipm", parameters=wrong)
        for wrong in (3, {"border": "x"}, {1: 2}):
            with self.assertRaises(TypeError):
                self.problem.solve("ipm", parameters=wrong)

    def test_a_solver_of_ones_own(self):
        own, ours = self.problem.solve(gradients, tolerance=1e-9), self.problem.solve(tolerance=1e-9)
        self.assertTrue(own.converged)
        self.assertEqual(own.solver, "gradients")
        for a, b in zip(own.r, ours.r):  # W is definite and mu small: there is one solution
            self.assertAlmostEqual(a, b, 7)
        data, rows, first = None, None, None

        def matrix(problem, start):
            nonlocal data, rows, first
            data, rows, first = problem.matrix()
            return start

        self.assertFalse(self.problem.solve(matrix).converged)  # its result is judged, not believed
        self.assertEqual(len(first), 13)
        W = stiction.FrictionProblem([0.4] * 4, W=(data, rows, first), q=[0.0] * 12).W
        self.assertEqual(list(W[0]), list(self.problem.W[0]))

    def test_the_hard_set(self):
        # work, in visits of each contact, against what sweeps, newton and admm take without ipm before them: 23,000 for
        # mass-ratio, 54,000 for the stack
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "problems", "hard")
        limits = {"mass-ratio-60-1": 8000, "redundant-30-1": 20000, "stack-20-1": 8000, "chain-60-1": 20000}
        for name, most in limits.items():
            solution = stiction.read_problem(os.path.join(folder, name + ".hdf5")).solve(tolerance=1e-8, history=True)
            self.assertTrue(solution.converged, name)
            self.assertLess(solution.history[-1].work, most, name)

    def test_wrong_solvers(self):
        kept = []

        def thief(problem, start):
            kept.append(problem)
            return start

        def angry(problem, start):
            raise KeyError("no")

        self.problem.solve(thief)
        with self.assertRaises(RuntimeError):
            kept[0].apply([0.0] * 12)
        with self.assertRaises(KeyError):
            self.problem.solve(angry)
        for wrong, error in ((lambda p, r: [1.0], ValueError), (lambda p, r: None, TypeError), (lambda p: 1, TypeError)):
            with self.assertRaises(error):
                self.problem.solve(wrong)
        with self.assertRaises(stiction.Error):
            self.problem.solve(lambda p, r: [math.nan] * 12)

    def test_in_steps(self):
        # a box that slides to rest: v^2/(2 mu g), up to the scheme's h v/2
        scene = stiction.Scene.from_json(
            '{"bodies": [{"name": "floor", "fixed": true, "shapes": [{"type": "plane", "friction": 0.5}]},'
            '{"name": "box", "position": [0, 0, 0.1], "velocity": [1, 0, 0],'
            '"shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "friction": 0.5}]}]}'
        )
        system = stiction.System(scene, solver=gradients, h=2e-3, tolerance=1e-8)
        info = system.step(steps=100)
        self.assertEqual(info.unconverged, 0)
        clone = system.clone()
        del system
        clone.step(steps=50)
        self.assertAlmostEqual(clone.pose("box").position[0], 1 / (2 * 0.5 * 9.81), delta=2e-3)

        def angry(problem, start):
            raise KeyError("no")

        with self.assertRaises(KeyError):
            stiction.System(scene, solver=angry).step()
        with self.assertRaises(stiction.Error):
            stiction.System(scene, parameters={"ipm.x": 1})


class Lcp(unittest.TestCase):
    def test_known_answers(self):
        # Murty's: M = [[2, 1], [0, 2]], q = (-1, -1) has z = (1/4, 1/2)
        solution = stiction.LcpProblem([[2, 1], [0, 2]], [-1, -1]).solve()
        self.assertEqual(solution.outcome, "solved")
        self.assertAlmostEqual(solution.z[0], 0.25, 12)
        self.assertAlmostEqual(solution.z[1], 0.5, 12)
        self.assertLess(solution.error, 1e-12)
        nothing = stiction.LcpProblem([[-1.0]], [-1.0]).solve()
        self.assertEqual(nothing.outcome, "no solution")
        free = stiction.LcpProblem([[1, 0], [0, 1]], [2, 2], free=[True, False]).solve()
        self.assertAlmostEqual(free.z[0], -2, 12)
        self.assertEqual(free.z[1], 0)

    def test_wrong(self):
        for wrong in (([[1]], [math.nan]), ([[math.inf]], [1])):
            with self.assertRaises(stiction.Error):
                stiction.LcpProblem(*wrong)
        with self.assertRaises(ValueError):
            stiction.LcpProblem([[1]], [1, 2])
        with self.assertRaises(ValueError):
            stiction.LcpProblem([[1]], [1], free=[1, 0])
        with self.assertRaises(TypeError):
            stiction.LcpProblem("x", "y")


if __name__ == "__main__":
    unittest.main()
