/* collide/mesh/mesh_overlap.c -- two solid meshes that intersect: contact points, normals and depths.
 *
 * The least translation that separates two solids depends on all of both. A step needs the places where they overlap
 * locally, and by how much. A contact point here is one of
 *
 *     corner    a vertex p of one, with the nearest point c of the other's surface:      depth |c - p|, along c - p
 *     crossing  a convex edge of each, with their nearest points p_a, p_b:               depth |p_a - p_b|, along that
 *
 * The direction is used only if the feature points out of its own solid in that direction, that is if it is in the
 * polar of the solid's tangent cone there, up to an angle: a cube's lower corner leaves another cube through its
 * top, not through the side that is flush with it. A depth g is used only if it is plausible: within 2 g of p the
 * solid's surface must have a point that is inside the other and at least g/2 from its surface. So no point is
 * deeper than twice its surroundings. If no such feature is found, the deepest vertex by distance is the contact; if
 * no vertex is inside, the middle between the surfaces where they cross. Just outside, the same features count with
 * a positive gap: corners of a face that touches elsewhere.
 */
#include "collide/mesh/mesh_overlap.h"

#include "collide/mesh/inside.h"

#include <stdlib.h>

/* A feature points out along n up to this angle [rad], the same as for faces that face each other (feature.c). */
#define STICKS_OUT 0.2
#define EXACTLY    1e-6
/* Accuracy of points on features, relative to size. */
#define TINY 1e-9

typedef struct Overlap {
    const sti_Mesh *mesh[2]; /* a and b                                                            */
    st_Pose pose[2];         /* relative to the origin */
    double size;             /* of the smaller mesh */
    double margin;
    st_Vec3 origin;
    int first;
    sti_Points *out;
    st_Error *err;
} Overlap;

/* A point of the surface of solid `of`, and the surface around it, in its own axes. */
typedef struct Feature {
    int of;
    st_Vec3 p;        /* about the origin                                                          */
    double slack;     /* it points out along n up to this angle */
    int vertex;       /* -1: on an edge                                                            */
    st_Vec3 along[4]; /* edge: unit vectors into both triangles, and along it in both directions */
    int n_targets;
    st_Vec3 target[4]; /* edge: points of the adjacent triangles, relative to the origin */
} Feature;

static st_Vec3 placed(const Overlap *o, int of, int vertex)
{
    return pose_point(o->pose[of], o->mesh[of]->vertex[vertex]);
}

static st_Vec3 in_axes_of(const Overlap *o, int of, st_Vec3 p)
{
    return rotate_back(o->pose[of].q, sub(p, o->pose[of].p));
}

/* Does the feature point out along n? */
static bool sticks_out(const Overlap *o, const Feature *f, st_Vec3 n)
{
    const sti_Mesh *mesh = o->mesh[f->of];
    st_Vec3 d = rotate_back(o->pose[f->of].q, n);
    if (f->vertex < 0) {
        for (int k = 0; k < 4; k++)
            if (dot(d, f->along[k]) > f->slack) return false;
        return true;
    }
    for (int s = mesh->spoke_first[f->vertex]; s < mesh->spoke_first[f->vertex + 1]; s++) {
        st_Vec3 way = sub(mesh->vertex[mesh->spoke[s]], mesh->vertex[f->vertex]);
        double along = dot(d, way);
        if (along > 0 && along * along > f->slack * f->slack * dot(way, way)) return false;
    }
    return true;
}

/* ---- paths to the surface of the other solid -------------------------------------------------------- */

typedef struct Way {
    const Overlap *overlap;
    const Feature *feature; /* NULL: any direction is allowed */
    const sti_Mesh *mesh;   /* mesh of the other solid */
    st_Vec3 p;              /* in its axes                                                         */
    bool inside;
    double within;
    int triangle;  /* -1: none found                                                                */
    st_Vec3 on, n; /* out of the other solid, in its axes */
} Way;

