/* record/vtk.c -- writes a recording for ParaView: series of VTP files (XML PolyData) and a PVD file for each.
 *
 *     walls      shapes of the ground and of fixed bodies as triangles, one file for all frames; cells have `body`
 *     bodies     shapes of moving bodies as triangles, spheres and clumps apart; cells have `body` and its `velocity`
 *     grains     one point per sphere of a moving body, drawn as a glyph: `radius`, `body`, and of its body
 *                `orientation` (w, x, y, z), `velocity`, `spin` (body axes), `contacts` (their number), `load` (the sum
 *                of the magnitudes of their forces [N])
 *     clumps     one point per body of several shapes, if at least twenty bodies have its form in any size: as
 *                grains, with `scale` in place of `radius`, and `kind`. The file clump_KIND.vtp has the form at scale 1
 *                in the axes of the body. Written only if there are such bodies
 *     contacts   one point per contact: `force` [N, on b], `normal`, `velocity`, `gap`, `a`, `b`
 *     network    one line per contact, from body to body, or from the contact to the body on the ground; `force` is its
 *                magnitude [N]
 *
 * A grain takes 72 bytes in a frame, 96 as base64; a clump 76 and 102. Arrays are base64 after a count of bytes
 * (UInt32), uncompressed, in this machine's byte order.
 */
#include "math/cell.h"
#include "math/quat.h"
#include "record/text.h"
#include "record/whole_file.h"

#include <errno.h>
#include <stiction/io.h>
#include <sys/stat.h>

#define PATH_SIZE 4096

/* A growing array of floats or int32s. */
typedef struct Column {
    const char *name, *type; /* "Float32", "Int32" */
    int components;
    union {
        float f;
        int32_t i;
    } * value;
    int64_t n, capacity;
} Column;

typedef struct Series {
    const char *name;
    FILE *list; /* the .pvd */
    char list_path[PATH_SIZE];
} Series;

enum { POINTS, CONNECT, OFFSETS, DATA, N_COLUMNS = DATA + 8 };

typedef enum SeriesName { WALLS, BODIES, GRAINS, CONTACTS, NETWORK, CLUMPS, N_SERIES } SeriesName;
/* Largest number of forms of clumps; each body is compared with all of them. Bodies of further forms are written as
 * triangles. */
enum { MOST_KINDS = 64, LEAST_OF_A_KIND = 20 };

/* A shape: a moving sphere is written as a point, others as triangles. */
typedef struct Drawn {
    st_Surface surface; /* in the axes of the shape */
    st_Pose pose;       /* in its body */
    double radius;      /* > 0: a moving sphere, without a surface */
    int body;
    int next; /* next shape of the same body; -1: none */
    bool moves;
} Drawn;

/* A body that is drawn as a glyph. */
typedef struct Clump {
    int first;    /* its first shape, -1: none */
    int kind;     /* 1 .. n_kinds; 0: not a clump */
    double scale; /* size relative to the first body of its kind */
} Clump;

/* The contact forces on a body in a frame. */
typedef struct Load {
    int contacts;
    double force; /* sum of their magnitudes [N] */
} Load;

typedef struct Export {
    st_Recording *recording;
    const st_RecordingInfo *info;
    const char *folder;
    st_Allocator allocator;
    st_Scene *scene;
    st_SystemDef def;
    double size; /* size of the whole scene [m] */
    st_Vec3 *position, *velocity, *spin;
    st_Quat *orientation;
    Load *load; /* n_bodies + 1, the ground first */
    st_RecordedContact *contact;
    int64_t contact_capacity;
    Drawn *shape;
    int n_shapes;
    Clump *clump;                         /* n_bodies + 1, the ground first */
    int n_kinds, example[MOST_KINDS + 1]; /* the first body of each kind */
    Column column[N_COLUMNS];
    int n_columns; /* number in use */
    Series series[N_SERIES];
    st_Status status;
    st_Error *err;
} Export;

/* ---- arrays ------------------------------------------------------------------------------------- */

