// bench/grains/bullet.cpp -- Bullet, built for double precision. Sleeping and damping are off.
#include "grains.h"

#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

namespace
{

btTransform transform(const st_Pose &pose)
{
    return btTransform(btQuaternion(pose.q.x, pose.q.y, pose.q.z, pose.q.w), btVector3(pose.p.x, pose.p.y, pose.p.z));
}

struct World {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    ~World()
    {
        for (auto &body : bodies)
            world.removeRigidBody(body.get());
    }
};

btRigidBody *add_body(World &w, const Case *c, double mass, const btVector3 &inertia, btCollisionShape *shape,
                      const btTransform &at)
{
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = at;
    w.bodies.emplace_back(new btRigidBody(info));
    btRigidBody *body = w.bodies.back().get();
    body->setFriction(std::sqrt(c->mu)); // of a pair: the product
    body->setRestitution(0);
    body->setActivationState(DISABLE_DEACTIVATION);
    body->setDamping(0, 0);
    return body;
}

template <class Shape> Shape *keep(World &w, Shape *shape)
{
    w.shapes.emplace_back(shape);
    return shape;
}

bool run(const Case *c, Judge *judge, char version[40], char settings[160], char message[200])
{
    World w;
    std::vector<btRigidBody *> grains;
    std::vector<double> xyz(3 * static_cast<size_t>(c->n_spheres));
    double cpu = 0;
    btCompoundShape *drum = nullptr;
    btRigidBody *drum_body = nullptr;
    (void)message;
    w.world.setGravity(btVector3(0, 0, -c->g));
    std::snprintf(version, 40, "%s", PEER_VERSION);
    std::snprintf(settings, 160, "h %g s, 10 iterations", c->h);
    for (int k = 0; k < c->n_slabs; k++) {
        const Slab &slab = c->slabs[k];
        auto *box = keep(w, new btBoxShape(btVector3(slab.half.x, slab.half.y, slab.half.z)));
        box->setMargin(0.1 * c->d); // inside of a box
        if (slab.turns) {
            if (drum == nullptr) drum = keep(w, new btCompoundShape());
            drum->addChildShape(transform(slab.pose), box);
        } else {
            w.world.addRigidBody(add_body(w, c, 0, btVector3(0, 0, 0), box, transform(slab.pose)));
        }
    }
    if (drum != nullptr) {
        drum_body = add_body(w, c, 0, btVector3(0, 0, 0), drum, btTransform::getIdentity());
        drum_body->setCollisionFlags(drum_body->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
        w.world.addRigidBody(drum_body);
    }
    for (int k = 0; k < c->n_grains; k++) {
        const Grain &grain = c->grains[k];
        btCollisionShape *shape = nullptr;
        if (grain.n == 1) {
            shape = keep(w, new btSphereShape(c->spheres[grain.first].r));
        } else {
            auto *clump = keep(w, new btCompoundShape());
            for (int s = grain.first; s < grain.first + grain.n; s++)
                clump->addChildShape(transform(st_Pose{c->spheres[s].at, {1, 0, 0, 0}}),
                                     keep(w, new btSphereShape(c->spheres[s].r)));
            shape = clump;
        }
        grains.push_back(add_body(w, c, grain.mass, btVector3(grain.inertia.x, grain.inertia.y, grain.inertia.z), shape,
                                  transform(grain.pose)));
        w.world.addRigidBody(grains.back());
    }
    const int per_frame = static_cast<int>(FRAME / c->h + 0.5), steps = static_cast<int>(c->end / c->h + 0.5);
    for (int k = 1; k <= steps; k++) {
        const std::clock_t start = std::clock();
        if (drum_body != nullptr) { // Bullet finds its velocity by the difference to the interpolation transform
            const btTransform at(btQuaternion(btVector3(0, 1, 0), c->turn * c->h * k), btVector3(0, 0, 0));
            drum_body->setInterpolationWorldTransform(drum_body->getWorldTransform());
            drum_body->setWorldTransform(at);
            drum_body->setAngularVelocity(btVector3(0, c->turn, 0));
        }
        w.world.stepSimulation(c->h, 0);
        cpu += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        if (k % per_frame != 0) continue;
        for (int g = 0; g < c->n_grains; g++)
            for (int s = c->grains[g].first; s < c->grains[g].first + c->grains[g].n; s++) {
                const st_Vec3 &at = c->spheres[s].at;
                const btVector3 p = grains[static_cast<size_t>(g)]->getWorldTransform() * btVector3(at.x, at.y, at.z);
                for (int e = 0; e < 3; e++)
                    xyz[3 * static_cast<size_t>(s) + static_cast<size_t>(e)] = p[e];
            }
        judge_frame(judge, xyz.data(), cpu);
    }
    return true;
}

} // namespace

extern "C" const GrainEngine grain_engine = {"bullet", run};
