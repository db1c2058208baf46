# yade.py -- a case of bench/grains in Yade: reads case.txt, writes frames.txt and cpu.txt. Linear springs and dampers.
import time
from yade import config, utils
from yade.minieigenHP import Quaternion, Vector3

slabs, grains = [], []
for line in open('case.txt'):
    key, *words = line.split()
    values = [float(w) for w in words]
    if key == 'contact':
        kn, kt, cn, ct, angle = values
    elif key == 'time':
        h, frame, end = values
    elif key == 'world':
        g, turn = values
    elif key == 'slab':
        slabs.append(values)
    elif key == 'grain':
        grains.append((values[:4], [values[k:k + 4] for k in range(4, len(values), 4)]))

# For two equal materials Yade halves the parameters, in series, twice.
O.materials.append(ViscElMat(kn=kn, ks=kt, cn=cn, cs=ct, frictionAngle=angle, density=2500, label='grain'))
turning = []
for x, y, z, qw, qx, qy, qz, hx, hy, hz, turns in slabs:
    wall = utils.box((x, y, z), (hx, hy, hz), orientation=Quaternion(qw, qx, qy, qz), fixed=True, material='grain')
    number = O.bodies.append(wall)
    if turns:
        turning.append(number)
spheres = []
for (mass, ix, iy, iz), parts in grains:
    made = [utils.sphere(p[:3], p[3], material='grain') for p in parts]
    if len(made) == 1:
        spheres.append(O.bodies.append(made[0]))
        continue
    clump, members = O.bodies.appendClumped(made)
    spheres += members
    # Mass is the sum of the spheres, overlaps counted twice, as in the other engines. The order of Yade's principal
    # axes is arbitrary: a row has one small moment, along its axis.
    row = (Vector3(parts[-1][:3]) - Vector3(parts[0][:3])).normalized()
    state = O.bodies[clump].state
    axes = [state.ori * Vector3(1, 0, 0), state.ori * Vector3(0, 1, 0), state.ori * Vector3(0, 0, 1)]
    along = max(range(3), key=lambda k: abs(axes[k].dot(row)))
    state.mass = mass
    state.inertia = Vector3(*[ix if k == along else iy for k in range(3)])

O.engines = [
    ForceResetter(),
    InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Box_Aabb()], verletDist=-0.2),
    InteractionLoop([Ig2_Sphere_Sphere_ScGeom(), Ig2_Box_Sphere_ScGeom()], [Ip2_ViscElMat_ViscElMat_ViscElPhys()],
                    [Law2_ScGeom_ViscElPhys_Basic()]),
    RotationEngine(ids=turning, rotationAxis=(0, 1, 0), angularVelocity=turn, rotateAroundZero=True,
                   zeroPoint=(0, 0, 0), dead=not turning),
    NewtonIntegrator(damping=0, gravity=(0, 0, -g)),
]
O.dt = h
steps = int(round(frame / h))
used = 0.0
with open('frames.txt', 'w') as out:
    for k in range(int(round(end / frame)) + 1):
        if k > 0:
            start = time.process_time()
            O.run(steps, True)
            used += time.process_time() - start
        out.write('ITEM: ATOMS\n')
        for n, body in enumerate(spheres):
            out.write('%d %.9g %.9g %.9g\n' % ((n + 1,) + tuple(O.bodies[body].state.pos)))
with open('cpu.txt', 'w') as out:
    out.write('%g %s\n' % (used, config.version))
