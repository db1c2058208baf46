// bench/peers/engines/siconos.cpp -- Siconos: Moreau and Jean's time stepping over its Bullet collision detection.
//
// Bodies without joints only. Settings: tolerance and iterations of NSGS, theta of the integrator, margin of contact
// detection. The contact law is Newton's impact with Coulomb's friction, exact; no constraint stabilisation, as in its
// own examples of piles.
#include "../engine.h"

#include <MechanicsFwd.hpp> // before the kernel: the classes that visitors may visit

#include <FrictionContact.hpp>
#include <Friction_cst.h>
#include <MoreauJeanOSI.hpp>
#include <NewtonImpactFrictionNSL.hpp>
#include <NonSmoothDynamicalSystem.hpp>
#include <RigidBodyDS.hpp>
#include <SiconosBulletCollisionManager.hpp>
#include <SiconosContactor.hpp>
#include <SiconosException.hpp>
#include <SiconosShape.hpp>
#include <SiconosVector.hpp>
#include <SimpleMatrix.hpp>
#include <SimulationTypeDef.hpp>
#include <SolverOptions.h>
#include <TimeDiscretisation.hpp>
#include <TimeStepping.hpp>
#include <Topology.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

namespace
{

const Choice choices[] = {
    {"bounce", "theta=0.5"}, {"bowling", ""}, {"push", ""}, {"incline", ""}, {"", "tolerance=1e-3 iterations=1000"}};

struct World {
    const Scene *scene = nullptr;
    std::shared_ptr<NonSmoothDynamicalSystem> system;
    std::shared_ptr<TimeStepping> simulation;
    std::shared_ptr<FrictionContact> problem;
    std::vector<std::shared_ptr<RigidBodyDS>> bodies;
};

const char *version()
{
    return PEER_VERSION;
}

// ---- the scene ---------------------------------------------------------------------------------

std::shared_ptr<SiconosShape> make_shape(const Scene &scene, const Shape &shape, double margin)
{
    std::shared_ptr<SiconosShape> made;
    if (shape.type == SHAPE_SPHERE) made = std::make_shared<SiconosSphere>((float)shape.radius);
    if (shape.type == SHAPE_BOX)
        made = std::make_shared<SiconosBox>(2 * shape.half.x, 2 * shape.half.y, 2 * shape.half.z);
    if (shape.type == SHAPE_HULL) {
        const Hull &hull = scene.hulls[shape.hull];
        auto points = std::make_shared<SimpleMatrix>(hull.n_points, 3);
        for (int k = 0; k < hull.n_points; k++) {
            points->setValue(k, 0, hull.points[k].x);
            points->setValue(k, 1, hull.points[k].y);
            points->setValue(k, 2, hull.points[k].z);
        }
        made = std::make_shared<SiconosConvexHull>(points);
    }
    if (made) made->setInsideMargin(margin), made->setOutsideMargin(margin);
    return made;
}

std::shared_ptr<SiconosVector> pose_vector(st_Vec3 p, double w, double x, double y, double z)
{
    auto q = std::make_shared<SiconosVector>(7);
    const double values[7] = {p.x, p.y, p.z, w, x, y, z};
    for (int k = 0; k < 7; k++)
        q->setValue(k, values[k]);
    return q;
}

void add_body(World &w, const Body &def, double margin)
{
    const st_Quat &q = def.pose.q;
    auto velocity = std::make_shared<SiconosVector>(6);
    auto inertia = std::make_shared<SimpleMatrix>(3, 3);
    auto force = std::make_shared<SiconosVector>(3);
    const st_Vec3 &g = w.scene->gravity;
    const double v[6] = {def.velocity.x, def.velocity.y, def.velocity.z, def.spin.x, def.spin.y, def.spin.z};
    for (int k = 0; k < 6; k++)
        velocity->setValue(k, v[k]);
    inertia->zero();
    inertia->setValue(0, 0, def.inertia.x);
    inertia->setValue(1, 1, def.inertia.y);
    inertia->setValue(2, 2, def.inertia.z);
    force->setValue(0, def.mass * g.x + def.force.x);
    force->setValue(1, def.mass * g.y + def.force.y);
    force->setValue(2, def.mass * g.z + def.force.z);
    auto body = std::make_shared<RigidBodyDS>(pose_vector(def.pose.p, q.w, q.x, q.y, q.z), velocity, def.mass, inertia);
    body->setFExtPtr(force);
    auto shape = make_shape(*w.scene, def.shape, margin);
    if (shape) {
        auto contactors = std::make_shared<SiconosContactorSet>();
        contactors->append(std::make_shared<SiconosContactor>(shape));
        body->setContactors(contactors);
    }
    w.system->insertDynamicalSystem(body);
    w.bodies.push_back(body);
}

// A plane of Siconos is z = 0 of its frame. Boxes get the face of a large box, as for Bullet itself.
void add_planes(const World &w, SiconosBulletCollisionManager &collisions, double margin)
{
    const double half = 50;
    bool boxes = w.scene->n_bodies > 0 && w.scene->bodies[0].shape.type == SHAPE_BOX;
    for (int k = 0; k < w.scene->n_planes; k++) {
        const st_Vec3 &n = w.scene->planes[k].normal;
        double d = w.scene->planes[k].distance - (boxes ? half : 0), s = std::sqrt(2 * (1 + n.z));
        std::shared_ptr<SiconosShape> shape;
        if (boxes)
            shape = std::make_shared<SiconosBox>(2 * half, 2 * half, 2 * half);
        else
            shape = std::make_shared<SiconosPlane>();
        shape->setInsideMargin(margin);
        shape->setOutsideMargin(margin);
        auto contactors = std::make_shared<SiconosContactorSet>();
        contactors->append(std::make_shared<SiconosContactor>(shape));
        st_Vec3 at = {d * n.x, d * n.y, d * n.z};
        auto pose = s > 1e-6 ? pose_vector(at, s / 2, -n.y / s, n.x / s, 0) : pose_vector(at, 0, 1, 0, 0);
        collisions.insertStaticContactorSet(contactors, pose);
    }
}

// ---- the interface -----------------------------------------------------------------------------

World *build(const Scene *scene, Settings *settings)
{
    auto w = std::make_unique<World>();
    SiconosBulletOptions options;
    w->scene = scene;
    setting_choose(settings, scene, choices);
    double margin = setting_number(settings, "margin", 0.1 * scene->length);
    double theta = setting_number(settings, "theta", 0.50001);
    options.worldScale = 1;
    options.contactBreakingThreshold = setting_number(settings, "breaking", 0.02 * scene->length);
    options.perturbationIterations = 0;
    options.minimumPointsPerturbationThreshold = 0;
    auto collisions = std::make_shared<SiconosBulletCollisionManager>(options);
    collisions->useEqualityConstraints(false);
    collisions->insertNonSmoothLaw(std::make_shared<NewtonImpactFrictionNSL>(scene->e, 0., scene->mu, 3), 0, 0);

    w->system = std::make_shared<NonSmoothDynamicalSystem>(0., scene->end + scene->h);
    for (int k = 0; k < scene->n_bodies; k++)
        add_body(*w, scene->bodies[k], margin);
    add_planes(*w, *collisions, margin);
    auto integrator = std::make_shared<MoreauJeanOSI>(theta);
    integrator->setIsWSymmetricDefinitePositive(true);
    integrator->setConstraintActivationThreshold(1e-6);
    w->problem = std::make_shared<FrictionContact>(3, SICONOS_FRICTION_3D_NSGS);
    SolverOptions *solver = w->problem->numericsSolverOptions().get();
    solver->iparam[SICONOS_IPARAM_MAX_ITER] = (int)setting_number(settings, "iterations", 10000);
    solver->dparam[SICONOS_DPARAM_TOL] = setting_number(settings, "tolerance", 1e-8);
    w->problem->setMaxSize(16384);
    w->problem->setMStorageType(NM_SPARSE_BLOCK);
    w->problem->setNumericsVerboseMode(false);
    auto steps = std::make_shared<TimeDiscretisation>(0., scene->h);
    w->simulation = std::make_shared<TimeStepping>(w->system, steps, integrator, w->problem);
    w->simulation->insertInteractionManager(collisions);
    w->simulation->setNewtonOptions(SICONOS_TS_NONLINEAR);
    w->simulation->setNewtonMaxIteration(1);
    w->simulation->setNewtonTolerance(1e-10);
    w->simulation->initialize();
    return w.release();
}

void *create(const Scene *scene, Settings *settings, char message[200])
{
    if (scene->n_joints > 0) {
        std::snprintf(message, 200, "scenes with joints are not driven here");
        return nullptr;
    }
    try {
        return build(scene, settings);
    } catch (...) {
        std::snprintf(message, 200, "Siconos could not make the system");
        return nullptr;
    }
}

bool step(void *opaque, char message[200])
{
    World &w = *static_cast<World *>(opaque);
    try {
        w.simulation->computeOneStep();
        w.simulation->nextStep();
    } catch (...) {
        std::snprintf(message, 200, "Siconos stopped with an exception");
        return false;
    }
    return true;
}

void state(void *opaque, int body, BodyState *out)
{
    const RigidBodyDS &ds = *static_cast<World *>(opaque)->bodies[body];
    const SiconosVector &q = *ds.q(), &v = *ds.twist();
    out->pose = st_Pose{{q(0), q(1), q(2)}, {q(3), q(4), q(5), q(6)}};
    out->velocity = st_Vec3{v(0), v(1), v(2)};
    out->spin = st_Vec3{v(3), v(4), v(5)};
}

int contacts(void *opaque)
{
    return (int)static_cast<World *>(opaque)->problem->getSizeOutput() / 3;
}

void destroy(void *opaque)
{
    delete static_cast<World *>(opaque);
}

} // namespace

extern "C" const Engine engine = {"siconos", version, create, step, state, contacts, destroy, nullptr};