static void start_columns(Export *e)
{
    for (int k = 0; k < N_COLUMNS; k++)
        e->column[k].n = 0;
    e->column[POINTS].name = "Points";
    e->column[POINTS].type = "Float32";
    e->column[POINTS].components = 3;
    e->column[CONNECT].name = "connectivity";
    e->column[OFFSETS].name = "offsets";
    e->column[CONNECT].type = e->column[OFFSETS].type = "Int32";
    e->column[CONNECT].components = e->column[OFFSETS].components = 1;
    e->n_columns = DATA;
}

static int name_column(Export *e, const char *name, const char *type, int components)
{
    Column *c = &e->column[e->n_columns];
    c->name = name;
    c->type = type;
    c->components = components;
    return e->n_columns++;
}

static bool has_room(Export *e, Column *c)
{
    if (e->status == ST_OK) e->status = STI_GROW(&e->allocator, c->value, c->capacity, c->n + 1, e->err);
    return e->status == ST_OK;
}

static void put_int(Export *e, int column, int64_t value)
{
    Column *c = &e->column[column];
    if (value > INT32_MAX && e->status == ST_OK) /* point numbers have 32 bits */
        e->status = sti_fail(e->err, ST_ERR_UNSUPPORTED, "more than %d points in a frame", INT32_MAX);
    if (has_room(e, c)) c->value[c->n++].i = (int32_t)value;
}

static void put_real(Export *e, int column, double value)
{
    Column *c = &e->column[column];
    if (has_room(e, c)) c->value[c->n++].f = (float)value;
}

static void put_vector3(Export *e, int column, st_Vec3 v)
{
    put_real(e, column, v.x);
    put_real(e, column, v.y);
    put_real(e, column, v.z);
}

static void write_column(Export *e, FILE *file, Column *c)
{
    /* 32 bits would limit it to 4 GiB: about 650 000 spheres */
    const uint64_t bytes = (uint64_t)c->n * 4;
    const int64_t whole = (int64_t)(bytes + sizeof bytes);
    unsigned char *both = sti_alloc(&e->allocator, whole, 1);
    if (both == NULL) {
        if (e->status == ST_OK)
            e->status = sti_fail(e->err, ST_ERR_MEMORY, "out of memory for %lld bytes", (long long)whole);
        return;
    }
    memcpy(both, &bytes, sizeof bytes);
    if (bytes > 0) memcpy(both + sizeof bytes, c->value, bytes);
    fprintf(file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">", c->type, c->name,
            c->components);
    sti_write_base64(file, both, (size_t)whole);
    fputs("</DataArray>\n", file);
    sti_free(&e->allocator, both, whole, 1);
}

/* ---- files -------------------------------------------------------------------------------------- */

/* Writes a line of a list. */
static void list_file(const Series *series, double time, const char *file)
{
    char number[STI_NUMBER_SIZE];
    fprintf(series->list, "<DataSet timestep=\"%s\" part=\"0\" file=\"%s\"/>\n", sti_number(number, time, 17), file);
}

/* Writes one file of a series: points, cells of one kind ("Polys", "Verts", "Lines"), data of points or cells. */
static void write_file(Export *e, const char *name, const char *cells, bool point_data)
{
    static const char *const kinds[] = {"Verts", "Lines", "Polys"};
    const uint16_t one = 1;
    char path[PATH_SIZE];
    FILE *file = NULL;
    if (e->status != ST_OK) return;
    snprintf(path, sizeof path, "%s/%s", e->folder, name);
    e->status = sti_file_open(path, &file, e->err);
    if (e->status != ST_OK) return;
    long long n_cells = (long long)e->column[OFFSETS].n;
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<PolyData>\n<Piece NumberOfPoints=\"%lld\"",
            *(const unsigned char *)&one == 1 ? "LittleEndian" : "BigEndian", (long long)e->column[POINTS].n / 3);
    for (int k = 0; k < 3; k++)
        fprintf(file, " NumberOf%s=\"%lld\"", kinds[k], strcmp(kinds[k], cells) == 0 ? n_cells : 0);
    fputs(" NumberOfStrips=\"0\">\n<Points>\n", file);
    write_column(e, file, &e->column[POINTS]);
    fprintf(file, "</Points>\n<%s>\n", cells);
    write_column(e, file, &e->column[CONNECT]);
    write_column(e, file, &e->column[OFFSETS]);
    fprintf(file, "</%s>\n<%s>\n", cells, point_data ? "PointData" : "CellData");
    for (int k = DATA; k < e->n_columns; k++)
        write_column(e, file, &e->column[k]);
    fprintf(file, "</%s>\n</Piece>\n</PolyData>\n</VTKFile>\n", point_data ? "PointData" : "CellData");
    if (e->status == ST_OK)
        e->status = sti_file_close(file, path, e->err);
    else
        sti_file_give_up(file, path);
}

