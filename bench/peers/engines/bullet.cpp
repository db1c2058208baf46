// bench/peers/engines/bullet.cpp -- Bullet, built for double precision.
//
// Settings: iterations of the sequential impulses, erp, margin of hulls; joints=constraints (between free bodies) or
// multibody (Featherstone's coordinates, springs as explicit torques). Mixed frictions and restitutions are products in
// Bullet: each side has the root. Sleeping and damping are off.
#include "../engine.h"

#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace
{

const Choice choices[] = {{"chain", "joints=multibody"},
                          {"whip", "joints=multibody"},
                          {"quadruped", "joints=multibody"},
                          {"spheres", ""},
                          {"hulls", ""},
                          {"bowling", ""},
                          {"bounce", ""},
                          {"", "ground=box"}};

btVector3 vector(st_Vec3 a)
{
    return btVector3(a.x, a.y, a.z);
}
st_Vec3 vector(const btVector3 &a)
{
    return st_Vec3{a.x(), a.y(), a.z()};
}
btTransform transform(const st_Pose &pose)
{
    return btTransform(btQuaternion(pose.q.x, pose.q.y, pose.q.z, pose.q.w), vector(pose.p));
}

// Where a body of the scene is: a rigid body, or a link of a multibody (-1: its base).
struct Place {
    btRigidBody *body = nullptr;
    btMultiBody *multi = nullptr;
    int link = -1;
};

struct World {
    const Scene *scene = nullptr;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    std::unique_ptr<btSequentialImpulseConstraintSolver> solver;
    std::unique_ptr<btDiscreteDynamicsWorld> world;
    btMultiBodyDynamicsWorld *multi_world = nullptr; // the same, where there are multibodies
    std::vector<Place> places;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> constraints;
    std::vector<std::unique_ptr<btMultiBody>> multis;
    std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders;
    double margin = 0;
};

// ---- shapes ------------------------------------------------------------------------------------

template <class Shape> Shape *keep(World &w, Shape *shape)
{
    w.shapes.emplace_back(shape);
    return shape;
}

btCollisionShape *make_shape(World &w, const Shape &shape)
{
    btCollisionShape *made = nullptr;
    if (shape.type == SHAPE_SPHERE) made = keep(w, new btSphereShape(shape.radius));
    if (shape.type == SHAPE_BOX) made = keep(w, new btBoxShape(vector(shape.half)));
    if (shape.type == SHAPE_HULL) {
        const Hull &hull = w.scene->hulls[shape.hull];
        auto *convex = keep(w, new btConvexHullShape());
        for (int k = 0; k < hull.n_points; k++)
            convex->addPoint(vector(hull.points[k]), k == hull.n_points - 1);
        made = convex;
    }
    if (shape.type == SHAPE_HULL) made->setMargin(w.margin); // it comes on top; boxes have theirs inside
    const st_Vec3 &o = shape.offset;
    if (made == nullptr) return keep(w, new btEmptyShape());
    if (o.x == 0 && o.y == 0 && o.z == 0) return made;
    auto *moved = keep(w, new btCompoundShape());
    moved->addChildShape(btTransform(btQuaternion::getIdentity(), vector(o)), made);
    return moved;
}

void set_surface(const World &w, btCollisionObject &object)
{
    object.setFriction(std::sqrt(w.scene->mu));
    object.setRestitution(std::sqrt(w.scene->e));
    object.setActivationState(DISABLE_DEACTIVATION);
}

// ---- free bodies and constraints ---------------------------------------------------------------

btRigidBody *add_rigid(World &w, btScalar mass, const btVector3 &inertia, btCollisionShape *shape,
                       const btTransform &at)
{
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = at;
    w.bodies.emplace_back(new btRigidBody(info));
    btRigidBody *body = w.bodies.back().get();
    set_surface(w, *body);
    body->setFlags(body->getFlags() | BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_BODY);
    if (shape->getShapeType() == EMPTY_SHAPE_PROXYTYPE)
        w.world->addRigidBody(body, 0, 0);
    else
        w.world->addRigidBody(body);
    return body;
}

// A box on a plane gets one point of contact a step; between two boxes all come at once, so that a floor for boxes is
// the face of a large box, as in Bullet's own examples.
void add_planes(World &w, bool as_boxes)
{
    const btScalar half = 50;
    for (int k = 0; k < w.scene->n_planes; k++) {
        btVector3 normal = vector(w.scene->planes[k].normal);
        btScalar distance = w.scene->planes[k].distance;
        btTransform at(shortestArcQuat(btVector3(0, 0, 1), normal), (distance - half) * normal);
        if (as_boxes)
            add_rigid(w, 0, btVector3(0, 0, 0), keep(w, new btBoxShape(btVector3(half, half, half))), at);
        else
            add_rigid(w, 0, btVector3(0, 0, 0), keep(w, new btStaticPlaneShape(normal, distance)),
                      btTransform::getIdentity());
    }
}

void add_body(World &w, int k)
{
    const Body &def = w.scene->bodies[k];
    btTransform at = transform(def.pose);
    btRigidBody *body = add_rigid(w, def.mass, vector(def.inertia), make_shape(w, def.shape), at);
    body->setLinearVelocity(vector(def.velocity));
    body->setAngularVelocity(at.getBasis() * vector(def.spin));
    w.places[k].body = body;
}

// The joint's frame in a body: its x axis is the joint's.
btTransform frame_in(const btTransform &body, const Joint &joint)
{
    btVector3 x = vector(joint.axis), y, z;
    if (joint.type == JOINT_BALL) x = btVector3(1, 0, 0);
    btPlaneSpace1(x, y, z);
    btMatrix3x3 basis(x.x(), y.x(), z.x(), x.y(), y.y(), z.y(), x.z(), y.z(), z.z());
    return body.inverse() * btTransform(basis, vector(joint.point));
}

void add_constraint(World &w, const Joint &joint)
{
    btRigidBody &a = joint.a >= 0 ? *w.places[joint.a].body : btTypedConstraint::getFixedBody();
    btRigidBody &b = *w.places[joint.b].body;
    btTransform in_a = frame_in(a.getWorldTransform(), joint), in_b = frame_in(b.getWorldTransform(), joint);
    btTypedConstraint *made;
    if (joint.type == JOINT_BALL) {
        made = new btPoint2PointConstraint(a, b, in_a.getOrigin(), in_b.getOrigin());
    } else if (joint.type == JOINT_REVOLUTE && joint.stiffness == 0) {
        btVector3 axis_a = in_a.getBasis().getColumn(0), axis_b = in_b.getBasis().getColumn(0);
        made = new btHingeConstraint(a, b, in_a.getOrigin(), in_b.getOrigin(), axis_a, axis_b);
    } else {
        auto *spring = new btGeneric6DofSpring2Constraint(a, b, in_a, in_b);
        int along = joint.type == JOINT_PRISMATIC ? 0 : 3;
        for (int k = 0; k < 6; k++)
            spring->setLimit(k, k == along ? 1 : 0, k == along ? -1 : 0); // low > high: free
        spring->enableSpring(along, joint.stiffness > 0);
        spring->setStiffness(along, joint.stiffness);
        spring->setDamping(along, joint.damping);
        spring->setEquilibriumPoint(along, 0);
        made = spring;
    }
    w.constraints.emplace_back(made);
    w.world->addConstraint(made, true);
}

// ---- multibodies -------------------------------------------------------------------------------

int root_of(const World &w, int body) // -1: the ground
{
    for (int k = 0; k < w.scene->n_joints; k++)
        if (w.scene->joints[k].b == body) return w.scene->joints[k].a < 0 ? -1 : root_of(w, w.scene->joints[k].a);
    return body;
}

void add_collider(World &w, btMultiBody *multi, int link, int body)
{
    const Body &def = w.scene->bodies[body];
    if (def.shape.type == SHAPE_NONE) return;
    w.colliders.emplace_back(new btMultiBodyLinkCollider(multi, link));
    btMultiBodyLinkCollider *collider = w.colliders.back().get();
    collider->setCollisionShape(make_shape(w, def.shape));
    collider->setWorldTransform(transform(def.pose));
    set_surface(w, *collider);
    w.world->addCollisionObject(collider, btBroadphaseProxy::DefaultFilter, btBroadphaseProxy::AllFilter);
    if (link < 0)
        multi->setBaseCollider(collider);
    else
        multi->getLink(link).m_collider = collider;
}

void add_link(World &w, btMultiBody *multi, int link, const Joint &joint)
{
    const Body &def = w.scene->bodies[joint.b];
    btTransform parent = joint.a >= 0 ? transform(w.scene->bodies[joint.a].pose) : btTransform::getIdentity();
    btTransform self = transform(def.pose);
    int above = joint.a >= 0 ? w.places[joint.a].link : -1;
    btQuaternion turn = self.getRotation().inverse() * parent.getRotation();
    btVector3 axis = self.getBasis().transpose() * vector(joint.axis);
    btVector3 to_pivot = parent.inverse() * vector(joint.point), to_centre = -(self.inverse() * vector(joint.point));
    if (joint.type == JOINT_REVOLUTE)
        multi->setupRevolute(link, def.mass, vector(def.inertia), above, turn, axis, to_pivot, to_centre, true);
    else if (joint.type == JOINT_PRISMATIC)
        multi->setupPrismatic(link, def.mass, vector(def.inertia), above, turn, axis, to_pivot, to_centre, true);
    else
        multi->setupSpherical(link, def.mass, vector(def.inertia), above, turn, to_pivot, to_centre, true);
    w.places[joint.b] = Place{nullptr, multi, link};
}

// One multibody a root; all its bodies start with the velocity of the base.
void add_multibody(World &w, int root)
{
    const Scene &scene = *w.scene;
    std::vector<const Joint *> joints;
    for (int k = 0; k < scene.n_joints; k++)
        if (root_of(w, scene.joints[k].b) == root) joints.push_back(&scene.joints[k]);
    if (joints.empty()) return;
    btScalar mass = root < 0 ? 0 : scene.bodies[root].mass;
    btVector3 inertia = root < 0 ? btVector3(0, 0, 0) : vector(scene.bodies[root].inertia);
    auto *multi = new btMultiBody((int)joints.size(), mass, inertia, root < 0, false);
    w.multis.emplace_back(multi);
    btTransform base = root < 0 ? btTransform::getIdentity() : transform(scene.bodies[root].pose);
    multi->setBasePos(base.getOrigin());
    multi->setWorldToBaseRot(base.getRotation().inverse());
    if (root >= 0) w.places[root] = Place{nullptr, multi, -1};
    for (size_t k = 0; k < joints.size(); k++)
        add_link(w, multi, (int)k, *joints[k]);
    multi->finalizeMultiDof();
    multi->setLinearDamping(0);
    multi->setAngularDamping(0);
    multi->setMaxCoordinateVelocity(1e6);
    multi->setUseGyroTerm(true);
    if (root >= 0) multi->setBaseVel(vector(scene.bodies[root].velocity));
    w.multi_world->addMultiBody(multi);
    if (root >= 0) add_collider(w, multi, -1, root);
    for (size_t k = 0; k < joints.size(); k++)
        add_collider(w, multi, (int)k, joints[k]->b);
}

void push_springs(World &w)
{
    for (int k = 0; k < w.scene->n_joints; k++) {
        const Joint &joint = w.scene->joints[k];
        const Place &place = w.places[joint.b];
        if (place.multi == nullptr || joint.stiffness == 0) continue;
        double q = place.multi->getJointPos(place.link), v = place.multi->getJointVel(place.link);
        place.multi->addJointTorque(place.link, -joint.stiffness * q - joint.damping * v);
    }
}

// ---- the interface -----------------------------------------------------------------------------

const char *version()
{
    return PEER_VERSION " double";
}

void make_world(World &w, bool multibodies)
{
    if (multibodies) {
        auto *solver = new btMultiBodyConstraintSolver;
        w.solver.reset(solver);
        w.multi_world = new btMultiBodyDynamicsWorld(&w.dispatcher, &w.broadphase, solver, &w.configuration);
        w.world.reset(w.multi_world);
    } else {
        w.solver.reset(new btSequentialImpulseConstraintSolver);
        w.world.reset(new btDiscreteDynamicsWorld(&w.dispatcher, &w.broadphase, w.solver.get(), &w.configuration));
    }
}

void *create(const Scene *scene, Settings *settings, char *)
{
    auto *w = new World;
    char joints[SETTING_SIZE], ground[SETTING_SIZE];
    w->scene = scene;
    setting_choose(settings, scene, choices);
    setting_word(settings, "joints", "constraints", joints);
    make_world(*w, std::strcmp(joints, "multibody") == 0);
    btContactSolverInfo &info = w->world->getSolverInfo();
    info.m_numIterations = (int)setting_number(settings, "iterations", 10);
    info.m_erp = info.m_erp2 = setting_number(settings, "erp", 0.2);
    w->margin = setting_number(settings, "margin", 0.001);
    setting_word(settings, "ground", "plane", ground);
    w->world->setGravity(vector(scene->gravity));
    w->places.resize(scene->n_bodies);
    add_planes(*w, std::strcmp(ground, "box") == 0);
    if (w->multi_world != nullptr)
        for (int root = -1; root < scene->n_bodies; root++)
            add_multibody(*w, root);
    for (int k = 0; k < scene->n_bodies; k++)
        if (w->places[k].multi == nullptr) add_body(*w, k);
    if (w->multi_world == nullptr)
        for (int k = 0; k < scene->n_joints; k++)
            add_constraint(*w, scene->joints[k]);
    return w;
}

bool step(void *opaque, char *)
{
    World &w = *static_cast<World *>(opaque);
    for (int k = 0; k < w.scene->n_bodies; k++)
        if (w.places[k].body != nullptr) w.places[k].body->applyCentralForce(vector(w.scene->bodies[k].force));
    push_springs(w);
    w.world->stepSimulation(w.scene->h, 0); // one step of h
    return true;
}

void link_state(const Place &place, BodyState *out)
{
    const btMultiBody &multi = *place.multi;
    std::vector<btVector3> omega(multi.getNumLinks() + 1), velocity(multi.getNumLinks() + 1);
    multi.compTreeLinkVelocities(omega.data(), velocity.data());
    btQuaternion q;
    multi.localFrameToWorld(place.link, btMatrix3x3::getIdentity()).getRotation(q);
    out->pose = st_Pose{vector(multi.localPosToWorld(place.link, btVector3(0, 0, 0))), {q.w(), q.x(), q.y(), q.z()}};
    out->velocity = vector(multi.localDirToWorld(place.link, velocity[place.link + 1]));
    out->spin = vector(omega[place.link + 1]);
}

void state(void *opaque, int body, BodyState *out)
{
    const Place &place = static_cast<World *>(opaque)->places[body];
    if (place.multi != nullptr) return link_state(place, out);
    const btTransform &at = place.body->getWorldTransform();
    btQuaternion q = at.getRotation();
    out->pose = st_Pose{vector(at.getOrigin()), {q.w(), q.x(), q.y(), q.z()}};
    out->velocity = vector(place.body->getLinearVelocity());
    out->spin = vector(at.getBasis().transpose() * place.body->getAngularVelocity());
}

int contacts(void *opaque)
{
    World &w = *static_cast<World *>(opaque);
    int n = 0;
    for (int k = 0; k < w.dispatcher.getNumManifolds(); k++)
        n += w.dispatcher.getManifoldByIndexInternal(k)->getNumContacts();
    return n;
}

void destroy(void *opaque)
{
    auto *w = static_cast<World *>(opaque);
    if (w == nullptr) return;
    for (auto &constraint : w->constraints)
        w->world->removeConstraint(constraint.get());
    for (auto &multi : w->multis)
        w->multi_world->removeMultiBody(multi.get());
    for (auto &collider : w->colliders)
        w->world->removeCollisionObject(collider.get());
    for (auto &body : w->bodies)
        w->world->removeRigidBody(body.get());
    delete w;
}

} // namespace

extern "C" const Engine engine = {"bullet", version, create, step, state, contacts, destroy, nullptr};
