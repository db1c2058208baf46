/* step/on_device.c -- the step of a pile on flat arrays (src/device): settings `device` flat and cuda.
 *
 * The bodies of the world, their shapes and the fixed shapes become the flat arrays of a pile. If a pile does not
 * support a part of the scene, st_system_create names it. State, contacts and impulses stay on the device until a
 * public function reads them (sti_device_fetch).
 *
 * A body is driven if a revolute or prismatic joint connects it to a fixed body or the ground, and the motor of this
 * joint prescribes its motion or speed. It follows the motor for any contact forces. On the device it has no mass, and
 * its velocity is set before each step. The force of its joint follows from the balance of its momentum.
 *
 * Bodies with other joints, springs or forces are mechanisms: a separate system moves them (mechanisms.c). On the
 * device they have no mass and no shapes.
 */
#include "step/on_device.h"
#include "collide/narrow/support.h"
#include "device/flat_pile.h"
#include "step/flow.h"
#include "step/impulses.h"
#include "step/integrate/integrate.h"
#include "step/mechanisms.h"

struct sti_OnDevice {
    const sti_FlatDevice *device;
    sti_FlatPile *pile;
    int n_bodies; /* of the world without the ground                                                 */
    int n_spheres, n_walls;
    int64_t shape_room, wall_room;
    int *sphere_shape, *wall_shape; /* the world's shapes; of walls, and then of the triangles of meshes  */
    double *v;                      /* 6 per body, fixed ones too; used if the state has another order      */
    int n_contacts;
    unsigned char *hit; /* by body: an impact of the last step reaches it                           */
    double energy;      /* of the state on the device [J]                                                */
    bool away;          /* the host has an older state, except of time and driven bodies                              */
    double *q_before, *v_before; /* as the last step began, fetched with the contacts; 7 and 6 per body */
    bool fetched;                /* `contact` and those two are of the last step                            */
    sti_FlatContact *contact;
    int64_t contact_capacity;
    double h;
    sti_FlatImpulse *impulse; /* for saved states: of the last step, if `kept`                              */
    int64_t impulse_capacity;
    bool kept;
    sti_FlatImpulse *start; /* a restored state begins with these                                           */
    int64_t start_capacity;
    int n_start;
    double h_start;
    unsigned char *part;        /* sti_PilePart, by body of the world                                     */
    sti_Mechanisms *mechanisms; /* NULL: there are none                                                   */
    int n_driven;      /* joints that drive a body, and arrays of as many                                        */
    int *driven_joint; /* in the world                                                                           */
    int *driven_body;  /* on the device: that of the world less 1                                                */
    double *driven_v;  /* 6: velocity in the step, angular in the axes of the body                               */
    double *driven_v_before; /* 6: as the step began                                                             */
    double *driven_x;        /* 1: where the coordinate of the joint is after the step                           */
    void *driven_block;
    bool starts; /* the last step was the first: what drives bodies may jump                                      */
};

/* ---- parts that a pile does not support ------------------------------------------------------------------------ */

static st_Status refuse_on_device(const st_SystemDef *def, st_Error *err, const char *what, const char *name)
{
    const char *quote = name[0] != '\0' && strchr(name, '"') == NULL ? "\"" : "";
    return sti_fail(
        err, ST_ERR_UNSUPPORTED,
        "device \"%s\": %s%s%s%s%s is not supported there. It computes free bodies made of spheres, capsules, boxes "
        "and hulls, fixed bodies made of these, planes, meshes and height fields, and mechanisms beside them; use "
        "device \"none\"",
        def->device == ST_DEVICE_CUDA ? "cuda" : "flat", what, name[0] != '\0' ? " " : "", quote, name, quote);
}

/* The body that joint k drives; 0: it is no joint that only drives one body. */
static int driven_body(const sti_World *world, int k)
{
    const sti_Joint *joint = &world->joint[k];
    const sti_JointValues *values = &world->values.joint[k];
    const int body = world->body[joint->a].n_dofs == 0 ? joint->b : joint->a, base = joint->a + joint->b - body;
    const bool bare = values->friction == 0 && values->stiffness == 0 && values->damping == 0 && joint->rotor == 0 &&
                      values->lower[0] == -INFINITY && values->upper[0] == INFINITY;
    int acting = 0; /* on the body: joints, springs and forces */
    for (int j = 0; j < world->n_joints; j++)
        acting += world->joint[j].a == body || world->joint[j].b == body;
    for (int j = 0; j < world->n_joints; j++) { /* gears and tendons */
        const st_JointDef *other = &world->scene->joint[j];
        acting +=
            world->joint[j].type == ST_JOINT_GEAR && (world->joint[j].geared[0] == k || world->joint[j].geared[1] == k);
        for (int p = 0; p < other->n_path; p++)
            acting += other->path[p].kind == ST_TENDON_JOINT ? other->path[p].joint.index1 == k + 1
                                                             : other->path[p].body.index1 == body;
    }
    for (int j = 0; j < world->n_springs; j++)
        acting += world->spring[j].a == body || world->spring[j].b == body;
    for (int j = 0; j < world->scene->n_forces; j++)
        acting += world->scene->force[j].body.index1 == body;
    return joint->held && bare && acting == 1 && world->body[base].n_dofs == 0 && world->body[body].n_dofs == 6 &&
                   (joint->type == ST_JOINT_REVOLUTE || joint->type == ST_JOINT_PRISMATIC)
               ? body
               : 0;
}

static bool is_mesh(const st_ShapeDef *shape)
{
    return shape->type == ST_SHAPE_MESH || shape->type == ST_SHAPE_HEIGHT_FIELD;
}

static st_Status check_world(const st_SystemDef *def, const sti_World *world, const sti_OnDevice *d, st_Error *err)
{
    const st_Scene *scene = world->scene;
    if (scene->cell.repeats) return refuse_on_device(def, err, "a periodic cell", "");
    for (int k = 0; k < scene->n_excluded; k++)
        if (d->part[scene->excluded[k].a] == STI_PART_GRAIN || d->part[scene->excluded[k].b] == STI_PART_GRAIN)
            return refuse_on_device(def, err, "a pair of bodies that do not touch, one of which is a grain", "");
    if (scene->n_inlets + scene->n_outlets > 0) {
        const bool in = scene->n_inlets > 0;
        const char *name = in ? scene->inlet[0].name : scene->outlet[0].name;
        if (def->ranks != NULL && def->ranks->size > 1)
            return refuse_on_device(def, err, in ? "on several ranks, inlet" : "on several ranks, outlet", name);
        for (int b = 1; b < world->n_bodies; b++)
            if (d->part[b] == STI_PART_MECHANISM)
                return refuse_on_device(def, err, in ? "beside mechanisms, inlet" : "beside mechanisms, outlet", name);
    }
    if (world->adheres) return refuse_on_device(def, err, "adhesion", "");
    if (world->stribeck) return refuse_on_device(def, err, "friction that depends on speed", "");
    if (world->slender) return refuse_on_device(def, err, "friction by direction", "");
    for (int b = 1; b < world->n_bodies; b++) {
        if (d->part[b] != STI_PART_GRAIN) continue;
        if (world->body[b].n_dofs != 6)
            return refuse_on_device(def, err, "a locked direction of body", scene->names[STI_BODY].name[b]);
        if (world->body[b].gravity != 1)
            return refuse_on_device(def, err, "a gravity of its own of body", scene->names[STI_BODY].name[b]);
    }
    if (world->values.surfaces.kind == NULL && scene->n_material_pairs > 0)
        return refuse_on_device(def, err, "a pair of materials among many surfaces", "");
    for (int k = 0; k < scene->n_shapes; k++) {
        const st_ShapeDef *shape = sti_shape_def(scene, k);
        const sti_PilePart part = d->part[scene->shape_body[k]];
        const bool fixed = part == STI_PART_WALL;
        const sti_Label label = sti_shape_label(scene, k);
        const sti_Hull *hull = sti_shape_of(&world->collider, k)->hull;
        if (part == STI_PART_MECHANISM) {
            if (shape->type == ST_SHAPE_PLANE)
                return refuse_on_device(def, err, "a plane that a joint, a spring or a force moves, shape", label.text);
            if (shape->groups >= 1u << 30)
                return refuse_on_device(def, err, "a collision group 30 or 31 of shape", label.text);
            continue;
        }
        if (shape->type != ST_SHAPE_SPHERE && shape->type != ST_SHAPE_CAPSULE && shape->type != ST_SHAPE_BOX &&
            shape->type != ST_SHAPE_HULL && !(fixed && (shape->type == ST_SHAPE_PLANE || is_mesh(shape))))
            return refuse_on_device(def, err, "the type of shape", label.text);
        if (hull != NULL && hull->facets.n_vertices > STI_FLAT_VERTICES)
            return refuse_on_device(def, err, "a hull of more than 256 corners, shape", label.text);
        for (int face = 0; hull != NULL && face < hull->facets.n_faces; face++)
            if (hull->facets.face_first[face + 1] - hull->facets.face_first[face] > STI_FLAT_CORNERS)
                return refuse_on_device(def, err, "a face of more than 32 corners, shape", label.text);
        const st_Vec3 v = shape->surface_velocity, w = shape->surface_spin;
        if ((!fixed || (shape->type == ST_SHAPE_SPHERE && scene->shape_body[k] > 0)) && (norm(v) > 0 || norm(w) > 0))
            return refuse_on_device(def, err, "the moving surface of shape", label.text);
        if (shape->groups != 1 || shape->mask != UINT32_MAX)
            return refuse_on_device(def, err, "a collision group of shape", label.text);
    }
    return ST_OK;
}

