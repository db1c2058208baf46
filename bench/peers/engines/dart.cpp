// bench/peers/engines/dart.cpp -- DART: generalised coordinates, contacts by Dantzig's method for boxed LCPs.
//
// With its own collision detector, which knows spheres and boxes: planes are the faces of large boxes, and scenes of
// hulls are refused. Mechanisms are skeletons, free bodies have one each. Of two frictions DART takes the smaller, of
// two restitutions the product: each side has the root. It has neither sleep nor damping of its own.
// It sees contacts of overlapping shapes only. Stacks begin with gaps of a rounding, and fell for as many steps as they
// have courses before each box had found the one below; so spheres and boxes are larger by a skin, which they are not
// by any measure of ours. Settings: solver=dantzig (its default) or pgs, with iterations; skin.
#include "../engine.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <dart/collision/dart/dart.hpp>
#include <dart/constraint/constraint.hpp>
#include <dart/dynamics/dynamics.hpp>
#include <dart/simulation/simulation.hpp>
#include <memory>
#include <vector>

namespace
{

using namespace dart::dynamics;
using dart::constraint::BoxedLcpConstraintSolver;
using dart::constraint::DantzigBoxedLcpSolver;
using dart::constraint::PgsBoxedLcpSolver;

struct Peer {
    const Scene *scene = nullptr;
    double skin = 0; // by which shapes are larger
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    std::vector<BodyNode *> bodies;
};

Eigen::Vector3d vector(st_Vec3 a)
{
    return Eigen::Vector3d(a.x, a.y, a.z);
}
st_Vec3 vector(const Eigen::Vector3d &a)
{
    return st_Vec3{a[0], a[1], a[2]};
}
Eigen::Isometry3d transform(const st_Pose &pose)
{
    Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
    at.linear() = Eigen::Quaterniond(pose.q.w, pose.q.x, pose.q.y, pose.q.z).toRotationMatrix();
    at.translation() = vector(pose.p);
    return at;
}

// ---- bodies --------------------------------------------------------------------------------------

void add_shape(const Scene &scene, BodyNode *body, const ShapePtr &shape, const Eigen::Vector3d &offset)
{
    ShapeNode *node = body->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
    node->setRelativeTranslation(offset);
    node->getDynamicsAspect()->setFrictionCoeff(scene.mu);
    node->getDynamicsAspect()->setRestitutionCoeff(std::sqrt(scene.e));
}

void add_planes(Peer &peer)
{
    const double half = 50;
    for (int k = 0; k < peer.scene->n_planes; k++) {
        Eigen::Vector3d normal = vector(peer.scene->planes[k].normal);
        SkeletonPtr ground = Skeleton::create("plane" + std::to_string(k));
        BodyNode *body = ground->createJointAndBodyNodePair<WeldJoint>().second;
        Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
        at.linear() = Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), normal).toRotationMatrix();
        at.translation() = (peer.scene->planes[k].distance - half) * normal;
        body->getParentJoint()->setTransformFromParentBodyNode(at);
        add_shape(*peer.scene, body, std::make_shared<BoxShape>(Eigen::Vector3d::Constant(2 * half)),
                  Eigen::Vector3d::Zero());
        ground->setMobile(false);
        peer.world->addSkeleton(ground);
    }
}

// Mass and shape of body k.
void fill(Peer &peer, int k, BodyNode *body)
{
    const ::Body &def = peer.scene->bodies[k];
    body->setInertia(Inertia(def.mass, Eigen::Vector3d::Zero(), vector(def.inertia).asDiagonal()));
    const Eigen::Vector3d offset = vector(def.shape.offset);
    if (def.shape.type == SHAPE_SPHERE)
        add_shape(*peer.scene, body, std::make_shared<SphereShape>(def.shape.radius + peer.skin), offset);
    if (def.shape.type == SHAPE_BOX)
        add_shape(*peer.scene, body,
                  std::make_shared<BoxShape>(2 * (vector(def.shape.half).array() + peer.skin).matrix()), offset);
    peer.bodies[k] = body;
}

// Named by the body: DART prints every name that it has to change.
template <class Type> std::pair<Type *, BodyNode *> add_node(const SkeletonPtr &skeleton, BodyNode *parent, int k)
{
    typename Type::Properties properties;
    properties.mName = "joint" + std::to_string(k);
    return skeleton->createJointAndBodyNodePair<Type>(parent, properties,
                                                      BodyNode::AspectProperties("body" + std::to_string(k)));
}

SkeletonPtr new_skeleton(int k)
{
    SkeletonPtr skeleton = Skeleton::create("body" + std::to_string(k));
    skeleton->enableSelfCollisionCheck();
    skeleton->disableAdjacentBodyCheck(); // those that a joint connects
    return skeleton;
}

void add_free(Peer &peer, int k)
{
    const ::Body &def = peer.scene->bodies[k];
    SkeletonPtr skeleton = new_skeleton(k);
    auto pair = add_node<FreeJoint>(skeleton, nullptr, k);
    fill(peer, k, pair.second);
    Eigen::Isometry3d at = transform(def.pose);
    pair.first->setTransform(at);
    pair.first->setLinearVelocity(vector(def.velocity));
    pair.first->setAngularVelocity(at.linear() * vector(def.spin));
    peer.world->addSkeleton(skeleton);
}