/* Writes one frame of a series. */
static void write_frame_file(Export *e, SeriesName which, int64_t frame, double time, const char *cells,
                             bool point_data)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%06lld.vtp", e->series[which].name, (long long)frame);
    write_file(e, name, cells, point_data);
    list_file(&e->series[which], time, name);
}

/* ---- contents of a frame ------------------------------------------------------------------------ */

static st_Pose pose_of(const Export *e, int body)
{
    static const st_Pose ground = {{0, 0, 0}, {1, 0, 0, 0}};
    return body > 0 ? (st_Pose){e->position[body - 1], e->orientation[body - 1]} : ground;
}

/* The surfaces of moving bodies, or of fixed ones. */
static void put_surfaces(Export *e, bool moving)
{
    start_columns(e);
    const int body_column = name_column(e, "body", "Int32", 1);
    const int velocity = moving ? name_column(e, "velocity", "Float32", 3) : 0;
    for (int k = 0; k < e->n_shapes; k++) {
        const Drawn *shape = &e->shape[k];
        if (shape->moves != moving || shape->radius > 0 || e->clump[shape->body].kind > 0 ||
            isnan(pose_of(e, shape->body).p.x)) /* absent */
            continue;
        const st_Pose pose = pose_product(pose_of(e, shape->body), shape->pose);
        const int64_t first = e->column[POINTS].n / 3;
        for (int i = 0; i < shape->surface.n_points; i++)
            put_vector3(e, POINTS, pose_point(pose, shape->surface.points[i]));
        for (int t = 0; t < shape->surface.n_triangles; t++) {
            for (int i = 0; i < 3; i++)
                put_int(e, CONNECT, first + shape->surface.triangles[3 * t + i]);
            put_int(e, OFFSETS, e->column[CONNECT].n);
            put_int(e, body_column, shape->body);
            if (moving) put_vector3(e, velocity, e->velocity[shape->body - 1]);
        }
    }
}

static st_Vec3 vector_of(const double *x)
{
    return (st_Vec3){x[0], x[1], x[2]};
}

/* Points with the data that glyphs need. All points are one cell. */
enum { GLYPH_SIZE, GLYPH_BODY, GLYPH_TURNED, GLYPH_VELOCITY, GLYPH_SPIN, GLYPH_CONTACTS, GLYPH_LOAD, N_GLYPH };

static void start_glyphs(Export *e, const char *size, int columns[N_GLYPH])
{
    start_columns(e);
    columns[GLYPH_SIZE] = name_column(e, size, "Float32", 1);
    columns[GLYPH_BODY] = name_column(e, "body", "Int32", 1);
    columns[GLYPH_TURNED] = name_column(e, "orientation", "Float32", 4);
    columns[GLYPH_VELOCITY] = name_column(e, "velocity", "Float32", 3);
    columns[GLYPH_SPIN] = name_column(e, "spin", "Float32", 3);
    columns[GLYPH_CONTACTS] = name_column(e, "contacts", "Int32", 1);
    columns[GLYPH_LOAD] = name_column(e, "load", "Float32", 1);
}

/* Adds a point of a body; false if the body is absent. */
static bool put_glyph(Export *e, const int columns[N_GLYPH], int body, st_Vec3 at, double size)
{
    const st_Pose pose = pose_of(e, body);
    if (isnan(pose.p.x)) return false;
    put_int(e, CONNECT, e->column[POINTS].n / 3);
    put_vector3(e, POINTS, pose_point(pose, at));
    put_real(e, columns[GLYPH_SIZE], size);
    put_int(e, columns[GLYPH_BODY], body);
    const double q[4] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    for (int i = 0; i < 4; i++)
        put_real(e, columns[GLYPH_TURNED], q[i]);
    put_vector3(e, columns[GLYPH_VELOCITY], e->velocity[body - 1]);
    put_vector3(e, columns[GLYPH_SPIN], e->spin[body - 1]);
    put_int(e, columns[GLYPH_CONTACTS], e->load[body].contacts);
    put_real(e, columns[GLYPH_LOAD], e->load[body].force);
    return true;
}