/* ---- the world as flat arrays ---------------------------------------------------------------------- */

/* Freed after the pile has its copies. */
typedef struct Arrays {
    double *inverse_mass, *inertia, *centre, *radius, *own, *turn, *round, *size, *mu, *rolling, *spinning,
        *restitution;
    int *body, *surface, *hull;
    sti_FlatWall *wall;
    int *hull_of; /* by kinds of shapes; -1: none                       */
    sti_FlatHulls hulls;
    int n_hulls, n_vertices, n_faces, n_corners, n_edges;
    sti_FlatMeshes meshes;
    int n_triangles, n_nodes, n_mesh_vertices, n_spokes;
} Arrays;

/* Counts capsules, boxes and hulls, each kind once, and writes them if to->hulls is not NULL. Vertices are relative to
 * the centre of the ball around the shape. Piles of spheres with fixed boxes have none. */
static void list_hulls(const sti_World *world, const sti_OnDevice *d, Arrays *to)
{
    const sti_Collider *c = &world->collider;
    const sti_FlatHulls *hulls = &to->hulls;
    bool needed = false;
    for (int k = 0; k < world->scene->n_shapes; k++) {
        const st_ShapeType type = sti_shape_of(c, k)->type;
        const bool fixed = d->part[world->scene->shape_body[k]] != STI_PART_GRAIN;
        needed = needed || type == ST_SHAPE_CAPSULE || type == ST_SHAPE_HULL || (type == ST_SHAPE_BOX && !fixed);
    }
    to->n_hulls = to->n_vertices = to->n_faces = to->n_corners = to->n_edges = 0;
    for (int kind = 0; needed && kind < c->n_kinds; kind++) {
        const sti_Shape *shape = &c->made[kind];
        if (to->hull_of != NULL) to->hull_of[kind] = -1;
        if (shape->type != ST_SHAPE_CAPSULE && shape->type != ST_SHAPE_BOX && shape->type != ST_SHAPE_HULL) continue;
        const sti_Core core = sti_core(shape, pose_identity());
        const sti_Facets *f = core.facets;
        const int n_vertices = f != NULL ? f->n_vertices : 2, n_faces = f != NULL ? f->n_faces : 0;
        const int n_edges = f != NULL ? f->n_edges : 1, n_corners = f != NULL ? f->face_first[n_faces] : 0;
        if (hulls->hull != NULL) {
            const st_Vec3 half = shape->type == ST_SHAPE_BOX ? shape->half : vec3(1, 1, 1);
            to->hull_of[kind] = to->n_hulls;
            hulls->hull[to->n_hulls] =
                (sti_FlatHull){to->n_vertices, n_vertices, to->n_faces, n_faces, to->n_edges, n_edges};
            for (int v = 0; v < n_vertices; v++) {
                const st_Vec3 x = f != NULL
                                      ? vec3(half.x * f->vertex[v].x, half.y * f->vertex[v].y, half.z * f->vertex[v].z)
                                      : core.corner[v];
                vec3_store(hulls->vertex + (int64_t)3 * (to->n_vertices + v), sub(x, shape->middle));
            }
            for (int face = 0; face < n_faces; face++) {
                double *plane = hulls->plane + (int64_t)4 * (to->n_faces + face);
                int *loop = hulls->loop + (int64_t)2 * (to->n_faces + face);
                const st_Vec3 on =
                    vec3_load(hulls->vertex + (int64_t)3 * (to->n_vertices + f->face_vertex[f->face_first[face]]));
                vec3_store(plane, f->normal[face]);
                plane[3] = dot(f->normal[face], on);
                loop[0] = to->n_corners + f->face_first[face];
                loop[1] = f->face_first[face + 1] - f->face_first[face];
            }
            if (n_corners > 0)
                memcpy(hulls->corner + to->n_corners, f->face_vertex, (size_t)n_corners * sizeof *hulls->corner);
            int *edge = hulls->edge + (int64_t)4 * to->n_edges;
            if (f != NULL)
                memcpy(edge, f->edge, (size_t)n_edges * 4 * sizeof *edge);
            else
                edge[0] = 0, edge[1] = 1, edge[2] = edge[3] = 0;
        }
        to->n_hulls++;
        to->n_vertices += n_vertices, to->n_faces += n_faces, to->n_corners += n_corners, to->n_edges += n_edges;
    }
}

static st_Vec3 unit_vector(st_Vec3 a)
{
    return scale(1 / norm(a), a);
}

/* Counts fixed meshes, each in its own axes, and writes them if to->meshes is not NULL. They have the numbers of their
 * walls, in the order of shapes. In wall_shape their triangles come after the walls. */
static void list_meshes(const sti_World *world, sti_OnDevice *d, Arrays *to)
{
    const st_Scene *scene = world->scene;
    const sti_FlatMeshes *meshes = &to->meshes;
    to->n_triangles = to->n_nodes = to->n_mesh_vertices = to->n_spokes = 0;
    for (int w = 0; d->wall_shape != NULL && w < d->n_walls; w++) {
        const int shape = d->wall_shape[w];
        const sti_Mesh *mesh = sti_shape_of(&world->collider, shape)->mesh;
        if (!is_mesh(sti_shape_def(scene, shape))) continue;
        if (meshes->triangle != NULL) {
            to->wall[w].node = to->n_nodes;
            for (int k = 0; k < mesh->tree.n_nodes; k++) {
                const sti_TreeNode *from = &mesh->tree.node[k];
                sti_FlatNode *node = &meshes->node[to->n_nodes + k];
                vec3_store(node->lo, from->bounds.lo);
                vec3_store(node->hi, from->bounds.hi);
                node->left = from->left >= 0 ? to->n_nodes + from->left : -1;
                node->first = to->n_triangles + from->first;
                node->count = from->count;
            }
            for (int k = 0; k < mesh->n_vertices; k++) {
                const int first = mesh->spoke_first[k], end = mesh->spoke_first[k + 1];
                meshes->spoke_first[to->n_mesh_vertices + k] = to->n_spokes + first;
                meshes->spoke_first[to->n_mesh_vertices + k + 1] = to->n_spokes + end;
                for (int e = first; e < end; e++)
                    vec3_store(meshes->spoke + (int64_t)3 * (to->n_spokes + e),
                               unit_vector(sub(mesh->vertex[mesh->spoke[e]], mesh->vertex[k])));
            }
            for (int t = 0; t < mesh->n_triangles; t++) {
                const sti_Triangle *from = &mesh->triangle[t];
                sti_FlatTriangle *triangle = &meshes->triangle[to->n_triangles + t];
                *triangle = (sti_FlatTriangle){.wall = w};
                d->wall_shape[d->n_walls + to->n_triangles + t] = shape;
                meshes->item[to->n_triangles + t] = to->n_triangles + mesh->tree.item[t];
                vec3_store(triangle->normal, from->normal);
                for (int k = 0; k < 3; k++) {
                    const int v = from->vertex[k], other = from->neighbour[k];
                    const st_Vec3 x = mesh->vertex[v], next = mesh->vertex[from->vertex[(k + 1) % 3]];
                    const sti_Bend bend = from->bend[k];
                    double *outward = meshes->outward + (int64_t)3 * (to->n_mesh_vertices + v);
                    vec3_store(triangle->x[k], x);
                    triangle->corner[k] = to->n_mesh_vertices + v;
                    if (other >= 0) /* the neighbour runs along the edge the other way */
                        vec3_store(triangle->past[k], unit_vector(cross(sub(x, next), mesh->triangle[other].normal)));
                    if (other < 0 || t < other) triangle->owns |= 1u << k;
                    if (bend == STI_EDGE_CONVEX || bend == STI_EDGE_BOUNDARY) triangle->sharp |= 1u << k;
                    if (bend == STI_EDGE_CONCAVE || bend == STI_EDGE_BOUNDARY) triangle->sharp |= 8u << k;
                    /* the first triangle at a vertex reports it; `outward` is still 0 there */
                    if (outward[0] == 0 && outward[1] == 0 && outward[2] == 0) triangle->owns |= 8u << k;
                    /* weighted by its angle there, so that the sum points out of the solid */
                    const st_Vec3 before = mesh->vertex[from->vertex[(k + 2) % 3]], u = sub(next, x),
                                  w2 = sub(before, x);
                    const double angle = atan2(norm(cross(u, w2)), dot(u, w2));
                    vec3_store(outward, add(vec3_load(outward), scale(angle, from->normal)));
                }
            }
        }
        to->n_triangles += mesh->n_triangles, to->n_nodes += mesh->tree.n_nodes;
        to->n_mesh_vertices += mesh->n_vertices, to->n_spokes += (int)mesh->n_spokes;
    }
}