/* Of equally near ones the lower number is taken, in any order of visits. */
static bool overlap_try_way(void *ctx, int item)
{
    Way *way = ctx;
    const sti_Triangle *t = &way->mesh->triangle[item];
    st_Vec3 on = sti_mesh_nearest(way->mesh, item, way->p), d = way->inside ? sub(on, way->p) : sub(way->p, on);
    double distance = norm(d);
    if (distance > way->within || (distance == way->within && item > way->triangle)) return true;
    st_Vec3 n = distance > TINY * way->overlap->size ? scale(1 / distance, d) : t->normal;
    if (!(dot(n, t->normal) > 0)) return true;
    const Feature *f = way->feature;
    if (f != NULL && !sticks_out(way->overlap, f, rotate(way->overlap->pose[1 - f->of].q, scale(-1, n)))) return true;
    way->within = distance, way->triangle = item, way->on = on, way->n = n;
    return true;
}

/* The shortest path from p to the surface of solid `other`, at most `within` long. */
static Way overlap_way_to(const Overlap *o, int other, st_Vec3 p, bool inside, double within, const Feature *feature)
{
    Way way = {
        .overlap = o, .feature = feature, .mesh = o->mesh[other], .inside = inside, .within = within, .triangle = -1};
    way.p = in_axes_of(o, other, p);
    sti_Bounds at = {way.p, way.p};
    sti_tree_near(&way.mesh->tree, &at, &way.within, overlap_try_way, &way);
    return way;
}

static bool overlap_is_inside(const Overlap *o, int other, st_Vec3 p)
{
    st_Vec3 local = in_axes_of(o, other, p);
    return sti_mesh_holds(o->mesh[other], local);
}

/* Is p inside the other solid, and at least g from its surface? */
static bool is_deep(const Overlap *o, int other, st_Vec3 p, double g)
{
    return overlap_way_to(o, other, p, true, g * (1 - 1e-9), NULL).triangle < 0 && overlap_is_inside(o, other, p);
}

static st_Vec3 towards(st_Vec3 p, st_Vec3 target, double by)
{
    st_Vec3 way = sub(target, p);
    double length = norm(way);
    return length > 0 ? add(p, scale(fmin(by / length, 0.9), way)) : p;
}

/* Is a point of the feature's surface, within 2 g of it, at least g/2 deep? */
static bool is_warranted(const Overlap *o, const Feature *f, double g)
{
    const sti_Mesh *mesh = o->mesh[f->of];
    if (is_deep(o, 1 - f->of, f->p, 0.5 * g)) return true;
    for (int k = 0; k < f->n_targets; k++)
        if (is_deep(o, 1 - f->of, towards(f->p, f->target[k], 2 * g), 0.5 * g)) return true;
    if (f->vertex < 0) return false;
    for (int s = mesh->spoke_first[f->vertex]; s < mesh->spoke_first[f->vertex + 1]; s += 2) { /* two per triangle */
        st_Vec3 u = placed(o, f->of, mesh->spoke[s]), w = placed(o, f->of, mesh->spoke[s + 1]);
        if (is_deep(o, 1 - f->of, towards(f->p, scale(0.5, add(u, w)), 2 * g), 0.5 * g)) return true;
    }
    return false;
}

/* ---- points ---------------------------------------------------------------------------------------- */

static st_Status overlap_add_point(const Overlap *o, double gap, st_Vec3 on_b, st_Vec3 n, uint32_t feature)
{
    st_Vec3 at = add(o->origin, on_b);
    for (int k = o->first; k < o->out->n; k++)
        if (norm(sub(o->out->point[k].point, at)) <= 1e-7 * o->size && norm(sub(o->out->point[k].normal, n)) <= 1e-6)
            return ST_OK; /* a corner of both, or a point on an edge of it */
    return sti_points_add(o->out, (sti_ContactPoint){gap, at, n, feature % STI_FEATURES}, o->err);
}