static void end_glyphs(Export *e)
{
    if (e->column[CONNECT].n > 0) put_int(e, OFFSETS, e->column[CONNECT].n);
}

/* Writes the files of one frame. */
static st_Status write_vtk_frame(Export *e, int64_t index)
{
    st_RecordedFrame frame;
    st_RecordedStep step;
    STI_TRY(st_recording_frames(e->recording, index, 1, &frame, e->err));
    STI_TRY(st_recording_steps(e->recording, frame.step, 1, &step, e->err));
    STI_TRY(st_recording_bodies(e->recording, index, e->position, e->orientation, e->velocity, e->spin, e->err));
    /* bodies are moved into the periodic cell, as in the viewer */
    st_Cell given = {.lower = {0, 0, 0}};
    sti_Cell cell = {.repeats = st_scene_cell(e->scene, &given)};
    vec3_store(cell.lower, given.lower);
    vec3_store(cell.length, sub(given.upper, given.lower));
    for (int b = 0; cell.repeats && b < e->info->n_bodies; b++) {
        st_BodyDef body;
        if (st_scene_body(e->scene, (st_BodyId){b + 1}, &body) != ST_OK || body.fixed) continue;
        e->position[b] = cell_image(&cell, e->position[b]); /* NaN of an absent body stays NaN */
    }
    STI_TRY(STI_GROW(&e->allocator, e->contact, e->contact_capacity, frame.n_contacts, e->err));
    STI_TRY(st_recording_contacts(e->recording, frame.first_contact, frame.n_contacts, e->contact, e->err));
    /* An impact has no duration: its impulse is divided by one step of the settings. */
    double h = step.collisions > 0 || !(step.h > 0) ? e->def.h : step.h;
    if (index == 0) { /* walls are written once, and listed for every frame */
        put_surfaces(e, false);
        write_file(e, "walls.vtp", "Polys", false);
    }
    list_file(&e->series[WALLS], frame.time, "walls.vtp");
    put_surfaces(e, true);
    write_frame_file(e, BODIES, index, frame.time, "Polys", false);
    /* number and sum of contact forces of each body */
    memset(e->load, 0, (size_t)(e->info->n_bodies + 1) * sizeof *e->load);
    for (int k = 0; k < frame.n_contacts; k++) {
        const st_RecordedContact *c = &e->contact[k];
        const double force = norm(vector_of(c->impulse)) / h;
        const int ends[2] = {c->a, c->b};
        for (int i = 0; i < 2; i++) {
            if (ends[i] < 0 || ends[i] > e->info->n_bodies) continue; /* damaged file */
            e->load[ends[i]].contacts++;
            e->load[ends[i]].force += force;
        }
    }

    int columns[N_GLYPH];
    start_glyphs(e, "radius", columns);
    for (int k = 0; k < e->n_shapes; k++) {
        const Drawn *shape = &e->shape[k];
        if (shape->radius > 0 && e->clump[shape->body].kind == 0)
            put_glyph(e, columns, shape->body, shape->pose.p, shape->radius);
    }
    end_glyphs(e);
    write_frame_file(e, GRAINS, index, frame.time, "Verts", true);
    if (e->n_kinds > 0) {
        start_glyphs(e, "scale", columns);
        const int kind = name_column(e, "kind", "Int32", 1);
        for (int k = 1; k <= e->info->n_bodies; k++)
            if (e->clump[k].kind > 0 && put_glyph(e, columns, k, (st_Vec3){0, 0, 0}, e->clump[k].scale))
                put_int(e, kind, e->clump[k].kind);
        end_glyphs(e);
        write_frame_file(e, CLUMPS, index, frame.time, "Verts", true);
    }
    start_columns(e);
    int forces = name_column(e, "force", "Float32", 3), normal = name_column(e, "normal", "Float32", 3);
    int velocity = name_column(e, "velocity", "Float32", 3), gap = name_column(e, "gap", "Float32", 1);
    int a = name_column(e, "a", "Int32", 1), b = name_column(e, "b", "Int32", 1);
    for (int k = 0; k < frame.n_contacts; k++) {
        const st_RecordedContact *c = &e->contact[k];
        put_vector3(e, POINTS, vector_of(c->point));
        put_int(e, CONNECT, k);
        put_int(e, OFFSETS, k + 1);
        put_vector3(e, forces, scale(1 / h, vector_of(c->impulse)));
        put_vector3(e, normal, vector_of(c->normal));
        put_vector3(e, velocity, vector_of(c->velocity));
        put_real(e, gap, c->gap);
        put_int(e, a, c->a);
        put_int(e, b, c->b);
    }
    write_frame_file(e, CONTACTS, index, frame.time, "Verts", true);

    /* force network: a line between the bodies of each contact */
    start_columns(e);
    int force = name_column(e, "force", "Float32", 1);
    for (int k = 0; k < frame.n_contacts; k++) {
        const st_RecordedContact *c = &e->contact[k];
        const int ends[2] = {c->a, c->b};
        for (int i = 0; i < 2; i++) {
            const st_Vec3 point = vector_of(c->point);
            st_Vec3 end = ends[i] > 0 ? e->position[ends[i] - 1] : point;
            if (cell.repeats) end = add(point, cell_nearest(&cell, sub(end, point))); /* the nearest image */
            put_vector3(e, POINTS, end);
            put_int(e, CONNECT, 2 * k + i);
        }
        put_int(e, OFFSETS, 2 * (k + 1));
        put_real(e, force, norm(vector_of(c->impulse)) / h);
    }
    write_frame_file(e, NETWORK, index, frame.time, "Lines", false);
    return e->status;
}