/* Friction, rolling and spinning friction and restitution of a shape against its like. */
static void put_own(const st_Scene *scene, int shape, double *own)
{
    const st_ShapeDef *def = sti_shape_def(scene, shape);
    const st_MaterialPairDef pair = sti_pair_of(scene, def, def);
    own[0] = pair.mu, own[1] = pair.rolling, own[2] = pair.spinning, own[3] = pair.restitution;
}

static int surface_of(const sti_World *world, int shape)
{
    return world->values.surfaces.kind != NULL ? world->values.surfaces.kind[shape] : 0;
}

/* The inverse mass that the device stores: 0 for walls and mechanisms, negative for absent grains. */
static double inverse_mass_of(const sti_World *world, const sti_OnDevice *d, int b)
{
    const double inverse = 1 / world->values.body[b].mass;
    return d->part[b] != STI_PART_GRAIN ? 0 : sti_is_absent(world, b) ? -inverse : inverse;
}

static void fill_arrays(const sti_Model *model, const sti_State *state, const sti_OnDevice *d, const Arrays *to)
{
    const sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    for (int b = 1; b < world->n_bodies; b++) {
        const sti_BodyMass *of = &world->values.body[b];
        to->inverse_mass[b - 1] = inverse_mass_of(world, d, b);
        memcpy(to->inertia + (int64_t)6 * (b - 1), of->inertia, sizeof of->inertia);
    }
    for (int i = 0; i < d->n_spheres; i++) {
        const int k = d->sphere_shape[i];
        const st_ShapeDef *def = sti_shape_def(scene, k);
        const sti_Shape *shape = sti_shape_of(&world->collider, k);
        const st_Pose *pose = sti_shape_pose(scene, k);
        const bool ball = def->type == ST_SHAPE_SPHERE;
        to->body[i] = scene->shape_body[k] - 1;
        to->surface[i] = surface_of(world, k);
        put_own(scene, k, to->own + (int64_t)4 * i);
        to->radius[i] = ball ? def->radius : shape->reach;
        vec3_store(to->centre + (int64_t)3 * i, ball ? pose->p : pose_point(*pose, shape->middle));
        to->hull[i] = to->n_hulls > 0 ? to->hull_of[world->collider.kind[k]] : -1;
        to->turn[4 * i] = pose->q.w, to->turn[4 * i + 1] = pose->q.x;
        to->turn[4 * i + 2] = pose->q.y, to->turn[4 * i + 3] = pose->q.z;
        to->round[i] = ball || def->type == ST_SHAPE_CAPSULE ? def->radius : 0;
        to->size[i] = ball ? def->radius : 0.5 * shape->thick;
    }
    for (int w = 0; w < d->n_walls; w++) {
        const int shape = d->wall_shape[w];
        sti_FlatWall *wall = &to->wall[w];
        const st_ShapeDef *def = sti_shape_def(world->scene, shape);
        const int owner = world->scene->shape_body[shape];
        const st_Pose body = sti_pose(state->q, owner), in_body = *sti_shape_pose(world->scene, shape);
        const st_Pose pose = pose_product(body, in_body);
        const st_Mat3 R = quat_matrix(pose.q), turn = quat_matrix(in_body.q);
        const sti_Shape *made = sti_shape_of(&world->collider, shape);
        const bool ball = def->type == ST_SHAPE_SPHERE, box = def->type == ST_SHAPE_BOX;
        wall->type = box                           ? STI_FLAT_BOX
                     : ball                        ? STI_FLAT_BALL
                     : def->type == ST_SHAPE_PLANE ? STI_FLAT_PLANE
                     : is_mesh(def)                ? STI_FLAT_MESH
                                                   : STI_FLAT_SOLID;
        wall->solid = made->mesh != NULL && made->mesh->solid;
        wall->hull = to->n_hulls > 0 ? to->hull_of[world->collider.kind[shape]] : -1;
        wall->round = ball || def->type == ST_SHAPE_CAPSULE ? def->radius : 0;
        wall->size = 0.5 * made->thick;
        wall->surface = surface_of(world, shape);
        put_own(world->scene, shape, wall->own);
        vec3_store(wall->x, wall->type == STI_FLAT_SOLID ? pose_point(pose, made->middle) : pose.p);
        vec3_store(wall->half, wall->type == STI_FLAT_BOX ? def->half : vec3(ball ? def->radius : made->reach, 0, 0));
        memcpy(wall->axis, R.m, sizeof wall->axis);
        wall->body = world->body[owner].n_dofs > 0 ? owner - 1 : -1;
        const st_Vec3 middle = wall->type == STI_FLAT_SOLID ? made->middle : vec3(0, 0, 0);
        vec3_store(wall->at, pose_point(in_body, middle));
        memcpy(wall->turn, turn.m, sizeof wall->turn);
        vec3_store(wall->belt, add(def->surface_velocity, cross(def->surface_spin, middle)));
        vec3_store(wall->belt + 3, def->surface_spin);
    }
    const sti_Surfaces *surfaces = &world->values.surfaces;
    for (int k = 0; surfaces->kind != NULL && k < surfaces->n_kinds * surfaces->n_kinds; k++) {
        to->mu[k] = surfaces->table[k].mu;
        to->rolling[k] = surfaces->table[k].rolling;
        to->spinning[k] = surfaces->table[k].spinning;
        to->restitution[k] = surfaces->table[k].restitution;
    }
}

static bool is_stopped(void *stop)
{
    return sti_stopped(stop);
}

static st_Status make_pile(const sti_Model *model, const sti_State *state, const sti_StepWork *work, sti_OnDevice *d,
                           Arrays *arrays, st_Error *err)
{
    const st_SystemDef *def = &model->def;
    const bool patient = def->effort == ST_EFFORT_THOROUGH || def->effort == ST_EFFORT_EXACT;
    const sti_Surfaces *surfaces = &model->world->values.surfaces;
    fill_arrays(model, state, d, arrays);
    list_meshes(model->world, d, arrays);
    const sti_FlatDef flat = {.n_bodies = d->n_bodies,
                              .n_spheres = d->n_spheres,
                              .n_walls = d->n_walls,
                              .n_surfaces = surfaces->kind != NULL ? surfaces->n_kinds : 0,
                              .inverse_mass = arrays->inverse_mass,
                              .inertia = arrays->inertia,
                              .sphere_body = arrays->body,
                              .sphere_centre = arrays->centre,
                              .sphere_radius = arrays->radius,
                              .sphere_surface = arrays->surface,
                              .sphere_own = arrays->own,
                              .n_hulls = arrays->n_hulls,
                              .n_vertices = arrays->n_vertices,
                              .n_faces = arrays->n_faces,
                              .n_corners = arrays->n_corners,
                              .n_edges = arrays->n_edges,
                              .hulls = arrays->hulls,
                              .piece_hull = arrays->hull,
                              .piece_turn = arrays->turn,
                              .piece_round = arrays->round,
                              .piece_size = arrays->size,
                              .wall = arrays->wall,
                              .n_driven = d->n_driven,
                              .driven = d->driven_body,
                              .n_triangles = arrays->n_triangles,
                              .n_nodes = arrays->n_nodes,
                              .n_mesh_vertices = arrays->n_mesh_vertices,
                              .n_spokes = arrays->n_spokes,
                              .meshes = arrays->meshes,
                              .mu = arrays->mu,
                              .rolling = arrays->rolling,
                              .spinning = arrays->spinning,
                              .restitution = arrays->restitution,
                              .rebound_speed = def->impact != ST_IMPACT_INELASTIC ? def->restitution_speed : INFINITY,
                              .gravity = {def->gravity.x, def->gravity.y, def->gravity.z},
                              .correction_speed = def->correction_speed,
                              .usual_h = def->h,
                              .tolerance = model->given.tolerance > 0 ? model->given.tolerance : 1e-3,
                              .max_sweeps = patient || def->max_iterations < 150 ? def->max_iterations : 150,
                              .threads = def->threads,
                              .stopped = is_stopped,
                              .stop = work->stop,
                              .ranks = def->ranks,
                              .beside = d->mechanisms != NULL ? sti_mechanisms_meet : NULL,
                              .beside_ctx = d->mechanisms};
    return d->device->create(&flat, &model->allocator, &d->pile, err);
}

enum { N_DRIVEN_SPANS = 6 };

/* The arrays of driven bodies: of all joints, since each may drive one. */
static void list_driven(const sti_World *world, sti_OnDevice *d, sti_Span span[N_DRIVEN_SPANS])
{
    const int64_t n = world->n_joints;
    const sti_Span all[N_DRIVEN_SPANS] = {STI_SPAN(d->part, world->n_bodies),  STI_SPAN(d->driven_joint, n),
                                          STI_SPAN(d->driven_body, n),         STI_SPAN(d->driven_v, 6 * n),
                                          STI_SPAN(d->driven_v_before, 6 * n), STI_SPAN(d->driven_x, n)};
    memcpy(span, all, sizeof all);
}

