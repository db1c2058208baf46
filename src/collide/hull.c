/* collide/hull.c -- convex hulls by qhull (Barber, Dobkin & Huhdanpaa 1996), as faces, edges and corners.
 *
 * qhull merges facets that are coplanar up to rounding, so a cube comes out with six faces of four corners. Corners
 * of a face are sorted by their angle about its middle.
 */
#include "collide/shape.h"
#include "collide/validate.h"

#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <stdlib.h>

/* A hull thinner than this part of its size is flat: its faces would have no direction. */
#define FLAT 1e-9

typedef struct Corner {
    double angle;
    int vertex;
} Corner;

static int by_angle(const void *x, const void *y)
{
    const Corner *a = x, *b = y;
    return a->angle < b->angle ? -1 : a->angle > b->angle;
}

/* A side of a face. */
typedef struct HalfEdge {
    int low, high; /* its ends                                                                     */
    int face, at;  /* its face, and the corner it begins with */
    bool turned;   /* the loop runs from high to low                                               */
} HalfEdge;

static int hull_by_ends(const void *x, const void *y)
{
    const HalfEdge *a = x, *b = y;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Memory for everything in one block: n vertices make at most 2 n - 4 faces, 3 n - 6 edges, 6 n - 12 corners. */
typedef struct Room {
    st_Vec3 *vertex, *normal;
    double *offset;
    int *face_first, *face_vertex, *edge, *spoke_first, *spoke;
} Room;

/* Scratch memory. */
typedef struct Work {
    int *number;     /* vertex number of each point */
    Corner *corner;  /* corners of a face */
    HalfEdge *half;  /* of all faces, sorted by their ends */
    int *beside;     /* of each corner of a face: the face across the edge that begins there, -1: none */
    int n, vertices; /* number of points, and of vertices among them */
} Work;

static int64_t most_corners(const Work *work)
{
    return 6 * (int64_t)work->vertices;
}

static st_Status make_work(const st_Allocator *allocator, Work *work, st_Error *err)
{
    work->number = sti_alloc(allocator, work->n, sizeof *work->number);
    work->corner = sti_alloc(allocator, work->vertices, sizeof *work->corner);
    work->half = sti_alloc(allocator, most_corners(work), sizeof *work->half);
    work->beside = sti_alloc(allocator, most_corners(work), sizeof *work->beside);
    if (work->number == NULL || work->corner == NULL || work->half == NULL || work->beside == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a hull of %d points", work->n);
    return ST_OK;
}

static st_Status fail_thin(st_Error *err)
{
    return sti_fail(err, ST_ERR_ARGUMENT, "the hull of its points is too thin to tell its faces apart");
}

static st_Status take_faces(qhT *qh, const st_Vec3 *points, const Work *work, sti_Hull *hull, Room *room, st_Error *err)
{
    sti_Facets *f = &hull->facets;
    for (const vertexT *vertex = qh->vertex_list; vertex != NULL && vertex->next != NULL; vertex = vertex->next)
        work->number[qh_pointid(qh, vertex->point)] = 1;
    for (int k = 0; k < work->n; k++) /* corners in the given order */
        if (work->number[k] != 0) {
            work->number[k] = f->n_vertices;
            room->vertex[f->n_vertices++] = points[k];
        }
    f->vertex = room->vertex, f->normal = room->normal, f->offset = room->offset;
    f->face_first = room->face_first, f->face_vertex = room->face_vertex, f->edge = room->edge;
    f->spoke_first = room->spoke_first, f->spoke = room->spoke;
    for (facetT *facet = qh->facet_list; facet != NULL && facet->next != NULL; facet = facet->next) {
        /* Adds one face, with its corners in order about its middle. */
        Corner *corner = work->corner;
        const int first = room->face_first[f->n_faces];
        int n_corners = 0;
        st_Vec3 middle = vec3(0, 0, 0), normal = vec3_load(facet->normal);
        vertexT *vertex, **vertexp;
        FOREACHvertex_(facet->vertices)
        {
            if (n_corners == work->vertices || first + n_corners == most_corners(work) ||
                f->n_faces == 2 * work->vertices)
                return fail_thin(err); /* more than Euler's formula allows for so many vertices */
            corner[n_corners].vertex = work->number[qh_pointid(qh, vertex->point)];
            middle = add(middle, room->vertex[corner[n_corners].vertex]);
            n_corners++;
        }
        middle = scale(1.0 / n_corners, middle);
        st_Vec3 x = orthogonal(normal), y = cross(normal, x);
        double highest = -INFINITY;
        for (int k = 0; k < n_corners; k++) {
            st_Vec3 d = sub(room->vertex[corner[k].vertex], middle);
            corner[k].angle = atan2(dot(y, d), dot(x, d));
            highest = fmax(highest, dot(normal, room->vertex[corner[k].vertex]));
        }
        qsort(corner, (size_t)n_corners, sizeof *corner, by_angle);
        for (int k = 0; k < n_corners; k++)
            room->face_vertex[first + k] = corner[k].vertex;
        room->normal[f->n_faces] = normal;
        room->offset[f->n_faces] = highest;
        room->face_first[++f->n_faces] = first + n_corners;
    }

    /* Each edge once: from the face whose loop has its direction to the face whose loop is opposite. */
    /* Finds the face across each edge: two loops have an edge in opposite directions. */
    const int n = room->face_first[f->n_faces];
    for (int a = 0; a < f->n_faces; a++)
        for (int k = room->face_first[a]; k < room->face_first[a + 1]; k++) {
            int next = k + 1 < room->face_first[a + 1] ? k + 1 : room->face_first[a];
            int i = room->face_vertex[k], j = room->face_vertex[next];
            work->half[k] = (HalfEdge){i < j ? i : j, i < j ? j : i, a, k, i > j};
            work->beside[k] = -1;
        }
    qsort(work->half, (size_t)n, sizeof *work->half, hull_by_ends);
    for (int k = 0; k + 1 < n; k++) {
        const HalfEdge *x = &work->half[k], *y = x + 1;
        if (x->low != y->low || x->high != y->high || x->turned == y->turned) continue;
        work->beside[x->at] = y->face, work->beside[y->at] = x->face;
    }

    for (int a = 0; a < f->n_faces; a++)
        for (int k = room->face_first[a]; k < room->face_first[a + 1]; k++) {
            int next = k + 1 < room->face_first[a + 1] ? k + 1 : room->face_first[a];
            int i = room->face_vertex[k], j = room->face_vertex[next];
            if (i > j) continue;
            if (work->beside[k] < 0 || f->n_edges >= 3 * f->n_vertices) return fail_thin(err);
            int *edge = room->edge + (ptrdiff_t)4 * f->n_edges++;
            edge[0] = i, edge[1] = j, edge[2] = a, edge[3] = work->beside[k];
        }

    /* The edges at each vertex, sorted by number. */
    for (int v = 0; v <= f->n_vertices; v++)
        room->spoke_first[v] = 0;
    for (int k = 0; k < f->n_edges; k++)
        room->spoke_first[room->edge[4 * k]]++, room->spoke_first[room->edge[4 * k + 1]]++;
    for (int v = 0; v < f->n_vertices; v++)
        room->spoke_first[v + 1] += room->spoke_first[v];
    for (int k = f->n_edges - 1; k >= 0; k--) /* from the end, so that each ends at its start */
        for (int end = 0; end < 2; end++)
            room->spoke[--room->spoke_first[room->edge[4 * k + end]]] = k;
    return f->n_vertices - f->n_edges + f->n_faces == 2 ? ST_OK : fail_thin(err);
}

static st_Status take_result(qhT *qh, const st_Vec3 *points, int n, const st_Allocator *allocator, sti_Hull *hull,
                             st_Error *err)
{
    Room room = {0};
    Work work = {.n = n, .vertices = qh->num_vertices};
    size_t vectors = (size_t)qh->num_vertices * 3 * sizeof(st_Vec3),
           numbers = (size_t)qh->num_vertices * 2 * sizeof(double);
    size_t integers = (size_t)qh->num_vertices * (3 + 7 + 4 * 3 + 2 + 2 * 3) * sizeof(int);
    hull->bytes = (int64_t)(vectors + numbers + integers);
    char *memory = hull->memory = sti_alloc(allocator, hull->bytes, 1);
    if (memory == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a hull of %d points", qh->num_vertices);
    room.vertex = (st_Vec3 *)memory;
    room.normal = room.vertex + qh->num_vertices;
    room.offset = (void *)(memory + vectors);
    room.face_first = (int *)(memory + vectors + numbers);
    room.face_vertex = room.face_first + (ptrdiff_t)3 * qh->num_vertices;
    room.edge = room.face_vertex + (ptrdiff_t)7 * qh->num_vertices;
    room.spoke_first = room.edge + (ptrdiff_t)4 * 3 * qh->num_vertices;
    room.spoke = room.spoke_first + (ptrdiff_t)2 * qh->num_vertices;
    st_Status status = make_work(allocator, &work, err);
    if (status == ST_OK) status = take_faces(qh, points, &work, hull, &room, err);
    sti_free(allocator, work.number, work.n, sizeof *work.number);
    sti_free(allocator, work.corner, work.vertices, sizeof *work.corner);
    sti_free(allocator, work.half, most_corners(&work), sizeof *work.half);
    sti_free(allocator, work.beside, most_corners(&work), sizeof *work.beside);
    return status;
}

st_Status sti_hull_create(const st_Vec3 *points, int n, const st_Allocator *allocator, sti_Hull **out, st_Error *err)
{
    *out = NULL;
    /* The size of the points, and their least spread: by the farthest point from the first, from the line through both,
     * and from the plane through three. */
    if (points == NULL || n < 4) return sti_fail(err, ST_ERR_ARGUMENT, "a hull needs at least 4 points, has %d", n);
    STI_TRY(sti_check_points(points, n, err));
    int far[3] = {0, 0, 0};
    double most[3] = {0, 0, 0};
    for (int k = 0; k < n; k++)
        if (norm(sub(points[k], points[0])) > most[0]) most[0] = norm(sub(points[k], points[0])), far[0] = k;
    st_Vec3 u = sub(points[far[0]], points[0]);
    for (int k = 0; k < n && most[0] > 0; k++) {
        double d = norm(cross(u, sub(points[k], points[0]))) / most[0];
        if (d > most[1]) most[1] = d, far[1] = k;
    }
    st_Vec3 w = cross(u, sub(points[far[1]], points[0]));
    for (int k = 0; k < n && most[1] > 0; k++)
        most[2] = fmax(most[2], fabs(dot(w, sub(points[k], points[0]))) / norm(w));
    if (!(most[2] > FLAT * most[0])) {
        static const char *const found[3] = {"all points coincide", "all points lie on a line",
                                             "all points lie in a plane"};
        int dimension = !(most[0] > 0) ? 0 : !(most[1] > FLAT * most[0]) ? 1 : 2;
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: the hull has no volume", found[dimension]);
    }
    sti_Hull *hull = sti_alloc(allocator, 1, sizeof *hull);
    coordT *copy = sti_alloc(allocator, 3 * (int64_t)n, sizeof *copy);

    /* qhull must write its messages to a file. */
    FILE *file = fopen("/dev/null", "w");
    if (file == NULL) file = tmpfile();
    FILE *silent = file;
    qhT *qh = sti_alloc(allocator, 1, sizeof *qh);
    st_Status status = ST_ERR_MEMORY;
    if (hull == NULL || copy == NULL || qh == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for a hull of %d points", n);
        goto done;
    }
    if (silent == NULL) {
        status = sti_fail(err, ST_ERR_FILE, "neither /dev/null nor a temporary file can be opened for what qhull says");
        goto done;
    }
    /* scaled by a power of two near their size, so that qhull finds the same faces in the same order for any unit */
    double largest = 0;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fmax(fabs(points[k].x), fmax(fabs(points[k].y), fabs(points[k].z))));
    const double unit = largest > 0 ? scalbn(1, -ilogb(largest)) : 1;
    for (int k = 0; k < n; k++)
        vec3_store(copy + 3 * (ptrdiff_t)k, scale(unit, points[k]));
    qh_zero(qh, silent);
    char command[] = "qhull Pp";
    if (qh_new_qhull(qh, 3, n, copy, False, command, NULL, silent) != 0)
        status = sti_fail(err, ST_ERR_ARGUMENT, "its %d points have no convex hull with a volume", n);
    else
        status = take_result(qh, points, n, allocator, hull, err);
    qh_freeqhull(qh, !qh_ALL);
    int long_left, long_bytes;
    qh_memfreeshort(qh, &long_left, &long_bytes);
done:
    if (silent != NULL) fclose(silent);
    sti_free(allocator, qh, 1, sizeof *qh);
    sti_free(allocator, copy, 3 * (int64_t)n, sizeof *copy);
    if (status == ST_OK) {
        ST_VALIDATE(sti_facets_are_valid(&hull->facets));
        *out = hull;
    } else {
        sti_hull_free(allocator, hull);
    }
    return status;
}

void sti_hull_free(const st_Allocator *allocator, sti_Hull *hull)
{
    if (hull == NULL) return;
    sti_free(allocator, hull->memory, hull->bytes, 1);
    sti_free(allocator, hull, 1, sizeof *hull);
}
