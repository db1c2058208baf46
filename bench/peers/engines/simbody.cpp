// bench/peers/engines/simbody.cpp -- Simbody: generalised coordinates, springs on them, error-controlled integration.
//
// Scenes of joints without contact only: its usual application. Setting: accuracy of the integrator.
#include "../engine.h"

#include <Simbody.h>
#include <cstdio>
#include <memory>
#include <vector>

using namespace SimTK;

namespace
{

struct World {
    const Scene *scene = nullptr;
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    std::vector<MobilizedBodyIndex> bodies;
    std::unique_ptr<Integrator> integrator;
    std::unique_ptr<TimeStepper> stepper;
    double time = 0;
};

const char *version()
{
    return PEER_VERSION;
}

Vec3 vector(st_Vec3 a)
{
    return Vec3(a.x, a.y, a.z);
}
st_Vec3 vector(const Vec3 &a)
{
    return st_Vec3{a[0], a[1], a[2]};
}
Transform transform(const st_Pose &pose)
{
    return Transform(Rotation(Quaternion(pose.q.w, pose.q.x, pose.q.y, pose.q.z)), vector(pose.p));
}

// Pins turn about z of their frames, sliders slide along x.
void add_joint(World &w, const Joint &joint)
{
    const ::Body &def = w.scene->bodies[joint.b];
    Transform self = transform(def.pose),
              parent = joint.a >= 0 ? transform(w.scene->bodies[joint.a].pose) : Transform();
    CoordinateAxis along = joint.type == JOINT_PRISMATIC ? CoordinateAxis(XAxis) : CoordinateAxis(ZAxis);
    Rotation turn = joint.type == JOINT_BALL ? Rotation() : Rotation(UnitVec3(vector(joint.axis)), along);
    Transform frame(turn, vector(joint.point)), in_parent = ~parent * frame, in_self = ~self * frame;
    MobilizedBody &above = w.matter.updMobilizedBody(joint.a >= 0 ? w.bodies[joint.a] : MobilizedBodyIndex(0));
    SimTK::Body::Rigid body(MassProperties(def.mass, Vec3(0), Inertia(def.inertia.x, def.inertia.y, def.inertia.z)));
    MobilizedBody made;
    if (joint.type == JOINT_REVOLUTE)
        made = MobilizedBody::Pin(above, in_parent, body, in_self);
    else if (joint.type == JOINT_PRISMATIC)
        made = MobilizedBody::Slider(above, in_parent, body, in_self);
    else
        made = MobilizedBody::Ball(above, in_parent, body, in_self);
    w.bodies[joint.b] = made.getMobilizedBodyIndex();
    if (joint.stiffness > 0) Force::MobilityLinearSpring(w.forces, made, MobilizerQIndex(0), joint.stiffness, 0);
    if (joint.damping > 0) Force::MobilityLinearDamper(w.forces, made, MobilizerUIndex(0), joint.damping);
}

World *build(const Scene *scene, Settings *settings)
{
    auto w = std::make_unique<World>();
    w->scene = scene;
    w->bodies.resize(scene->n_bodies);
    Force::UniformGravity(w->forces, w->matter, vector(scene->gravity));
    for (int k = 0; k < scene->n_joints; k++)
        add_joint(*w, scene->joints[k]);
    State start = w->system.realizeTopology();
    w->integrator.reset(new RungeKuttaMersonIntegrator(w->system));
    w->integrator->setAccuracy(setting_number(settings, "accuracy", 1e-3));
    w->stepper.reset(new TimeStepper(w->system, *w->integrator));
    w->stepper->initialize(start);
    return w.release();
}

void *create(const Scene *scene, Settings *settings, char message[200])
{
    if (scene->n_joints != scene->n_bodies || scene->n_planes > 0) {
        std::snprintf(message, 200, "driven here for joints without contact only");
        return nullptr;
    }
    try {
        return build(scene, settings);
    } catch (const std::exception &error) {
        std::snprintf(message, 200, "%.199s", error.what());
        return nullptr;
    }
}

bool step(void *opaque, char message[200])
{
    World &w = *static_cast<World *>(opaque);
    try {
        w.time += w.scene->h;
        w.stepper->stepTo(w.time);
    } catch (const std::exception &error) {
        std::snprintf(message, 200, "%.199s", error.what());
        return false;
    }
    return true;
}

void state(void *opaque, int body, BodyState *out)
{
    World &w = *static_cast<World *>(opaque);
    const State &now = w.stepper->getState();
    w.system.realize(now, Stage::Velocity);
    const MobilizedBody &mobile = w.matter.getMobilizedBody(w.bodies[body]);
    const Transform &at = mobile.getBodyTransform(now);
    Quaternion q = at.R().convertRotationToQuaternion();
    out->pose = st_Pose{vector(at.p()), {q[0], q[1], q[2], q[3]}};
    out->velocity = vector(mobile.getBodyOriginVelocity(now));
    out->spin = vector(Vec3(~at.R() * mobile.getBodyAngularVelocity(now)));
}

int contacts(void *)
{
    return 0;
}

void destroy(void *opaque)
{
    delete static_cast<World *>(opaque);
}

} // namespace

extern "C" const Engine engine = {"simbody", version, create, step, state, contacts, destroy, nullptr};