static st_Status find_driven(const sti_Model *model, sti_OnDevice *d, st_Error *err)
{
    const sti_World *world = model->world;
    sti_Span span[N_DRIVEN_SPANS];
    list_driven(world, d, span);
    d->driven_block = sti_alloc_spans(&model->allocator, span, N_DRIVEN_SPANS);
    if (d->driven_block == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d bodies on a device", d->n_bodies);
    /* Which bodies are mechanisms: a joint, a spring or a force acts on them. */
    unsigned char *part = d->part;
    const st_Scene *scene = world->scene;
    for (int b = 1; b < world->n_bodies; b++)
        part[b] = b >= sti_first_rotor(world)  ? STI_PART_MECHANISM
                  : world->body[b].n_dofs == 0 ? STI_PART_WALL
                                               : STI_PART_GRAIN;
    part[0] = STI_PART_WALL;
    for (int k = 0; k < world->n_joints + world->n_springs + scene->n_forces; k++) {
        const int spring = k - world->n_joints, force = spring - world->n_springs;
        const st_JointDef *joint = spring < 0 ? &scene->joint[k] : NULL;
        int body[2] = {0, 0};
        if (force >= 0) {
            body[0] = scene->force[force].body.index1;
        } else if (spring >= 0) {
            body[0] = world->spring[spring].a, body[1] = world->spring[spring].b;
        } else {
            body[0] = joint->a.index1, body[1] = joint->b.index1;
        }
        for (int p = -2; p < (joint != NULL ? joint->n_path : 0); p++) {
            const int b = p < 0 ? body[p + 2] : joint->path[p].body.index1;
            if (part[b] == STI_PART_GRAIN) part[b] = STI_PART_MECHANISM;
        }
    }
    for (int k = 0; k < world->n_joints; k++) /* a driven body, which springs and forces cannot stop */
        if (driven_body(world, k) > 0) part[driven_body(world, k)] = STI_PART_WALL;
    for (int k = 0; k < world->n_joints; k++) {
        const int body = driven_body(world, k);
        if (body == 0) continue;
        d->driven_joint[d->n_driven] = k;
        d->driven_body[d->n_driven++] = body - 1;
    }
    return ST_OK;
}

void sti_device_destroy(const sti_Model *model, sti_StepWork *work)
{
    sti_OnDevice *d = work->on_device;
    const st_Allocator *a = &model->allocator;
    if (d == NULL) return;
    if (d->pile != NULL) d->device->destroy(d->pile);
    sti_mechanisms_destroy(d->mechanisms);
    sti_free(a, d->sphere_shape, d->shape_room, sizeof *d->sphere_shape);
    sti_free(a, d->wall_shape, d->wall_room, sizeof *d->wall_shape);
    sti_free(a, d->hit, d->n_bodies + 1, sizeof *d->hit);
    sti_free(a, d->q_before, (int64_t)7 * d->n_bodies + 1, sizeof *d->q_before);
    sti_free(a, d->v_before, (int64_t)6 * d->n_bodies + 1, sizeof *d->v_before);
    sti_free(a, d->v, (int64_t)6 * d->n_bodies + 1, sizeof *d->v);
    STI_RELEASE(a, d->contact, d->contact_capacity);
    STI_RELEASE(a, d->impulse, d->impulse_capacity);
    STI_RELEASE(a, d->start, d->start_capacity);
    sti_Span span[N_DRIVEN_SPANS];
    list_driven(model->world, d, span);
    sti_free_spans(a, d->driven_block, span, N_DRIVEN_SPANS);
    sti_free(a, d, 1, sizeof *d);
    work->on_device = NULL;
}

st_Status sti_device_create(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    const st_SystemDef *def = &model->def;
    const sti_World *world = model->world;
    const st_Allocator *a = &model->allocator;
    if (def->device == ST_DEVICE_NONE && (def->ranks == NULL || def->ranks->size == 1)) return ST_OK;
    if (def->device == ST_DEVICE_NONE)
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "%d ranks share piles with device \"flat\" or \"cuda\"; this scene has device \"none\"",
                        def->ranks->size);
    if (def->ranks != NULL && def->ranks->rank != 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "rank %d of %d makes a system, only rank 0 may; st_ranks_serve()",
                        def->ranks->rank, def->ranks->size);
    if (!model->rigid) return refuse_on_device(def, err, "your own model", "");
    if (def->integrator != ST_INTEGRATOR_IMPLICIT && def->integrator != ST_INTEGRATOR_EULER)
        return refuse_on_device(def, err, "an integrator of order two", "");
    if (def->contact != ST_CONTACT_RIGID) return refuse_on_device(def, err, "compliant or regularized contact", "");
    if (def->law != ST_LAW_COULOMB) return refuse_on_device(def, err, "the friction law", st_law_name(def->law));
    if (def->drift != ST_DRIFT_GAP) return refuse_on_device(def, err, "another drift than \"gap\"", "");
    if (def->events != ST_EVENTS_OFF) return refuse_on_device(def, err, "the location of events", "");
    if (def->sleep) return refuse_on_device(def, err, "sleep", "");
    if (def->forces != ST_FORCES_ANY) return refuse_on_device(def, err, "a choice of forces", "");
    if (def->medium.density > 0 || def->medium.viscosity > 0) return refuse_on_device(def, err, "a medium", "");
    const bool ranked = def->ranks != NULL && def->ranks->size > 1;
    const sti_FlatDevice *device = ranked ? &sti_flat_host_ranks : &sti_flat_host;
    if (def->device == ST_DEVICE_CUDA) {
#ifdef STI_HAVE_CUDA
        device = ranked ? &sti_flat_cuda_ranks : &sti_flat_cuda;
#else
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "device \"cuda\": this library was built without it (cmake -DST_CUDA=ON); device \"flat\" has "
                        "the same bits on the host");
#endif
    }
    sti_OnDevice *d = sti_alloc(a, 1, sizeof *d);
    if (d == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a pile");
    work->on_device = d;
    d->device = device;
    d->n_bodies = world->n_bodies - 1;
    const int64_t n = d->n_bodies + 1, shapes = world->scene->n_shapes + 1;
    const int64_t pairs = (int64_t)world->values.surfaces.n_kinds * world->values.surfaces.n_kinds + 1;
    st_Status status = find_driven(model, d, err);
    if (status == ST_OK) status = check_world(def, world, d, err);
    bool mechanisms = false;
    for (int b = 1; b < world->n_bodies && status == ST_OK; b++)
        mechanisms = mechanisms || d->part[b] == STI_PART_MECHANISM;
    if (mechanisms) status = sti_mechanisms_create(model, d->part, &d->mechanisms, err);
    if (status != ST_OK) {
        sti_device_destroy(model, work);
        return status;
    }
    d->shape_room = shapes;
    d->sphere_shape = sti_alloc(a, shapes, sizeof *d->sphere_shape);
    d->wall_room = shapes;
    for (int k = 0; k < world->scene->n_shapes; k++)
        if (is_mesh(sti_shape_def(world->scene, k)))
            d->wall_room += sti_shape_of(&world->collider, k)->mesh->n_triangles;
    d->wall_shape = sti_alloc(a, d->wall_room, sizeof *d->wall_shape);
    d->hit = sti_alloc(a, d->n_bodies + 1, sizeof *d->hit);
    d->q_before = sti_alloc(a, (int64_t)7 * d->n_bodies + 1, sizeof *d->q_before);
    d->v_before = sti_alloc(a, (int64_t)6 * d->n_bodies + 1, sizeof *d->v_before);
    d->v = sti_alloc(a, (int64_t)6 * d->n_bodies + 1, sizeof *d->v);
    for (int k = 0; d->sphere_shape != NULL && d->wall_shape != NULL && k < world->scene->n_shapes; k++) {
        const int b = world->scene->shape_body[k];
        const bool ball = sti_shape_def(world->scene, k)->type == ST_SHAPE_SPHERE;
        if (d->part[b] == STI_PART_MECHANISM) continue;
        if (b > 0 && (ball || d->part[b] == STI_PART_GRAIN))
            d->sphere_shape[d->n_spheres++] = k;
        else
            d->wall_shape[d->n_walls++] = k;
    }
    Arrays arrays = {0};
    list_hulls(world, d, &arrays);
    list_meshes(world, d, &arrays);
    const int64_t triangles = arrays.n_triangles, nodes = arrays.n_nodes;
    const int64_t kinds = world->collider.n_kinds, hulls = arrays.n_hulls;
    const int64_t n_doubles = 7 * n + 14 * shapes + 4 * pairs + 3 * (int64_t)arrays.n_vertices +
                              4 * (int64_t)arrays.n_faces + 3 * ((int64_t)arrays.n_spokes + arrays.n_mesh_vertices);
    const int64_t n_ints = 3 * shapes + kinds + 2 * (int64_t)arrays.n_faces + arrays.n_corners +
                           4 * (int64_t)arrays.n_edges + triangles + arrays.n_mesh_vertices + 1;
    double *numbers = sti_alloc(a, n_doubles, sizeof *numbers), *next = numbers;
    int *ints = sti_alloc(a, n_ints, sizeof *ints), *next_int = ints;
    sti_FlatWall *wall = sti_alloc(a, shapes, sizeof *wall);
    sti_FlatHull *hull = sti_alloc(a, hulls + 1, sizeof *hull);
    sti_FlatTriangle *triangle = sti_alloc(a, triangles + 1, sizeof *triangle);
    sti_FlatNode *node = sti_alloc(a, nodes + 1, sizeof *node);
    status = sti_fail(err, ST_ERR_MEMORY, "out of memory for %d bodies on a device", d->n_bodies);
    if (d->sphere_shape != NULL && d->wall_shape != NULL && d->hit != NULL && d->q_before != NULL &&
        d->v_before != NULL && d->v != NULL && numbers != NULL && ints != NULL && wall != NULL && hull != NULL &&
        triangle != NULL && node != NULL) {
        const struct {
            double **at;
            int64_t count;
        } doubles[] = {{&arrays.inverse_mass, n},
                       {&arrays.inertia, 6 * n},
                       {&arrays.centre, 3 * shapes},
                       {&arrays.radius, shapes},
                       {&arrays.own, 4 * shapes},
                       {&arrays.turn, 4 * shapes},
                       {&arrays.round, shapes},
                       {&arrays.size, shapes},
                       {&arrays.mu, pairs},
                       {&arrays.rolling, pairs},
                       {&arrays.spinning, pairs},
                       {&arrays.restitution, pairs},
                       {&arrays.hulls.vertex, 3 * (int64_t)arrays.n_vertices},
                       {&arrays.hulls.plane, 4 * (int64_t)arrays.n_faces},
                       {&arrays.meshes.spoke, 3 * (int64_t)arrays.n_spokes},
                       {&arrays.meshes.outward, 3 * (int64_t)arrays.n_mesh_vertices}};
        const struct {
            int **at;
            int64_t count;
        } integers[] = {{&arrays.body, shapes},
                        {&arrays.surface, shapes},
                        {&arrays.hull, shapes},
                        {&arrays.hull_of, kinds},
                        {&arrays.hulls.loop, 2 * (int64_t)arrays.n_faces},
                        {&arrays.hulls.corner, arrays.n_corners},
                        {&arrays.hulls.edge, 4 * (int64_t)arrays.n_edges},
                        {&arrays.meshes.item, triangles},
                        {&arrays.meshes.spoke_first, arrays.n_mesh_vertices + (int64_t)1}};
        for (size_t k = 0; k < sizeof doubles / sizeof *doubles; k++)
            *doubles[k].at = next, next += doubles[k].count;
        for (size_t k = 0; k < sizeof integers / sizeof *integers; k++)
            *integers[k].at = next_int, next_int += integers[k].count;
        arrays.wall = wall;
        arrays.hulls.hull = hull;
        arrays.meshes.triangle = triangle;
        arrays.meshes.node = node;
        list_hulls(world, d, &arrays);
        status = make_pile(model, state, work, d, &arrays, err);
    }
    sti_free(a, numbers, n_doubles, sizeof *numbers);
    sti_free(a, ints, n_ints, sizeof *ints);
    sti_free(a, wall, shapes, sizeof *wall);
    sti_free(a, hull, hulls + 1, sizeof *hull);
    sti_free(a, triangle, triangles + 1, sizeof *triangle);
    sti_free(a, node, nodes + 1, sizeof *node);
    if (status != ST_OK) sti_device_destroy(model, work);
    return status;
}