/* Adds a feature of one solid and the point where it leaves the other. */
static st_Status add_way(const Overlap *o, int of, st_Vec3 p, const Way *way, uint32_t feature)
{
    int other = 1 - of;
    st_Vec3 n = rotate(o->pose[other].q, way->n), on = pose_point(o->pose[other], way->on);
    double gap = way->inside ? -way->within : way->within;
    return overlap_add_point(o, gap, of == 1 ? p : on, of == 1 ? n : scale(-1, n), feature);
}

static st_Status overlap_try_corner(const Overlap *o, int of, int vertex)
{
    Feature f = {.of = of, .p = placed(o, of, vertex), .slack = STICKS_OUT, .vertex = vertex};
    bool inside = overlap_is_inside(o, 1 - of, f.p);
    Way way = overlap_way_to(o, 1 - of, f.p, inside, inside ? INFINITY : o->margin, &f);
    if (way.triangle < 0 || (!inside && !(way.within < o->margin))) return ST_OK;
    if (inside && way.within > TINY * o->size && !is_warranted(o, &f, way.within)) return ST_OK;
    return add_way(o, of, f.p, &way, (uint32_t)of << 18 | ((uint32_t)vertex & 0x3ffff));
}

/* ---- crossings ------------------------------------------------------------------------------------- */

/* A convex edge in the common axes. */
typedef struct Edge {
    int of, triangle, side;
    st_Vec3 end[2], way; /* unit                                                                   */
    double length;
    st_Vec3 normal; /* of both triangles together                                                  */
} Edge;

static bool is_convex_edge(const sti_Mesh *mesh, int t, int side)
{
    return mesh->triangle[t].bend[side] == STI_EDGE_CONVEX;
}

static Edge edge_of(const Overlap *o, int of, int t, int side)
{
    const sti_Triangle *triangle = &o->mesh[of]->triangle[t];
    Edge e = {.of = of, .triangle = t, .side = side};
    e.end[0] = placed(o, of, triangle->vertex[side]);
    e.end[1] = placed(o, of, triangle->vertex[(side + 1) % 3]);
    e.way = sub(e.end[1], e.end[0]);
    e.length = norm(e.way);
    e.way = scale(1 / e.length, e.way);
    st_Vec3 both = add(triangle->normal, o->mesh[of]->triangle[triangle->neighbour[side]].normal);
    e.normal = rotate(o->pose[of].q, both);
    return e;
}

/* The feature at a point of an edge. */
static Feature on_edge(const Overlap *o, const Edge *e, st_Vec3 p)
{
    const sti_Mesh *mesh = o->mesh[e->of];
    const sti_Triangle *t = &mesh->triangle[e->triangle], *next = &mesh->triangle[t->neighbour[e->side]];
    st_Vec3 way = rotate_back(o->pose[e->of].q, e->way);
    Feature f = {.of = e->of, .p = p, .slack = STICKS_OUT, .vertex = -1, .n_targets = 4};
    f.along[0] = cross(t->normal, way), f.along[1] = cross(way, next->normal);
    f.along[2] = way, f.along[3] = scale(-1, way);
    int side = 0; /* of the next triangle, along the edge */
    while (side < 2 && next->neighbour[side] != e->triangle)
        side++;
    const int opposite = next->neighbour[side] == e->triangle ? next->vertex[(side + 2) % 3] : next->vertex[0];
    st_Vec3 tip[2] = {placed(o, e->of, t->vertex[(e->side + 2) % 3]), placed(o, e->of, opposite)};
    for (int k = 0; k < 4; k++)
        f.target[k] = scale(0.5, add(tip[k / 2], e->end[k % 2]));
    return f;
}