/* ---- clumps --------------------------------------------------------------------------------------- */

static double extent_of(const st_ShapeDef *def)
{
    double most = fmax(fmax(def->radius, def->length), norm(def->half));
    for (int k = 0; k < def->n_points; k++)
        most = fmax(most, norm(def->points[k]));
    return most;
}

/* Has body b the form of body a, scaled by *scale_of? */
static bool same_form(const Export *e, int a, int b, double *scale_of)
{
    *scale_of = 0;
    int i = e->clump[a].first, j = e->clump[b].first;
    for (; i >= 0 && j >= 0; i = e->shape[i].next, j = e->shape[j].next) {
        st_ShapeDef x, y;
        if (st_scene_shape(e->scene, (st_ShapeId){i + 1}, &x, NULL) != ST_OK ||
            st_scene_shape(e->scene, (st_ShapeId){j + 1}, &y, NULL) != ST_OK || x.type != y.type ||
            x.n_points != y.n_points || x.n_triangles != y.n_triangles)
            return false;
        const double size = extent_of(&y);
        if (*scale_of == 0) *scale_of = size / extent_of(&x);
        const double s = *scale_of, close = 1e-9 * size;
        const st_Quat turned = quat_product(quat_conjugate(x.pose.q), y.pose.q);
        bool same = fabs(y.radius - s * x.radius) <= close && fabs(y.length - s * x.length) <= close &&
                    norm(sub(y.half, scale(s, x.half))) <= close &&
                    norm(sub(y.pose.p, scale(s, x.pose.p))) <= 1e-9 * (size + norm(y.pose.p)) &&
                    fabs(turned.w) >= 1 - 1e-12;
        for (int k = 0; same && k < x.n_points; k++)
            same = norm(sub(y.points[k], scale(s, x.points[k]))) <= close;
        for (int k = 0; same && k < 3 * x.n_triangles; k++)
            same = x.triangles[k] == y.triangles[k];
        if (!same) return false;
    }
    return i < 0 && j < 0;
}