/* ---- the step --------------------------------------------------------------------------------------- */

/* 6 per body, fixed ones too, as the state has them. */
static void gather_velocities(const sti_World *world, const double *from, double *v)
{
    for (int b = 1; b < world->n_bodies; b++)
        if (world->body[b].n_dofs == 6) memcpy(v + world->body[b].v_first, from + 6 * (int64_t)(b - 1), 6 * sizeof *v);
}

/* The velocities of all bodies in the order of the device, on which mechanisms are at rest. Without mechanisms and
 * fixed bodies this is the order of the state. */
static const double *velocities_of_all(const sti_Model *model, const sti_State *state, const sti_OnDevice *d)
{
    const sti_World *world = model->world;
    if (d->mechanisms == NULL && model->n_v == 6 * d->n_bodies) return state->v;
    for (int b = 1; b < world->n_bodies; b++)
        for (int k = 0; k < 6; k++)
            d->v[6 * (int64_t)(b - 1) + k] = d->part[b] != STI_PART_MECHANISM && world->body[b].n_dofs == 6
                                                 ? state->v[world->body[b].v_first + k]
                                                 : 0;
    return d->v;
}

/* Motion of driven bodies in the step: velocities that lead from their positions to the targets of their motors. */
static st_Status drive_bodies(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h,
                              double end, st_Error *err)
{
    sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    for (int k = 0; k < d->n_driven; k++) {
        const int index = d->driven_joint[k], body = d->driven_body[k] + 1;
        const sti_Joint *joint = &world->joint[index];
        const bool b_moves = joint->b == body;
        const double wanted = sti_motor_wanted(world, index, end, NULL);
        sti_Measure x;
        STI_TRY(sti_joint_gauge(world, index, 0, state->q, &x, err));
        const double change = joint->at_speed ? h * wanted : wanted - x.value, way = b_moves ? change : -change;
        const int base = b_moves ? joint->a : joint->b;
        const st_Pose pose = sti_pose(state->q, body), from = sti_pose(state->q, base);
        const st_Vec3 axis = rotate(from.q, b_moves ? joint->frame_a[2] : joint->frame_b[2]);
        st_Vec3 velocity = scale(way / h, axis), spin = {0, 0, 0};
        if (joint->type == ST_JOINT_REVOLUTE) {
            const st_Vec3 point = pose_point(from, b_moves ? joint->anchor_a : joint->anchor_b);
            const st_Vec3 arm = sub(pose.p, point);
            spin = velocity;
            velocity = scale(1 / h, sub(rotate(quat_exp(scale(way, axis)), arm), arm));
        }
        vec3_store(d->driven_v + (int64_t)6 * k, velocity);
        vec3_store(d->driven_v + (int64_t)6 * k + 3, rotate_back(pose.q, spin));
        memcpy(d->driven_v_before + (int64_t)6 * k, state->v + world->body[body].v_first, 6 * sizeof *state->v);
        d->driven_x[k] = x.value + change;
    }
    d->starts = state->fresh;
    return d->n_driven > 0 ? d->device->drive(d->pile, d->driven_v, err) : ST_OK;
}

/* Of driven bodies, which have no mass on the device. */
static void driven_energy(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double *kinetic,
                          double *potential)
{
    const sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    *kinetic = *potential = 0;
    for (int k = 0; k < d->n_driven; k++) {
        const int b = d->driven_body[k] + 1;
        const sti_BodyMass *of = &world->values.body[b];
        const double *v = state->v + world->body[b].v_first;
        const st_Vec3 u = vec3_load(v), w = vec3_load(v + 3);
        *kinetic += 0.5 * (of->mass * dot(u, u) + dot(w, sti_spin_momentum(of, w)));
        *potential -= of->mass * dot(world->gravity, sti_pose(state->q, b).p);
    }
}

/* Marks the state of grains as unknown: no later result can look right. */
static void lose_grains(const sti_Model *model, const sti_State *state, const sti_OnDevice *d)
{
    for (int b = 1; b < model->world->n_bodies; b++) {
        const sti_Body *body = &model->world->body[b];
        if (d->part[b] != STI_PART_GRAIN) continue;
        for (int k = 0; k < STI_BODY_Q; k++)
            state->q[(int64_t)STI_BODY_Q * (b - 1) + k] = NAN;
        for (int k = 0; k < body->n_dofs; k++)
            state->v[body->v_first + k] = NAN;
    }
}

/* Copies a state of the device to the host: the present one, or the one before the last step. The device does not turn
 * driven bodies as their motors do, so their state is that of the host. */
static st_Status fetch_state(const sti_Model *model, const sti_State *state, sti_OnDevice *d, bool before,
                             st_Error *err)
{
    const sti_World *world = model->world;
    const bool same_order = model->n_v == 6 * d->n_bodies; /* a million bodies are 100 MB */
    double *v = same_order ? state->v : d->v;
    for (int k = 0; k < d->n_driven; k++)
        memcpy(d->driven_v + (int64_t)6 * k, state->v + world->body[d->driven_body[k] + 1].v_first, 6 * sizeof *v);
    d->away = false;
    const st_Status status = before ? d->device->before(d->pile, state->q, v, err)
                                    : d->device->get(d->pile, 0, d->n_bodies, state->q, v, err);
    if (status == ST_OK && !same_order) gather_velocities(world, d->v, state->v);
    for (int k = 0; k < d->n_driven; k++)
        memcpy(state->v + world->body[d->driven_body[k] + 1].v_first, d->driven_v + (int64_t)6 * k, 6 * sizeof *v);
    if (status != ST_OK) lose_grains(model, state, d);
    return status;
}

st_Status sti_device_fetch(const sti_Model *model, const sti_State *state, const sti_StepWork *work, st_Error *err)
{
    sti_OnDevice *d = work->on_device;
    return d != NULL && d->away ? fetch_state(model, state, d, false, err) : ST_OK;
}

/* How far the joint's rows are from 0; those of a motor, too. */
static double joint_error_at(const sti_Model *model, const sti_State *state, int joint)
{
    sti_Measure row[STI_JOINT_ROWS];
    double worst = 0;
    if (sti_joint_measures(model->world, joint, state->t, state->q, row, NULL) != ST_OK) return 0;
    for (int k = 0; k < model->world->joint[joint].n_rows; k++)
        worst = fmax(worst, fabs(row[k].value));
    return worst;
}

