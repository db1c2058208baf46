"""Joint coordinates from Python: the matrices agree with each other and with the system. Ends with 77 (skipped) without
numpy."""
import math
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("articulation: skipped: there is no numpy here (Debian: python3-numpy)")
    sys.exit(77)

import stiction
import support


class Articulation(unittest.TestCase):
    def arm(self):
        scene = stiction.Scene(str(support.ROOT / "examples/robots/arm.urdf"))
        return scene, scene.system()

    def test_state(self):
        scene, system = self.arm()
        robot = system.articulation()
        q = np.array(robot.q)
        self.assertEqual(len(robot.links()), len([b for b in robot.links() if b.body > 0]))
        self.assertEqual(sum(link.n_q for link in robot.links()), len(q))
        robot.q = q + 0.1
        robot.v = np.arange(len(robot.v)) / 10
        robot.write()
        for link in robot.links():
            if link.type != "revolute":
                continue
            joint = system.joint(link.joint)
            self.assertAlmostEqual(joint.coordinate, q[link.first_q] + 0.1, 12)
            self.assertAlmostEqual(joint.speed, np.array(robot.v)[link.first_v], 10)
            self.assertEqual(np.array(robot.joint(link.joint)[0])[0], q[link.first_q] + 0.1)
            robot.set_joint(link.joint, q=[0.05])
            self.assertEqual(np.array(robot.q)[link.first_q], 0.05)
        robot.read()
        np.testing.assert_allclose(robot.q, q + 0.1, atol=1e-12)

    def test_dynamics(self):
        robot = stiction.Scene(str(support.ROOT / "examples/robots/ragdoll.xml")).system().articulation()
        n = len(robot.v)
        self.assertEqual(robot.loops(), [])
        robot.q = robot.move(robot.q, np.linspace(-1, 1, n), 0.3)
        robot.v = np.linspace(-1, 1, n)
        M = np.array(robot.mass_matrix())
        np.testing.assert_allclose(M, M.T)
        L, D = (np.array(x) for x in robot.mass_factor())
        np.testing.assert_allclose(L.T @ np.diag(D) @ L, M, atol=1e-13)
        a = np.linspace(1, 2, n)
        np.testing.assert_allclose(robot.mass_product(a), M @ a, atol=1e-12)
        np.testing.assert_allclose(robot.mass_solve(M @ a), a)
        tau = np.array(robot.inverse_dynamics(a))
        np.testing.assert_allclose(tau, M @ a + np.array(robot.coriolis()) + np.array(robot.gravity()), atol=1e-9)
        last = robot.links()[-1].body
        push = [(last, (0.1, 0, 0.2), (1, 2, 3), (0.1, 0.2, 0.3))]
        tau = robot.inverse_dynamics(a, forces=push)
        np.testing.assert_allclose(robot.forward_dynamics(tau, forces=push), a, rtol=1e-9)

    def test_kinematics(self):
        _, system = self.arm()
        robot = system.articulation()
        n = len(robot.v)
        turning = [link for link in robot.links() if link.type == "revolute"]
        last = turning[-1].body
        for link in turning:
            robot.set_joint(link.joint, q=[0.3])
        robot.v = np.linspace(-1, 1, n)
        a = np.linspace(1, 2, n)
        J, rate = np.array(robot.jacobian(last, (0, 0, 0.1))), np.array(robot.jacobian_rate(last, (0, 0, 0.1)))
        motion = robot.point(last, (0, 0, 0.1), acceleration=a)
        v = np.array(robot.v)
        np.testing.assert_allclose(J @ v, motion.velocity + motion.spin, atol=1e-12)
        np.testing.assert_allclose(J @ a + rate @ v, motion.acceleration + motion.spin_rate, atol=1e-12)
        centre = robot.centre_of_mass()
        np.testing.assert_allclose((np.array(robot.momentum_matrix()) @ v)[:3], centre.mass * np.array(centre.velocity))
        q = np.array(robot.q)
        np.testing.assert_allclose(robot.difference(q, robot.move(q, v, 0.5)), 0.5 * v, atol=1e-12)
        robot.q = np.zeros(len(q))
        reach = robot.reach([(last, (0, 0, 0.1), motion.position, motion.orientation)])
        self.assertTrue(reach.reached)
        np.testing.assert_allclose(robot.point(last, (0, 0, 0.1)).position, motion.position, atol=1e-9)
        self.assertEqual(robot.outside(), (0, 0))
        held = np.ones(n)
        self.assertFalse(robot.reach([(last, (0, 0, 0), (5, 5, 5))], held=held, max_iterations=5).reached)

    def test_loops(self):
        scene = stiction.Scene(str(support.ROOT / "examples/mechanisms/four_bar.json"))
        robot = scene.system().articulation()
        self.assertEqual(len(robot.loops()), 1)
        q = np.array(robot.q)
        q[0] += 0.1
        robot.q = q
        self.assertGreater(robot.loop_error(), 1e-3)
        with self.assertRaisesRegex(stiction.Error, "closes a loop and is open by"):
            robot.write()
        self.assertTrue(robot.reach([]).reached)
        robot.write()

    def test_controls_and_unknown_contacts(self):
        scene = stiction.Scene(str(support.ROOT / "examples/robots/hopper.xml"))
        system = scene.system()
        self.assertEqual(system.control_names, ("hip.motor", "knee.motor", "ankle.motor"))
        system.controls = [0.1, math.nan, -0.2]
        self.assertEqual(list(system.controls)[::2], [0.1, -0.2])
        self.assertTrue(math.isnan(list(system.controls)[1]))
        with self.assertRaisesRegex(stiction.Error, "knee.motor"):
            system.controls = [0, math.inf, 0]
        with self.assertRaises(ValueError):
            system.controls = [0]
        robot = system.articulation()
        n = len(robot.v)
        point = robot.point("foot").position
        driven = [name > 2 for name in range(n)]  # its root moves on three joints without a motor
        tau, forces, missing = robot.inverse_contacts([("foot", (point[0], 0, 0), (0, 0, 1), 0.9)], driven=driven)
        self.assertEqual(np.array(forces).shape, (1, 3))
        weight = robot.centre_of_mass().mass * 9.81
        self.assertLess(abs(np.array(forces)[0][2] - weight), weight)
        self.assertLess(np.abs(np.array(tau)[:3]).max(), 1e-12)
        with self.assertRaisesRegex(stiction.Error, "touch 0"):
            robot.inverse_contacts([("foot", (0, 0, 0), (0, 0, 2), 0.9)])

    def test_refused(self):
        scene, system = self.arm()
        robot = system.articulation()
        n = len(robot.q)
        with self.assertRaisesRegex(ValueError, f"q has 1 numbers, must have {n}|q.*{n}"):
            robot.q = [1.0]
        with self.assertRaisesRegex(stiction.Error, "must be from"):
            robot.q = [math.nan] * n
        shoulder = stiction.Scene(str(support.ROOT / "examples/mechanisms/shoulder.json")).system().articulation()
        before = list(shoulder.q)
        with self.assertRaisesRegex(stiction.Error, 'joint ".*": its quaternion has length 2'):
            shoulder.q = [2.0, 0.0, 0.0, 0.0]
        with self.assertRaisesRegex(ValueError, "v.*3"):
            shoulder.v = [0.0, 0.0]
        self.assertEqual(list(shoulder.q), before)
        with self.assertRaises(TypeError):
            stiction.Articulation()
        with self.assertRaises(TypeError):
            del robot.q
        with self.assertRaises(KeyError):
            robot.jacobian("no such body")
        with self.assertRaisesRegex(stiction.Error, "target 0"):
            robot.reach([(robot.links()[-1].body, (0, 0, 0), (math.inf, 0, 0))])
        system.change(scene)
        with self.assertRaisesRegex(stiction.Error, "make a new articulation"):
            robot.read()


if __name__ == "__main__":
    unittest.main()