/* Writes the forms in the axes of their bodies. */
static st_Status write_kinds(Export *e)
{
    for (int kind = 1; kind <= e->n_kinds; kind++) {
        char name[64];
        start_columns(e);
        for (int k = e->clump[e->example[kind]].first; k >= 0; k = e->shape[k].next) {
            st_ShapeDef def;
            st_Surface surface = {0};
            STI_TRY(st_scene_shape(e->scene, (st_ShapeId){k + 1}, &def, NULL));
            STI_TRY(st_shape_surface(&def, e->size, &surface, e->err));
            const int64_t first = e->column[POINTS].n / 3;
            for (int i = 0; i < surface.n_points; i++)
                put_vector3(e, POINTS, pose_point(def.pose, surface.points[i]));
            for (int t = 0; t < surface.n_triangles; t++) {
                for (int i = 0; i < 3; i++)
                    put_int(e, CONNECT, first + surface.triangles[3 * t + i]);
                put_int(e, OFFSETS, e->column[CONNECT].n);
            }
            st_surface_free(&surface);
        }
        snprintf(name, sizeof name, "clump_%d.vtp", kind);
        write_file(e, name, "Polys", false);
    }
    return e->status;
}

/* Prepares the arrays, the scene, the surfaces of its shapes and the folder. */
static st_Status prepare_export(Export *e)
{
    int64_t n = e->info->n_bodies + 1;
    e->position = sti_alloc(&e->allocator, n, sizeof *e->position);
    e->velocity = sti_alloc(&e->allocator, n, sizeof *e->velocity);
    e->spin = sti_alloc(&e->allocator, n, sizeof *e->spin);
    e->orientation = sti_alloc(&e->allocator, n, sizeof *e->orientation);
    e->load = sti_alloc(&e->allocator, n, sizeof *e->load);
    e->clump = sti_alloc(&e->allocator, n, sizeof *e->clump);
    if (e->position == NULL || e->velocity == NULL || e->spin == NULL || e->orientation == NULL || e->load == NULL ||
        e->clump == NULL)
        return sti_fail(e->err, ST_ERR_MEMORY, "out of memory for %lld bodies", (long long)n);
    STI_TRY(st_recording_scene(e->recording, NULL, 0, &e->scene, &e->def, e->err));
    if (st_scene_body_count(e->scene) != e->info->n_bodies)
        return sti_fail(e->err, ST_ERR_FORMAT, "damaged: the recording has %d bodies, its scene %d", e->info->n_bodies,
                        st_scene_body_count(e->scene));

    /* Planes are drawn as squares slightly larger than the box of all bodies in the first and last frame. */
    st_Vec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 2 && e->info->n_frames > 0; k++) {
        int64_t frame = k == 0 ? 0 : e->info->n_frames - 1;
        STI_TRY(st_recording_bodies(e->recording, frame, e->position, NULL, NULL, NULL, e->err));
        for (int b = 0; b < e->info->n_bodies; b++) {
            st_Vec3 p = e->position[b];
            lo = (st_Vec3){fmin(lo.x, p.x), fmin(lo.y, p.y), fmin(lo.z, p.z)};
            hi = (st_Vec3){fmax(hi.x, p.x), fmax(hi.y, p.y), fmax(hi.z, p.z)};
        }
    }
    e->size = 2 * fmax(1, fmax(hi.x - lo.x, fmax(hi.y - lo.y, hi.z - lo.z)));

    e->n_shapes = st_scene_shape_count(e->scene);
    e->shape = sti_alloc(&e->allocator, e->n_shapes + 1, sizeof *e->shape);
    if (e->shape == NULL) return sti_fail(e->err, ST_ERR_MEMORY, "out of memory for %d shapes", e->n_shapes);
    for (int b = 0; b <= e->info->n_bodies; b++)
        e->clump[b].first = -1;
    for (int k = e->n_shapes - 1; k >= 0; k--) {
        st_ShapeDef shape;
        st_BodyDef body;
        st_BodyId id;
        STI_TRY(st_scene_shape(e->scene, (st_ShapeId){k + 1}, &shape, &id));
        const bool moves = id.index1 > 0 && st_scene_body(e->scene, id, &body) == ST_OK && !body.fixed;
        const double radius = moves && shape.type == ST_SHAPE_SPHERE ? shape.radius : 0;
        e->shape[k] = (Drawn){
            .pose = shape.pose, .radius = radius, .body = id.index1, .next = e->clump[id.index1].first, .moves = moves};
        e->clump[id.index1].first = k;
    }
    /* Many bodies of the same form become a kind. */
    int number[MOST_KINDS + 1] = {0}, now[MOST_KINDS + 1] = {0}, n_forms = 0;
    for (int b = 1; b <= e->info->n_bodies; b++) {
        const int first = e->clump[b].first;
        if (first < 0 || !e->shape[first].moves || e->shape[first].next < 0) continue;
        double size = 1;
        int kind = 1;
        while (kind <= n_forms && !same_form(e, e->example[kind], b, &size))
            kind++;
        if (kind > MOST_KINDS) continue;
        if (kind > n_forms) e->example[n_forms = kind] = b, size = 1;
        number[kind]++;
        e->clump[b].kind = kind;
        e->clump[b].scale = size;
    }
    for (int k = 1; k <= n_forms; k++) {
        if (number[k] < LEAST_OF_A_KIND) continue;
        now[k] = ++e->n_kinds;
        e->example[e->n_kinds] = e->example[k];
    }
    for (int b = 1; b <= e->info->n_bodies; b++)
        e->clump[b].kind = now[e->clump[b].kind];
    for (int k = 0; k < e->n_shapes; k++) {
        st_ShapeDef shape;
        if (e->shape[k].radius > 0 || e->clump[e->shape[k].body].kind > 0) continue;
        STI_TRY(st_scene_shape(e->scene, (st_ShapeId){k + 1}, &shape, NULL));
        STI_TRY(st_shape_surface(&shape, e->size, &e->shape[k].surface, e->err));
    }
    if (mkdir(e->folder, 0777) != 0 && errno != EEXIST)
        return sti_fail(e->err, ST_ERR_FILE, "%s: the folder cannot be made: %s", e->folder, strerror(errno));
    return ST_OK;
}