/* Copies the state of driven bodies to the host. The next step needs it. */
static st_Status fetch_driven(const sti_Model *model, const sti_State *state, const sti_OnDevice *d, st_Error *err)
{
    for (int k = 0; k < d->n_driven; k++) {
        const int b = d->driven_body[k];
        STI_TRY(d->device->get(d->pile, b, 1, state->q + (int64_t)STI_BODY_Q * b,
                               state->v + model->world->body[b + 1].v_first, err));
    }
    return ST_OK;
}

/* Bodies that come and go before a step, and measures that compare its start with its end. All bodies and all of
 * their presence were put on the device if it had another state. */
static st_Status begin_flow(const sti_Model *model, sti_State *state, sti_StepWork *work, bool afresh, st_Error *err)
{
    sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    if (afresh && world->scene->n_inlets + world->scene->n_outlets > 0) {
        double *inverse = sti_alloc(&model->allocator, world->n_bodies, sizeof *inverse);
        if (inverse == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d bodies", world->n_bodies - 1);
        for (int b = 1; b < world->n_bodies; b++)
            inverse[b - 1] = inverse_mass_of(world, d, b);
        const st_Status status =
            d->device->present(d->pile, 0, d->n_bodies, inverse, state->q, velocities_of_all(model, state, d), err);
        sti_free(&model->allocator, inverse, world->n_bodies, sizeof *inverse);
        STI_TRY(status);
    }
    STI_TRY(sti_device_fetch(model, state, work, err));
    STI_TRY(sti_flow_step(model, state, work, err));
    if (work->flow->n_changes > 0) {
        double kinetic, potential;
        STI_TRY(sti_energies(model, state, work, &kinetic, &potential, err));
        state->works.given += kinetic + potential - d->energy;
        d->energy = kinetic + potential;
    }
    sti_measures_before_step(model, state, work);
    return ST_OK;
}

st_Status sti_device_present(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int body,
                             st_Error *err)
{
    const sti_OnDevice *d = work->on_device;
    const double inverse = inverse_mass_of(model->world, d, body);
    return d->device->present(d->pile, body - 1, 1, &inverse, state->q + (int64_t)STI_BODY_Q * (body - 1),
                              state->v + model->world->body[body].v_first, err);
}

/* st_system_step on a device. A state that is not from the last step is copied to the device first. Without mechanisms
 * the new state stays there until it is read. If the step fails, the state is restored on the host. */
st_Status sti_device_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                          st_Error *err)
{
    sti_OnDevice *d = work->on_device;
    sti_FlatInfo flat;
    const sti_World *world = model->world;
    for (int p = 0; p < world->n_pushes; p++)
        if (d->part[world->push[p].body] != STI_PART_MECHANISM)
            return refuse_on_device(&model->def, err, "a push (st_system_push) on body",
                                    world->scene->names[STI_BODY].name[world->push[p].body]);
    const bool afresh = state->fresh || !work->device_has_state;
    if (afresh) {
        double all_kinetic, all_potential;
        STI_TRY(sti_device_fetch(model, state, work, err));
        STI_TRY(sti_energies(model, state, work, &all_kinetic, &all_potential, err));
        d->energy = all_kinetic + all_potential;
        STI_TRY(d->device->put(d->pile, state->q, velocities_of_all(model, state, d), err));
        if (d->n_start > 0 && !state->fresh && d->device->put_impulses != NULL)
            STI_TRY(d->device->put_impulses(d->pile, d->start, d->n_start, d->h_start, err));
    }
    const bool watched = work->flow != NULL && sti_flow_watches(world->scene);
    if (watched) STI_TRY(begin_flow(model, state, work, afresh, err));
    work->device_has_state = false;
    const double before = state->t, end = sti_next_time(state, h);
    double kinetic, potential;
    driven_energy(model, state, work, &kinetic, &potential);
    const double driven_before = kinetic + potential;
    sti_cancel_begin(model, work);
    st_Status status = sti_check_cancelled(model, state, work, err);
    if (status == ST_OK && d->mechanisms != NULL)
        status = sti_mechanisms_begin(d->mechanisms, model, state, h, afresh, err);
    if (status == ST_OK && d->mechanisms != NULL) {
        int n;
        const int *grain = sti_mechanisms_grains(d->mechanisms, &n);
        status = d->device->couple(d->pile, grain, n, err);
    }
    if (status == ST_OK) status = drive_bodies(model, state, work, h, end, err);
    if (status == ST_OK) status = d->device->step(d->pile, h, &flat, err);
    sti_cancel_end(model, state, work, status, err);
    const bool moved = status == ST_OK;
    if (moved && !(flat.fastest <= model->def.speed_limit)) { /* which one? */
        status = d->device->get(d->pile, 0, d->n_bodies, d->q_before, d->v, err);
        if (status == ST_OK) gather_velocities(model->world, d->v, work->v_new);
        if (status == ST_OK) status = sti_check_velocity(model, state, work, work->v_new, end, err);
    }
    if (status == ST_OK) status = fetch_driven(model, state, d, err);
    if (status == ST_OK && d->mechanisms != NULL) { /* they look for grains that are near */
        status = d->device->get(d->pile, 0, d->n_bodies, state->q, d->v, err);
        if (status == ST_OK) gather_velocities(world, d->v, state->v);
        if (status == ST_OK) sti_mechanisms_take(d->mechanisms, model, state);
    }
    sti_forget_step(model, state, work);
    if (status != ST_OK && d->away) STI_TRY(fetch_state(model, state, d, moved, err));
    STI_TRY(status);
    d->away = d->mechanisms == NULL;
#ifndef NDEBUG
    if (d->away) lose_grains(model, state, d); /* shows readers that do not fetch */
#endif
    model->world->collider.asked = false; /* rays and distances are those of the new state */
    sti_time_reached(&state->grid, before, h);
    state->t = end;
    state->fresh = false;
    state->n_steps++;
    for (int k = 0; k < d->n_driven; k++) { /* the nearest turn to where the motor went: whole turns are counted */
        const sti_Joint *joint = &model->world->joint[d->driven_joint[k]];
        if (joint->type == ST_JOINT_REVOLUTE)
            state->q[model->world->angle[joint->angle[joint->coordinate[0]]].q] = d->driven_x[k];
    }
    sti_angles_update(model->world, state->q);
    sti_angles_settle(model->world, state->q);
    sti_Works done = {0};
    if (d->mechanisms != NULL) { /* driven bodies are in their system, too */
        STI_TRY(sti_mechanisms_energy(d->mechanisms, &kinetic, &potential, &done, err));
        flat.friction += done.friction;
        flat.given += done.given;
    } else { /* their gain of energy is the work of their motors and of gravity */
        driven_energy(model, state, work, &kinetic, &potential);
        flat.given += kinetic + potential - driven_before;
    }
    flat.kinetic += kinetic;
    flat.potential += potential;
    state->works.friction += flat.friction;
    state->works.given += flat.given;
    state->works.damping += done.damping;
    state->works.unexplained += flat.kinetic + flat.potential - d->energy - flat.friction - flat.given - done.damping;
    d->energy = flat.kinetic + flat.potential;
    work->device_has_state = true;
    d->fetched = d->kept = false;
    d->n_contacts = flat.contacts;
    d->h = h;

    info->time = end;
    info->h = info->force_h = h;
    info->force_time = end - 0.5 * h;
    info->contacts = flat.contacts;
    info->problems = 1;
    info->penetration = flat.overlap;
    info->kinetic = flat.kinetic;
    info->potential = flat.potential;
    info->friction = state->works.friction;
    info->work = state->works.given;
    info->damping = state->works.damping;
    for (int k = 0; k < d->n_driven; k++)
        info->joint_error = fmax(info->joint_error, joint_error_at(model, state, d->driven_joint[k]));
    info->unexplained = state->works.unexplained; /* impacts, overlaps and the scheme are one sum */
    info->struck = flat.struck;
    info->rebounds_limited = flat.limited;
    info->recovery = 1;
    info->solve.solver = d->device->name;
    info->solve.iterations = flat.sweeps;
    info->solve.work = flat.sweeps;
    info->solve.residual.natural = flat.residual;
    info->solve.residual.worst_contact = -1;
    info->solve.converged = flat.residual <= (model->given.tolerance > 0 ? model->given.tolerance : 1e-3);
    if (d->mechanisms != NULL) {
        const st_StepInfo *beside = sti_mechanisms_info(d->mechanisms);
        info->contacts += st_system_contact_count(sti_mechanisms_system(d->mechanisms));
        info->joints = beside->joints;
        info->penetration = fmax(info->penetration, beside->penetration);
        info->joint_error = fmax(info->joint_error, beside->joint_error);
        info->struck += beside->struck;
        info->solve.converged = info->solve.converged && beside->solve.converged;
    }
    sti_lap(work, ST_PART_SOLVE);
    if (!watched) return ST_OK;
    STI_TRY(sti_device_fetch(model, state, work, err));
    sti_measures_after_step(model, state, work);
    return ST_OK;
}

/* ---- saved states ------------------------------------------------------------------------------------ */