/* Is the surface nearest to p, which is g below the edge along n, one of the edge's own triangles? */
static bool is_nearest(const Overlap *o, const Edge *e, st_Vec3 p, st_Vec3 n, double g)
{
    const sti_Triangle *t = &o->mesh[e->of]->triangle[e->triangle];
    st_Vec3 d = rotate_back(o->pose[e->of].q, n);
    double own = g * fmin(dot(d, t->normal), dot(d, o->mesh[e->of]->triangle[t->neighbour[e->side]].normal));
    return own > 0.01 * g && overlap_way_to(o, e->of, p, true, own * (1 - 1e-6), NULL).triangle < 0;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

static int overlap_by_number(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return a < b ? -1 : a > b;
}

typedef struct Found {
    sti_Points *points; /* the list to which they are added */
    st_Status status;
    st_Error *err;
} Found;

static bool overlap_note(void *ctx, int item)
{
    Found *found = ctx;
    sti_Points *p = found->points;
    found->status = STI_GROW(&p->allocator, p->list, p->list_capacity, p->n_list + 1, found->err);
    if (found->status == ST_OK) p->list[p->n_list++] = item;
    return found->status == ST_OK;
}

st_Status sti_mesh_near(const sti_Mesh *mesh, const sti_Bounds *bounds, sti_Points *points, st_Error *err)
{
    Found found = {points, ST_OK, err};
    int first = points->n_list;
    if (sti_stopped(points->stop)) return sti_fail(err, ST_ERR_CANCELLED, "cancelled while looking for contacts");
    sti_tree_query(&mesh->tree, bounds, overlap_note, &found);
    if (points->n_list > first + 1)
        qsort(points->list + first, (size_t)(points->n_list - first), sizeof *points->list, overlap_by_number);
    return found.status;
}

static st_Status overlap_gather(const Overlap *o, int of, const sti_Bounds *bounds)
{
    return sti_mesh_near(o->mesh[of], bounds, o->out, o->err);
}

/* Appends the vertices of the triangles list[first .. n_list - 1] to the list, each once. */
static st_Status gather_vertices(const Overlap *o, int of, int first, int end)
{
    sti_Points *p = o->out;
    int from = p->n_list, kept = p->n_list;
    STI_TRY(
        STI_GROW(&p->allocator, p->list, p->list_capacity, (int64_t)p->n_list + 3 * (int64_t)(end - first), o->err));
    for (int k = first; k < end; k++)
        for (int i = 0; i < 3; i++)
            p->list[p->n_list++] = o->mesh[of]->triangle[p->list[k]].vertex[i];
    if (p->n_list > from) qsort(p->list + from, (size_t)(p->n_list - from), sizeof(int), overlap_by_number);
    for (int k = from; k < p->n_list; k++)
        if (k == from || p->list[k] != p->list[kept - 1]) p->list[kept++] = p->list[k];
    p->n_list = kept;
    return ST_OK;
}

/* The box of one solid in the axes of the other. */
static sti_Bounds bounds_in(const Overlap *o, int of, int other)
{
    const sti_Bounds *own = &o->mesh[of]->tree.node[0].bounds;
    sti_Bounds out = {vec3(INFINITY, INFINITY, INFINITY), vec3(-INFINITY, -INFINITY, -INFINITY)};
    for (int k = 0; k < 8; k++) {
        st_Vec3 corner =
            vec3(k & 1 ? own->hi.x : own->lo.x, k & 2 ? own->hi.y : own->lo.y, k & 4 ? own->hi.z : own->lo.z);
        st_Vec3 p = in_axes_of(o, other, pose_point(o->pose[of], corner));
        out = bounds_union(out, (sti_Bounds){p, p});
    }
    return out;
}

/* Checks an edge of b against the edges of the triangles of a that are near. */
static st_Status edge_crossings(const Overlap *o, const Edge *b)
{
    st_Vec3 p = in_axes_of(o, 0, b->end[0]), q = in_axes_of(o, 0, b->end[1]);
    sti_Bounds bounds = bounds_grown(bounds_union((sti_Bounds){p, p}, (sti_Bounds){q, q}), o->margin);
    int first = o->out->n_list;
    STI_TRY(overlap_gather(o, 0, &bounds));
    for (int k = first; k < o->out->n_list; k++)
        for (int side = 0; side < 3; side++) {
            if (!is_convex_edge(o->mesh[0], o->out->list[k], side)) continue;
            Edge a = edge_of(o, 0, o->out->list[k], side);
            st_Vec3 n = cross(a.way, b->way), from = sub(b->end[0], a.end[0]);
            double square = dot(n, n);
            if (square < 1e-12) continue;
            double s = dot(cross(from, b->way), n) / square, t = dot(cross(from, a.way), n) / square;
            if (s < 0 || s > a.length || t < 0 || t > b->length) continue;
            n = scale((dot(n, a.normal) < 0 ? -1 : 1) / sqrt(square), n);
            Feature on_a = on_edge(o, &a, add(a.end[0], scale(s, a.way)));
            Feature on_b = on_edge(o, b, add(b->end[0], scale(t, b->way)));
            double gap = dot(n, sub(on_b.p, on_a.p));
            if (!(gap < o->margin) || !sticks_out(o, &on_a, n) || !sticks_out(o, &on_b, scale(-1, n))) continue;
            if (gap < -TINY * o->size) {
                if (!overlap_is_inside(o, 0, on_b.p) || !overlap_is_inside(o, 1, on_a.p)) continue;
                bool nearest = is_nearest(o, &a, on_b.p, n, -gap) && is_nearest(o, b, on_a.p, scale(-1, n), -gap);
                if (!nearest && !is_warranted(o, &on_a, -gap) && !is_warranted(o, &on_b, -gap)) continue;
            }
            uint32_t number = (uint32_t)(3 * a.triangle + a.side) * 611u + (uint32_t)(3 * b->triangle + b->side);
            STI_TRY(overlap_add_point(o, gap, on_b.p, n, 2u << 18 | (number & 0x7ffff)));
        }
    o->out->n_list = first;
    return ST_OK;
}

static st_Status crossings(const Overlap *o)
{
    sti_Bounds bounds = bounds_grown(bounds_in(o, 0, 1), o->margin);
    const sti_Mesh *mesh = o->mesh[1];
    o->out->n_list = 0;
    STI_TRY(overlap_gather(o, 1, &bounds));
    int triangles = o->out->n_list;
    for (int k = 0; k < triangles; k++)
        for (int side = 0; side < 3; side++) {
            int t = o->out->list[k];
            if (!is_convex_edge(mesh, t, side) || mesh->triangle[t].neighbour[side] < t) continue;
            Edge b = edge_of(o, 1, t, side);
            STI_TRY(edge_crossings(o, &b));
        }
    return ST_OK;
}

/* ---- fallback ---------------------------------------------------------------------------------------- */

/* The point between the surfaces where they cross, out of the nearer one: it gives at least the sign. */
static st_Status overlap_middle(const Overlap *o, const st_Vec3 meeting[2])
{
    st_Vec3 p = meeting[0];
    Way way[2];
    for (int other = 0; other < 2; other++)
        way[other] = overlap_way_to(o, other, p, true, INFINITY, NULL);
    int other = way[0].triangle >= 0 && !(way[1].triangle >= 0 && way[1].within < way[0].within) ? 0 : 1;
    if (overlap_is_inside(o, 0, p) && overlap_is_inside(o, 1, p) && way[other].triangle >= 0)
        return add_way(o, 1 - other, p, &way[other], 0);
    p = meeting[1];
    Way near = overlap_way_to(o, 0, p, false, INFINITY, NULL);
    st_Vec3 n = near.triangle >= 0 ? o->mesh[0]->triangle[near.triangle].normal : vec3(0, 0, 1);
    return overlap_add_point(o, -TINY * o->size, p, rotate(o->pose[0].q, n), 0);
}

/* ---- points that another way out resolves ------------------------------------------------------------- */

static int by_depth(const void *x, const void *y)
{
    const sti_ContactPoint *p = x, *q = y;
    if (p->gap != q->gap) return p->gap > q->gap ? -1 : 1;
    return p->feature < q->feature ? -1 : p->feature > q->feature;
}

static bool has_overlap(const Overlap *o)
{
    for (int k = o->first; k < o->out->n; k++)
        if (o->out->point[k].gap < TINY * o->size) return true; /* or at least a touch */
    return false;
}

st_Status sti_overlap(const sti_Mesh *a, st_Pose pose_a, const sti_Mesh *b, st_Pose pose_b, const st_Vec3 meeting[2],
                      st_Vec3 origin, const sti_Collide *how, sti_Points *out, st_Error *err)
{
    Overlap o = {{a, b}, {pose_a, pose_b}, 0, fmax(how->margin, 0), origin, out->n, out, err};
    const sti_Bounds *box[2] = {&a->tree.node[0].bounds, &b->tree.node[0].bounds};
    o.size = fmin(norm(sub(box[0]->hi, box[0]->lo)), norm(sub(box[1]->hi, box[1]->lo)));
    o.margin = fmin(o.margin, o.size); /* farther features are unrelated to the overlap */
    for (int of = 0; of < 2; of++) {
        sti_Bounds bounds = bounds_grown(bounds_in(&o, 1 - of, of), o.margin);
        o.out->n_list = 0;
        STI_TRY(overlap_gather(&o, of, &bounds));
        int triangles = o.out->n_list;
        STI_TRY(gather_vertices(&o, of, 0, triangles));
        for (int k = triangles; k < o.out->n_list; k++)
            STI_TRY(overlap_try_corner(&o, of, o.out->list[k]));
    }
    STI_TRY(crossings(&o));
    /* Goes through overlapping points from the shallow to the deep, and drops those that the way out of a shallower one
     * resolves: for two convex solids none is deeper than the least translation that separates them. */
    sti_ContactPoint *point = o.out->point;
    int kept = o.first;
    if (o.out->n - o.first >= 2) {
        qsort(point + o.first, (size_t)(o.out->n - o.first), sizeof *point, by_depth);
        for (int k = o.first; k < o.out->n; k++) {
            const st_Vec3 on_b = sub(point[k].point, o.origin), on_a = sub(on_b, scale(point[k].gap, point[k].normal));
            bool settled = false;
            for (int j = o.first; j < kept && !settled && point[k].gap < -TINY * o.size; j++) {
                if (!(point[j].gap < 0 && point[j].gap > (1 - 1e-6) * point[k].gap)) continue;
                const st_Vec3 way = scale(
                    -point[j].gap, point[j].normal); /* move b out of a by point j: are both features then outside? */
                settled = !overlap_is_inside(&o, 0, add(on_b, way)) && !overlap_is_inside(&o, 1, sub(on_a, way));
            }
            if (!settled) point[kept++] = point[k];
        }
        o.out->n = kept;
    }
    if (meeting != NULL && !has_overlap(&o)) {
        /* The vertex inside the other solid that is farthest from its surface. */
        Way deepest = {.triangle = -1};
        st_Vec3 at = {0, 0, 0};
        int whose = 0;
        for (int of = 0; of < 2; of++) {
            sti_Bounds bounds = bounds_in(&o, 1 - of, of);
            o.out->n_list = 0;
            STI_TRY(overlap_gather(&o, of, &bounds));
            int triangles = o.out->n_list;
            STI_TRY(gather_vertices(&o, of, 0, triangles));
            for (int k = triangles; k < o.out->n_list; k++) {
                st_Vec3 p = placed(&o, of, o.out->list[k]);
                if (!overlap_is_inside(&o, 1 - of, p)) continue;
                Way way = overlap_way_to(&o, 1 - of, p, true, INFINITY, NULL);
                if (way.triangle >= 0 && (deepest.triangle < 0 || way.within > deepest.within))
                    deepest = way, at = p, whose = of;
            }
        }
        if (!(deepest.triangle < 0)) STI_TRY(add_way(&o, whose, at, &deepest, 0));
    }
    if (meeting != NULL && !has_overlap(&o)) STI_TRY(overlap_middle(&o, meeting));
    return ST_OK;
}