st_Status st_recording_write_vtk(st_Recording *recording, const char *folder, st_Error *err)
{
    if (recording == NULL || folder == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recording_write_vtk: recording and folder must be given");
    Export e = {.recording = recording,
                .info = st_recording_info(recording),
                .folder = folder,
                .allocator = st_default_allocator(),
                .err = err};
    e.status = prepare_export(&e);
    if (e.status == ST_OK) e.status = write_kinds(&e);
    static const char *const names[N_SERIES] = {"walls", "bodies", "grains", "contacts", "network", "clumps"};
    const int n_series = e.n_kinds > 0 ? N_SERIES : CLUMPS;
    for (int k = 0; k < n_series && e.status == ST_OK; k++) {
        Series *s = &e.series[k];
        s->name = names[k];
        snprintf(s->list_path, sizeof s->list_path, "%s/%s.pvd", folder, names[k]);
        e.status = sti_file_open(s->list_path, &s->list, err);
        if (e.status == ST_OK)
            fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n", s->list);
    }
    for (int64_t k = 0; k < e.info->n_frames && e.status == ST_OK; k++)
        e.status = write_vtk_frame(&e, k);
    for (int k = 0; k < N_SERIES; k++) {
        Series *s = &e.series[k];
        if (s->list == NULL) continue;
        fputs("</Collection>\n</VTKFile>\n", s->list);
        if (e.status == ST_OK)
            e.status = sti_file_close(s->list, s->list_path, e.err);
        else
            sti_file_give_up(s->list, s->list_path); /* the list names only complete files */
    }

    for (int k = 0; k < e.n_shapes && e.shape != NULL; k++)
        st_surface_free(&e.shape[k].surface);
    sti_free(&e.allocator, e.shape, e.n_shapes + 1, sizeof *e.shape);
    for (int k = 0; k < N_COLUMNS; k++)
        STI_RELEASE(&e.allocator, e.column[k].value, e.column[k].capacity);
    STI_RELEASE(&e.allocator, e.contact, e.contact_capacity);
    int64_t n = e.info->n_bodies + 1;
    sti_free(&e.allocator, e.position, n, sizeof *e.position);
    sti_free(&e.allocator, e.velocity, n, sizeof *e.velocity);
    sti_free(&e.allocator, e.spin, n, sizeof *e.spin);
    sti_free(&e.allocator, e.orientation, n, sizeof *e.orientation);
    sti_free(&e.allocator, e.load, n, sizeof *e.load);
    sti_free(&e.allocator, e.clump, n, sizeof *e.clump);
    st_scene_destroy(e.scene);
    return e.status;
}