int sti_device_impulses(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                        const sti_FlatImpulse **out, double *h)
{
    sti_OnDevice *d = work->on_device;
    st_Error err;
    if (d == NULL || state->fresh) return 0;
    *out = d->start, *h = d->h_start;
    if (!work->device_has_state) return d->n_start;
    *out = d->impulse, *h = d->h;
    if (d->n_contacts == 0 || d->device->impulses == NULL) return 0;
    if (!d->kept) { /* without memory the restored run starts from nothing, within the tolerance */
        if (STI_GROW(&model->allocator, d->impulse, d->impulse_capacity, d->n_contacts, &err) != ST_OK) return 0;
        if (d->device->impulses(d->pile, d->impulse, &err) != ST_OK) return 0;
        d->kept = true;
    }
    *out = d->impulse;
    return d->n_contacts;
}

bool sti_device_impulse_fits(const sti_StepWork *work, const sti_FlatImpulse *impulse, int least_sphere)
{
    const sti_OnDevice *d = work->on_device;
    bool finite = true;
    for (int k = 0; k < 3; k++)
        finite = finite && isfinite(impulse->r[k]) && isfinite(impulse->m[k]);
    return finite && (d == NULL || (impulse->sphere >= least_sphere && impulse->sphere < d->n_spheres)) &&
           impulse->colour >= STI_FLAT_FREE && impulse->colour < STI_FLAT_COLOURS;
}

st_Status sti_device_start_room(const sti_Model *model, sti_StepWork *work, int64_t n, st_Error *err)
{
    sti_OnDevice *d = work->on_device;
    return d != NULL ? STI_GROW(&model->allocator, d->start, d->start_capacity, n, err) : ST_OK;
}

void sti_device_start_from(sti_StepWork *work, const void *impulses, int64_t n, double h)
{
    sti_OnDevice *d = work->on_device;
    if (d == NULL) return;
    if (n > 0) memcpy(d->start, impulses, (size_t)n * sizeof *d->start);
    d->n_start = (int)n;
    d->h_start = h;
}

/* ---- contacts ---------------------------------------------------------------------------------------- */

double sti_device_force_time(const sti_StepWork *work)
{
    return work->device_has_state ? work->on_device->h : 0;
}

int sti_device_contact_count(const sti_StepWork *work)
{
    const sti_OnDevice *d = work->on_device;
    if (!work->device_has_state) return 0;
    return d->n_contacts + (d->mechanisms != NULL ? st_system_contact_count(sti_mechanisms_system(d->mechanisms)) : 0);
}

/* Contacts, and the state at the start of the step, on demand. */
static st_Status fetch_last_step(const sti_Model *model, const sti_StepWork *work)
{
    sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    st_Error err;
    if (d->fetched) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, d->contact, d->contact_capacity, d->n_contacts, &err));
    if (d->n_contacts > 0) STI_TRY(d->device->contacts(d->pile, d->contact, &err));
    STI_TRY(d->device->before(d->pile, d->q_before, d->v_before, &err));
    memset(d->hit, 0, (size_t)world->n_bodies);
    for (int k = 0; k < d->n_driven; k++) { /* the device has the velocity that the step began with after `drive` */
        memcpy(d->v_before + (int64_t)6 * d->driven_body[k], d->driven_v_before + (int64_t)6 * k,
               6 * sizeof *d->v_before);
        d->hit[d->driven_body[k] + 1] = d->starts;
    }
    for (int k = 0; k < d->n_contacts; k++) {
        const int a = scene->shape_body[d->sphere_shape[d->contact[k].sphere]];
        const int other = d->contact[k].other;
        const int b = scene->shape_body[other >= 0 ? d->sphere_shape[other] : d->wall_shape[-1 - other]];
        if (!d->contact[k].struck) continue;
        if (world->body[a].n_dofs > 0) d->hit[a] = 1;
        if (world->body[b].n_dofs > 0) d->hit[b] = 1;
    }
    for (int k = d->n_contacts; k < sti_device_contact_count(work); k++) {
        st_ContactReport report;
        STI_TRY(sti_mechanisms_contact(d->mechanisms, k - d->n_contacts, &report));
        if (!report.struck) continue;
        d->hit[report.a.index1] = world->body[report.a.index1].n_dofs > 0;
        d->hit[report.b.index1] = world->body[report.b.index1].n_dofs > 0;
    }
    d->fetched = true;
    return ST_OK;
}

st_Status sti_device_contact(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                             st_ContactReport *out)
{
    sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    if (index >= d->n_contacts) {
        STI_TRY(sti_mechanisms_contact(d->mechanisms, index - d->n_contacts, out));
        out->id = (uint64_t)index;
        return ST_OK;
    }
    STI_TRY(fetch_last_step(model, work));
    if (d->away) STI_TRY(fetch_state(model, state, d, false, NULL));
    const sti_FlatContact *c = &d->contact[index];
    const int shape_a = d->sphere_shape[c->sphere];
    const int shape_b = c->other >= 0 ? d->sphere_shape[c->other] : d->wall_shape[-1 - c->other];
    const st_Vec3 n = vec3_load(c->n), r = vec3_load(c->r), m = vec3_load(c->m), point = vec3_load(c->x);
    const double along = dot(r, n);
    const st_Vec3 across = sub(r, scale(along, n));
    sti_Surface room;
    const sti_Surface *surface = sti_surface_of(world, shape_a, shape_b, &room);
    *out = (st_ContactReport){.id = (uint64_t)index,
                              .a = {scene->shape_body[shape_a]},
                              .b = {scene->shape_body[shape_b]},
                              .shape_a = {shape_a + 1},
                              .shape_b = {shape_b + 1},
                              .point = point,
                              .normal = scale(-1, n),
                              .gap = c->gap,
                              .dim = 3};
    out->tangent = norm(across) > 0 ? scale(-1 / norm(across), across) : orthogonal(n);
    const st_Vec3 other = cross(out->normal, out->tangent);
    st_Vec3 u[2], w[2];
    for (int k = 0; k < 2; k++) {
        const int body = k == 0 ? out->a.index1 : out->b.index1;
        const st_Pose pose = sti_pose(state->q, body);
        st_Vec3 velocity, spin;
        sti_body_velocity(&world->body[body], state->v, &velocity, &spin);
        w[k] = rotate(pose.q, spin);
        u[k] = add(velocity, cross(w[k], sub(point, pose.p)));
    }
    const st_Vec3 slip = sub(u[1], u[0]), turn = sub(w[1], w[0]), axis[3] = {out->normal, out->tangent, other};
    const sti_ContactEntry entry = {.shape_a = shape_a + 1,
                                    .shape_b = shape_b + 1,
                                    .point = point,
                                    .normal = out->normal,
                                    .tangent = out->tangent,
                                    .surface = surface};
    const sti_Belt belt = sti_contact_belt(world, state->q, &entry);
    for (int k = 0; k < 3; k++) {
        out->velocity[k] = dot(slip, axis[k]) + (k > 0 ? belt.slide[k - 1] : 0);
        out->impulse[k] = -dot(r, axis[k]);
    }
    if (surface->rolling > 0 || surface->spinning > 0) {
        out->dim = 6;
        const st_Vec3 about[3] = {out->tangent, other, out->normal};
        for (int k = 0; k < 3; k++) {
            out->velocity[3 + k] = dot(turn, about[k]) + belt.turn[(k + 1) % 3];
            out->impulse[3 + k] = -dot(m, about[k]);
        }
    }
    out->struck = d->hit[out->a.index1] || d->hit[out->b.index1];
    if (out->struck) { /* strike.c: no force */
        memcpy(out->impact, out->impulse, sizeof out->impact);
        return ST_OK;
    }
    out->force = scale(-1 / d->h, r);
    out->torque = scale(-1 / d->h, m);
    return ST_OK;
}

double sti_device_deepest(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int *a, int *b)
{
    const sti_OnDevice *d = work->on_device;
    const st_Scene *scene = model->world->scene;
    const int n = sti_device_contact_count(work);
    double depth = 0;
    int next = 0;
    if (n > 0) { /* without a report of each contact, of which there may be millions */
        sti_FlatContact contact;
        if (d->device->deepest(d->pile, &contact, NULL) != ST_OK) return 0;
        if (contact.gap < 0) {
            depth = -contact.gap;
            *a = scene->shape_body[d->sphere_shape[contact.sphere]];
            *b = scene->shape_body[contact.other >= 0 ? d->sphere_shape[contact.other]
                                                      : d->wall_shape[-1 - contact.other]];
        }
        next = d->n_contacts;
    }
    for (int c = next; c < n; c++) {
        st_ContactReport contact;
        if (sti_device_contact(model, state, work, c, &contact) != ST_OK || !(-contact.gap > depth)) continue;
        depth = -contact.gap;
        *a = contact.a.index1, *b = contact.b.index1;
    }
    return depth;
}

/* The world's body at one end (0 or 1) of contact c, the impulse on it, and its moment about the centre in the axes of
 * the body as they were.                                                                                             */