// A child of body a, or of the ground; parents come before their children.
void add_jointed(Peer &peer, const ::Joint &def)
{
    BodyNode *parent = def.a >= 0 ? peer.bodies[def.a] : nullptr;
    SkeletonPtr skeleton = parent != nullptr ? parent->getSkeleton() : new_skeleton(def.b);
    dart::dynamics::Joint *joint;
    BodyNode *body;
    if (def.type == JOINT_BALL) {
        std::tie(joint, body) = add_node<BallJoint>(skeleton, parent, def.b);
    } else if (def.type == JOINT_REVOLUTE) {
        auto pair = add_node<RevoluteJoint>(skeleton, parent, def.b);
        pair.first->setAxis(vector(def.axis));
        std::tie(joint, body) = pair;
    } else {
        auto pair = add_node<PrismaticJoint>(skeleton, parent, def.b);
        pair.first->setAxis(vector(def.axis));
        std::tie(joint, body) = pair;
    }
    Eigen::Isometry3d frame = Eigen::Isometry3d::Identity(); // along the world's axes, at the joint's point
    frame.translation() = vector(def.point);
    Eigen::Isometry3d above = def.a >= 0 ? transform(peer.scene->bodies[def.a].pose) : Eigen::Isometry3d::Identity();
    joint->setTransformFromParentBodyNode(above.inverse() * frame);
    joint->setTransformFromChildBodyNode(transform(peer.scene->bodies[def.b].pose).inverse() * frame);
    for (std::size_t k = 0; k < joint->getNumDofs() && def.type != JOINT_BALL; k++) {
        joint->setSpringStiffness(k, def.stiffness);
        joint->setDampingCoefficient(k, def.damping);
    }
    fill(peer, def.b, body);
    if (parent == nullptr) peer.world->addSkeleton(skeleton);
}

// ---- the interface -------------------------------------------------------------------------------

const char *version()
{
    return PEER_VERSION;
}

void choose_solver(Peer &peer, Settings *settings)
{
    char name[SETTING_SIZE];
    setting_word(settings, "solver", "dantzig", name);
    auto *solver = dynamic_cast<BoxedLcpConstraintSolver *>(peer.world->getConstraintSolver());
    if (std::strcmp(name, "pgs") == 0) {
        auto pgs = std::make_shared<PgsBoxedLcpSolver>();
        PgsBoxedLcpSolver::Option option = pgs->getOption();
        option.mMaxIteration = (int)setting_number(settings, "iterations", 50);
        pgs->setOption(option);
        solver->setBoxedLcpSolver(pgs);
        solver->setSecondaryBoxedLcpSolver(nullptr);
    }
    solver->setCollisionDetector(dart::collision::DARTCollisionDetector::create());
    solver->getCollisionOption().maxNumContacts = 1000000; // else those beyond a thousand are dropped
}

void *create(const Scene *scene, Settings *settings, char message[200])
{
    if (scene->n_hulls > 0) {
        std::snprintf(message, 200, "its own collision detector knows spheres and boxes only");
        return nullptr;
    }
    static const Choice choices[] = {{"", ""}};
    setting_choose(settings, scene, choices);
    std::unique_ptr<Peer> peer(new Peer);
    peer->scene = scene;
    peer->bodies.resize(scene->n_bodies);
    peer->skin = setting_number(settings, "skin", 1e-9);
    choose_solver(*peer, settings);
    peer->world->setGravity(vector(scene->gravity));
    peer->world->setTimeStep(scene->h);
    add_planes(*peer);
    std::vector<bool> is_child(scene->n_bodies);
    for (int k = 0; k < scene->n_joints; k++)
        is_child[scene->joints[k].b] = true;
    for (int k = 0; k < scene->n_bodies; k++)
        if (!is_child[k]) add_free(*peer, k);
    for (int k = 0; k < scene->n_joints; k++)
        add_jointed(*peer, scene->joints[k]);
    return peer.release();
}

// DART aborts on NaN, which a body that turns at a million radians per second becomes soon.
bool blown_up(const Peer &peer)
{
    for (std::size_t k = 0; k < peer.world->getNumSkeletons(); k++) {
        const Eigen::VectorXd speed = peer.world->getSkeleton(k)->getVelocities();
        if (speed.size() > 0 && !(speed.cwiseAbs().maxCoeff() < 1e6)) return true;
    }
    return false;
}

bool step(void *opaque, char message[200])
{
    Peer &peer = *static_cast<Peer *>(opaque);
    for (int k = 0; k < peer.scene->n_bodies; k++) {
        const st_Vec3 &f = peer.scene->bodies[k].force;
        if (f.x != 0 || f.y != 0 || f.z != 0)
            peer.bodies[k]->addExtForce(vector(f), Eigen::Vector3d::Zero(), false, true);
    }
    peer.world->step();
    if (!blown_up(peer)) return true;
    std::snprintf(message, 200, "blew up at %.3g s", peer.world->getTime());
    return false;
}

void state(void *opaque, int body, BodyState *out)
{
    const BodyNode *node = static_cast<Peer *>(opaque)->bodies[body];
    const Eigen::Isometry3d &at = node->getTransform();
    Eigen::Quaterniond q(at.linear());
    out->pose = st_Pose{vector(Eigen::Vector3d(at.translation())), {q.w(), q.x(), q.y(), q.z()}};
    out->velocity = vector(node->getCOMLinearVelocity());
    out->spin = vector(Eigen::Vector3d(at.linear().transpose() * node->getAngularVelocity()));
}

int contacts(void *opaque)
{
    return (int)static_cast<Peer *>(opaque)->world->getLastCollisionResult().getNumContacts();
}

void destroy(void *opaque)
{
    delete static_cast<Peer *>(opaque);
}

} // namespace

extern "C" const Engine engine = {"dart", version, create, step, state, contacts, destroy, nullptr};