static int contact_impulse(const st_Scene *scene, const sti_OnDevice *d, int c, int end, st_Vec3 *r, st_Vec3 *moment)
{
    const double sign = end == 0 ? 1 : -1;
    if (c >= d->n_contacts) { /* of mechanisms; its impulse is that on b */
        st_ContactReport report;
        *r = *moment = vec3(0, 0, 0);
        if (sti_mechanisms_contact(d->mechanisms, c - d->n_contacts, &report) != ST_OK || report.joint.index1 > 0)
            return 0;
        const int body = end == 0 ? report.a.index1 : report.b.index1;
        const st_Pose pose = sti_pose(d->q_before, body);
        *r = scale(-sign, sti_contact_along(report.dim, report.impulse, report.normal, report.tangent));
        const st_Vec3 turn = sti_contact_about(report.dim, report.impulse, report.normal, report.tangent);
        *moment = rotate_back(pose.q, add(cross(sub(report.point, pose.p), *r), scale(-sign, turn)));
        return body;
    }
    const sti_FlatContact *contact = &d->contact[c];
    const int other = contact->other, shape_b = other >= 0 ? d->sphere_shape[other] : d->wall_shape[-1 - other];
    const int body = scene->shape_body[end == 0 ? d->sphere_shape[contact->sphere] : shape_b];
    const st_Pose pose = sti_pose(d->q_before, body);
    const st_Vec3 x = vec3_load(contact->x), point = end == 0 ? x : sub(x, scale(contact->gap, vec3_load(contact->n)));
    *r = scale(sign, vec3_load(contact->r));
    *moment = rotate_back(pose.q, add(cross(sub(point, pose.p), *r), scale(sign, vec3_load(contact->m))));
    return body;
}

/* A force, or a part of the impulse of a step in which the body was struck. */
static void add_load(const sti_OnDevice *d, int body, st_Load what, st_Vec3 r, st_Vec3 moment, st_BodyLoad *load)
{
    load->struck = d->hit[body] != 0;
    if (load->struck) {
        load->impulse = add(load->impulse, r);
        load->angular_impulse = add(load->angular_impulse, moment);
    } else {
        load->force[what] = add(load->force[what], scale(1 / d->h, r));
        load->torque[what] = add(load->torque[what], scale(1 / d->h, moment));
    }
}

/* The impulse of the joint of driven body k in the last step: the change of momentum less weight, gyroscopic term and
 * contacts. The moment is about the centre of the body, in its axes. */
static st_Status drive_impulse(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int k,
                               st_Vec3 *r, st_Vec3 *moment)
{
    const sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    const int body = d->driven_body[k] + 1;
    const sti_BodyMass *of = &world->values.body[body];
    STI_TRY(fetch_last_step(model, work));
    double *turned = work->v_new; /* free between steps */
    gather_velocities(world, d->v_before, turned);
    model->table.gyroscopic(model->table.ctx, d->h, d->q_before, turned);
    const double *before = turned + world->body[body].v_first, *after = state->v + world->body[body].v_first;
    *r = sub(scale(of->mass, sub(vec3_load(after), vec3_load(before))),
             scale(d->h * sti_weight(world, body), world->gravity));
    *moment = sti_spin_momentum(of, sub(vec3_load(after + 3), vec3_load(before + 3)));
    for (int e = 0; e < 2 * sti_device_contact_count(work); e++) {
        st_Vec3 push, turn;
        if (contact_impulse(world->scene, d, e / 2, e % 2, &push, &turn) != body) continue;
        *r = sub(*r, push);
        *moment = sub(*moment, turn);
    }
    return ST_OK;
}

/* Weight, the gyroscopic term and contacts; of driven bodies the joint does the rest. Torques in the body's axes as
 * they were. */
st_Status sti_device_loads(const sti_Model *model, const sti_State *state, const sti_StepWork *work, st_BodyLoad *out,
                           int count)
{
    const sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    if (!work->device_has_state) return ST_OK;
    STI_TRY(fetch_last_step(model, work));
    double *turned = work->v_new; /* free between steps */
    gather_velocities(world, d->v_before, turned);
    model->table.gyroscopic(model->table.ctx, d->h, d->q_before, turned);
    for (int b = 1; b <= count; b++) {
        const sti_Body *body = &world->body[b];
        if (body->n_dofs == 0) continue;
        const st_Vec3 change =
            sub(vec3_load(turned + body->v_first + 3), vec3_load(d->v_before + (int64_t)6 * (b - 1) + 3));
        out[b - 1].force[ST_LOAD_WEIGHT] = scale(sti_weight(world, b), world->gravity);
        out[b - 1].torque[ST_LOAD_GYROSCOPIC] = scale(1 / d->h, sti_spin_momentum(&world->values.body[b], change));
    }
    for (int e = 0; e < 2 * sti_device_contact_count(work); e++) {
        st_Vec3 r, moment;
        const int body = contact_impulse(world->scene, d, e / 2, e % 2, &r, &moment);
        if (body == 0 || body > count || world->body[body].n_dofs == 0 || d->part[body] == STI_PART_MECHANISM) continue;
        add_load(d, body, ST_LOAD_CONTACT, r, moment, &out[body - 1]);
    }
    for (int k = 0; k < d->n_driven; k++) {
        const int body = d->driven_body[k] + 1;
        st_Vec3 r, moment;
        if (body > count) continue;
        STI_TRY(drive_impulse(model, state, work, k, &r, &moment));
        add_load(d, body, ST_LOAD_JOINT, r, moment, &out[body - 1]);
    }
    if (d->mechanisms == NULL) return ST_OK;
    const st_System *beside = sti_mechanisms_system(d->mechanisms);
    const int n = sti_first_rotor(beside->model.world) - 1;
    st_BodyLoad *of = sti_alloc(&model->allocator, n, sizeof *of);
    if (of == NULL) return ST_ERR_MEMORY;
    const st_Status status = st_system_loads(beside, of, n, NULL);
    for (int b = 1; b <= n && status == ST_OK; b++) {
        const int body = sti_mechanisms_body(d->mechanisms, b);
        if (body <= count && d->part[body] == STI_PART_MECHANISM) out[body - 1] = of[b - 1];
    }
    sti_free(&model->allocator, of, n, sizeof *of);
    return status;
}

st_Status sti_device_spring(const sti_StepWork *work, int index, st_SpringReport *out)
{
    if (!work->device_has_state || work->on_device->mechanisms == NULL) return ST_OK; /* both ends are fixed */
    return st_system_spring(sti_mechanisms_system(work->on_device->mechanisms), (st_SpringId){index + 1}, out);
}

static bool is_driven(const sti_OnDevice *d, int joint)
{
    bool driven = false;
    for (int k = 0; k < d->n_driven; k++)
        driven = driven || d->driven_joint[k] == joint;
    return driven;
}

st_Status sti_device_joint(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                           st_Frame frame, st_JointReport *out)
{
    const sti_OnDevice *d = work->on_device;
    const sti_World *world = model->world;
    const sti_Joint *joint = &world->joint[index];
    if (!is_driven(d, index) && work->device_has_state && d->mechanisms != NULL)
        return st_system_joint(sti_mechanisms_system(d->mechanisms), (st_JointId){index + 1}, frame, out);
    out->error = joint_error_at(model, state, index);
    for (int k = 0; k < d->n_driven && work->device_has_state; k++) {
        if (d->driven_joint[k] != index) continue;
        const int body = d->driven_body[k] + 1;
        const double sign = joint->b == body ? 1 : -1; /* of the action of a on b */
        st_Vec3 r, moment;
        STI_TRY(drive_impulse(model, state, work, k, &r, &moment));
        const st_Pose pose = sti_pose(d->q_before, body), a = sti_pose(d->q_before, joint->a);
        const st_Vec3 lever = sub(sti_joint_point(world, index, d->q_before), pose.p),
                      axis = rotate(a.q, joint->frame_a[2]);
        out->impulse = scale(sign, r);
        out->angular_impulse = scale(sign, sub(rotate(pose.q, moment), cross(lever, r)));
        const bool turns = joint->type == ST_JOINT_REVOLUTE;
        const double motor = dot(turns ? out->angular_impulse : out->impulse, axis);
        if (frame == ST_FRAME_A) {
            out->impulse = rotate_back(a.q, out->impulse);
            out->angular_impulse = rotate_back(a.q, out->angular_impulse);
        }
        out->struck = d->hit[body] != 0;
        if (out->struck) {
            out->impact = out->impulse;
            out->angular_impact = out->angular_impulse;
            continue;
        }
        out->force = scale(1 / d->h, out->impulse);
        out->torque = scale(1 / d->h, out->angular_impulse);
        out->motor = motor / d->h;
    }
    return ST_OK;
}

st_Status sti_device_joint_means(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                                 double *motor, double *limit)
{
    const sti_OnDevice *d = work->on_device;
    const sti_Joint *joint = &model->world->joint[index];
    st_JointReport r;
    *motor = *limit = 0;
    if (!work->device_has_state) return ST_OK;
    if (!is_driven(d, index)) {
        if (d->mechanisms == NULL) return ST_OK;
        const st_System *beside = sti_mechanisms_system(d->mechanisms);
        return sti_joint_means(&beside->model, &beside->state, &beside->work, index, motor, limit);
    }
    STI_TRY(sti_joint_report(model, state, work, index, ST_FRAME_A, &r));
    *motor = dot(joint->type == ST_JOINT_REVOLUTE ? r.angular_impulse : r.impulse, joint->frame_a[2]) / d->h;
    return ST_OK;
}
