/* problem_file.c -- reads and writes problem files: friction problems in the layout of FCLIB, LCPs and MLCPs.
 *
 *     /fclib_local, /fclib_global                   friction, dim 2 or 3
 *     /fclib_local_rolling, /fclib_global_rolling   friction and rolling, 5 rows per contact
 *     /fclib_local_spinning, /fclib_global_spinning friction and spinning, 4 rows, or 6 with rolling: ours
 *     /lcp, /mlcp                                   linear complementarity
 *     /solution/{r,u,v}                             a solution; {z,w} for an LCP
 *
 * docs/problems.md has the full layout, and the pitfalls of files from other programs.
 */
#include "record/hdf.h"
#include "record/problem_hdf.h"
#include "record/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>
#include <sys/stat.h>

#define NAME_SIZE 128

typedef struct Owned {
    st_ProblemFile file; /* first member: the public pointer points to it */
    sti_FileMemory *kept;
} Owned;

/* The groups and their contents. */
typedef struct Layout {
    const char *group, *kind, *flat_kind; /* flat_kind: with spacedim 2                              */
    st_FrictionForm form;
    enum { SLIDING, ROLLING, SPINNING } extra;
} Layout;

static const Layout layouts[] = {
    {"/fclib_local", "fc3d", "fc2d", ST_FORM_LOCAL, SLIDING},
    {"/fclib_global", "gfc3d", "gfc2d", ST_FORM_GLOBAL, SLIDING},
    {"/fclib_local_rolling", "rfc3d", "rfc3d", ST_FORM_LOCAL, ROLLING},
    {"/fclib_global_rolling", "grfc3d", "grfc3d", ST_FORM_GLOBAL, ROLLING},
    {"/fclib_local_spinning", "sfc3d", "sfc3d", ST_FORM_LOCAL, SPINNING},
    {"/fclib_global_spinning", "gsfc3d", "gsfc3d", ST_FORM_GLOBAL, SPINNING},
};
enum { N_LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const char *in(char out[NAME_SIZE], const char *group, const char *member)
{
    snprintf(out, NAME_SIZE, "%s/%s", group, member);
    return out;
}

/* ------------------------------------------------------------------ reading friction problems */

/* A vector with one entry per velocity or equality row; its length gives their number. */
static st_Status read_counting(sti_HdfReader *reader, const char *name, const double **out, int *count)
{
    int64_t n = 0;
    STI_TRY(sti_hdf_doubles(reader, name, -1, out, &n));
    if (n > INT32_MAX / 8) return sti_hdf_bad(reader, name, "holds %lld numbers, too many", (long long)n);
    *count = (int)n;
    return ST_OK;
}

static st_Status read_friction_coefficients(sti_HdfReader *reader, const char *name, int64_t expected,
                                            const double **out, int64_t *count)
{
    int64_t n = 0;
    STI_TRY(sti_hdf_doubles(reader, name, expected, out, &n));
    for (int64_t k = 0; k < n; k++)
        if ((*out)[k] < 0.0)
            return sti_hdf_bad(reader, name, "number %lld is %g, must be >= 0", (long long)k, (*out)[k]);
    if (count != NULL) *count = n;
    return ST_OK;
}

static st_Status read_dimension(sti_HdfReader *reader, const Layout *layout, st_FrictionProblem *p)
{
    char name[NAME_SIZE];
    STI_TRY(sti_hdf_int(reader, in(name, layout->group, "spacedim"), &p->dim));
    static const char *const expected[] = {"2 or 3", "5", "4 or 6"};
    if (layout->extra == ROLLING && (p->dim == 3 || p->dim == 5)) {
        p->dim = 5; /* files give either the space or the rows of a contact */
        return ST_OK;
    }
    if (layout->extra == SLIDING && (p->dim == 2 || p->dim == 3)) return ST_OK;
    if (layout->extra == SPINNING && (p->dim == 4 || p->dim == 6)) return ST_OK;
    return sti_hdf_bad(reader, name, "is %d, must be %s", p->dim, expected[layout->extra]);
}

static st_Status read_global(sti_HdfReader *reader, const char *group, st_FrictionProblem *p)
{
    char name[NAME_SIZE];
    const int64_t n_r = (int64_t)p->dim * p->n_contacts;
    STI_TRY(read_counting(reader, in(name, group, "vectors/f"), &p->f, &p->n_v));
    if (p->n_v == 0) return sti_hdf_bad(reader, name, "is empty: there are no velocities");
    STI_TRY(sti_hdf_matrix(reader, in(name, group, "M"), p->n_v, p->n_v, &p->M));
    STI_TRY(sti_hdf_matrix(reader, in(name, group, "H"), p->n_v, n_r, &p->H));
    STI_TRY(sti_hdf_doubles(reader, in(name, group, "vectors/w"), n_r, &p->w, NULL));
    if (!sti_hdf_has(reader, in(name, group, "G"))) return ST_OK;
    STI_TRY(read_counting(reader, in(name, group, "vectors/b"), &p->b, &p->n_l));
    return sti_hdf_matrix(reader, in(name, group, "G"), p->n_v, p->n_l, &p->G);
}

static st_Status read_friction(sti_HdfReader *reader, const Layout *layout, st_ProblemFile *out)
{
    char name[NAME_SIZE];
    st_FrictionProblem *p = &out->friction;
    int64_t n_contacts = 0;
    p->form = layout->form;
    STI_TRY(read_dimension(reader, layout, p));
    STI_TRY(read_friction_coefficients(reader, in(name, layout->group, "vectors/mu"), -1, &p->mu, &n_contacts));
    if (n_contacts == 0) return sti_hdf_bad(reader, name, "is empty: a problem with no contacts");
    if (n_contacts > INT32_MAX / 8)
        return sti_hdf_bad(reader, name, "has %lld contacts, too many", (long long)n_contacts);
    p->n_contacts = (int)n_contacts;
    if (p->dim >= 5)
        STI_TRY(
            read_friction_coefficients(reader, in(name, layout->group, "vectors/mu_r"), n_contacts, &p->mu_roll, NULL));
    if (layout->extra == SPINNING)
        STI_TRY(
            read_friction_coefficients(reader, in(name, layout->group, "vectors/mu_s"), n_contacts, &p->mu_spin, NULL));
    out->kind = p->dim == 2 ? layout->flat_kind : layout->kind;
    out->n = p->dim * p->n_contacts;
    if (p->form != ST_FORM_LOCAL) return read_global(reader, layout->group, p);
    const char *group = layout->group;
    char path[NAME_SIZE];
    const int64_t n_r = (int64_t)p->dim * p->n_contacts;
    STI_TRY(sti_hdf_matrix(reader, in(path, group, "W"), n_r, n_r, &p->W));
    STI_TRY(sti_hdf_doubles(reader, in(path, group, "vectors/q"), n_r, &p->q, NULL));
    if (!sti_hdf_has(reader, in(path, group, "V")) && !sti_hdf_has(reader, in(path, group, "R"))) return ST_OK;
    STI_TRY(read_counting(reader, in(path, group, "vectors/s"), &p->s, &p->n_l));
    STI_TRY(sti_hdf_matrix(reader, in(path, group, "V"), n_r, p->n_l, &p->V));
    return sti_hdf_matrix(reader, in(path, group, "R"), p->n_l, p->n_l, &p->R);
}

/* ------------------------------------------------------------------ reading complementarity problems */

static st_Status read_lcp(sti_HdfReader *reader, bool mixed, st_ProblemFile *out)
{
    const char *group = mixed ? "/mlcp" : "/lcp";
    char name[NAME_SIZE];
    st_LcpProblem *p = &out->lcp;
    int n = 0, m = 0;
    out->is_lcp = true;
    out->kind = mixed ? "mlcp" : "lcp";
    STI_TRY(sti_hdf_int(reader, in(name, group, "n"), &n));
    if (n < 0) return sti_hdf_bad(reader, name, "is %d, must be >= 0", n);
    if (mixed) STI_TRY(sti_hdf_int(reader, in(name, group, "m"), &m));
    if (m < 0 || (int64_t)n + m > INT32_MAX / 8) return sti_hdf_bad(reader, name, "is %d, out of range", m);
    if (n + m == 0) return sti_hdf_bad(reader, name, "is 0: a problem with no rows");
    p->n = out->n = n + m;
    STI_TRY(sti_hdf_doubles(reader, in(name, group, "vectors/q"), p->n, &p->q, NULL));
    STI_TRY(sti_hdf_matrix(reader, in(name, group, "M"), p->n, p->n, &p->M));
    if (!mixed) return ST_OK;
    /* n free rows first, then m others, unless there is a list of blocks. */
    bool *is_free = sti_keep(&reader->kept, (int64_t)n + m, sizeof *is_free);
    if (is_free == NULL) return sti_fail(reader->err, ST_ERR_MEMORY, "%s: out of memory", reader->path);
    for (int k = 0; k < n; k++)
        is_free[k] = true;
    p->free = is_free;
    if (!sti_hdf_has(reader, "/mlcp/block_rows") || !sti_hdf_has(reader, "/mlcp/block_is_comp")) return ST_OK;
    const int *rows = NULL, *is_comp = NULL;
    int64_t n_rows = 0, n_blocks = 0, n_free = 0;
    STI_TRY(sti_hdf_ints(reader, "/mlcp/block_rows", &rows, &n_rows));
    STI_TRY(sti_hdf_ints(reader, "/mlcp/block_is_comp", &is_comp, &n_blocks));
    if (n_rows != n_blocks + 1 || n_blocks < 1 || rows[0] != 0 || rows[n_blocks] != n + m)
        return sti_hdf_bad(reader, "/mlcp/block_rows", "does not cover rows 0 to %d in %lld blocks", n + m,
                           (long long)n_blocks);
    for (int64_t k = 0; k < n_blocks; k++) {
        if (rows[k + 1] < rows[k]) return sti_hdf_bad(reader, "/mlcp/block_rows", "falls at block %lld", (long long)k);
        for (int i = rows[k]; i < rows[k + 1]; i++) {
            is_free[i] = is_comp[k] == 0;
            n_free += is_free[i];
        }
    }
    if (n_free != n)
        return sti_hdf_bad(reader, "/mlcp/block_is_comp", "gives %lld equality rows, /mlcp/n is %d", (long long)n_free,
                           n);
    return ST_OK;
}

/* ------------------------------------------------------------------ reading */

/* A stored solution of another size, or not finite, is ignored; the problem is still read. */
static const double *read_answer(sti_HdfReader *reader, const char *name, int64_t n)
{
    const double *x = NULL;
    sti_HdfReader quiet = *reader;
    quiet.err = NULL;
    const bool ok = n > 0 && sti_hdf_has(reader, name) && sti_hdf_doubles(&quiet, name, n, &x, NULL) == ST_OK;
    reader->kept = quiet.kept;
    return ok ? x : NULL;
}

static st_Status read_problem(sti_HdfReader *reader, st_ProblemFile *out)
{
    const char *group = NULL;
    char name[NAME_SIZE];
    for (int k = 0; k < N_LAYOUTS && group == NULL; k++)
        if (sti_hdf_has(reader, layouts[k].group)) {
            group = layouts[k].group;
            STI_TRY(read_friction(reader, &layouts[k], out));
        }
    for (int mixed = 0; mixed < 2 && group == NULL; mixed++)
        if (sti_hdf_has(reader, mixed ? "/mlcp" : "/lcp")) {
            group = mixed ? "/mlcp" : "/lcp";
            STI_TRY(read_lcp(reader, mixed != 0, out));
        }
    STI_TRY(sti_hdf_settle_doubts(reader)); /* a part that could not be looked up may still exist */
    if (group == NULL)
        return sti_fail(reader->err, ST_ERR_FORMAT,
                        "%s: contains no problem: it has none of the groups /fclib_local, /fclib_global (or either "
                        "with _rolling, _spinning), /lcp, /mlcp",
                        reader->path);
    out->title = sti_hdf_text(reader, in(name, group, "info/title"));
    out->description = sti_hdf_text(reader, in(name, group, "info/description"));
    out->r = read_answer(reader, out->is_lcp ? "/solution/z" : "/solution/r", out->n);
    out->u = read_answer(reader, out->is_lcp ? "/solution/w" : "/solution/u", out->n);
    out->v = read_answer(reader, "/solution/v", out->friction.n_v);
    return ST_OK;
}

st_Status st_problem_file_read(const char *path, st_ProblemFile **out, st_Error *err)
{
    if (path == NULL || out == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the path or the destination is NULL");
    const st_Allocator allocator = st_default_allocator();
    const sti_Quiet quiet = sti_quiet_begin();
    sti_HdfReader reader;
    Owned *owned = sti_alloc(&allocator, 1, sizeof *owned);
    st_Status status = sti_hdf_open(&reader, path, err);
    if (status == ST_OK && owned == NULL) status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    if (status == ST_OK) status = read_problem(&reader, &owned->file);
    sti_hdf_close(&reader);
    sti_quiet_end(quiet);
    if (status != ST_OK) {
        sti_file_memory_free(reader.kept);
        sti_free(&allocator, owned, 1, sizeof *owned);
        return status;
    }
    owned->kept = reader.kept;
    *out = &owned->file;
    return ST_OK;
}

void st_problem_file_destroy(st_ProblemFile *file)
{
    if (file == NULL) return;
    const st_Allocator allocator = st_default_allocator();
    Owned *owned = (Owned *)file;
    sti_file_memory_free(owned->kept);
    sti_free(&allocator, owned, 1, sizeof *owned);
}

/* ------------------------------------------------------------------ writing */

static bool put_friction(hid_t file, const st_FrictionProblem *p, char *name, const char **group)
{
    const int extra = p->dim <= 3 ? SLIDING : p->dim == 5 ? ROLLING : SPINNING;
    const Layout *layout = &layouts[2 * extra + (p->form == ST_FORM_GLOBAL ? 1 : 0)];
    const char *g = *group = layout->group;
    const int64_t n_r = (int64_t)p->dim * p->n_contacts;
    bool ok = sti_hdf_put_int(file, in(name, g, "spacedim"), p->dim) &&
              sti_hdf_put_doubles(file, in(name, g, "vectors/mu"), p->mu, p->n_contacts);
    if (p->dim >= 5) ok = ok && sti_hdf_put_doubles(file, in(name, g, "vectors/mu_r"), p->mu_roll, p->n_contacts);
    if (extra == SPINNING) ok = ok && sti_hdf_put_doubles(file, in(name, g, "vectors/mu_s"), p->mu_spin, p->n_contacts);
    if (p->form == ST_FORM_LOCAL) {
        ok = ok && sti_hdf_put_matrix(file, in(name, g, "W"), &p->W) &&
             sti_hdf_put_doubles(file, in(name, g, "vectors/q"), p->q, n_r);
        if (p->n_l > 0)
            ok = ok && sti_hdf_put_matrix(file, in(name, g, "V"), &p->V) &&
                 sti_hdf_put_matrix(file, in(name, g, "R"), &p->R) &&
                 sti_hdf_put_doubles(file, in(name, g, "vectors/s"), p->s, p->n_l);
        return ok;
    }
    ok = ok && sti_hdf_put_matrix(file, in(name, g, "M"), &p->M) && sti_hdf_put_matrix(file, in(name, g, "H"), &p->H) &&
         sti_hdf_put_doubles(file, in(name, g, "vectors/f"), p->f, p->n_v) &&
         sti_hdf_put_doubles(file, in(name, g, "vectors/w"), p->w, n_r);
    if (p->n_l > 0)
        ok = ok && sti_hdf_put_matrix(file, in(name, g, "G"), &p->G) &&
             sti_hdf_put_doubles(file, in(name, g, "vectors/b"), p->b, p->n_l);
    return ok;
}

/* Free rows need not come first: the list of blocks gives their order. */
static bool put_partition(hid_t file, const st_LcpProblem *p)
{
    int *rows = calloc((size_t)p->n + 1, sizeof *rows), *is_comp = calloc((size_t)p->n + 1, sizeof *is_comp);
    int n_blocks = 0, n_free = 0;
    bool ok = rows != NULL && is_comp != NULL;
    for (int i = 0; i < p->n && ok; i++) {
        n_free += p->free[i];
        if (i == 0 || p->free[i] != p->free[i - 1]) {
            rows[n_blocks] = i;
            is_comp[n_blocks++] = p->free[i] ? 0 : 1;
        }
        rows[n_blocks] = i + 1;
    }
    ok = ok && sti_hdf_put_int(file, "/mlcp/n", n_free) && sti_hdf_put_int(file, "/mlcp/m", p->n - n_free) &&
         sti_hdf_put_ints(file, "/mlcp/block_rows", rows, (int64_t)n_blocks + 1) &&
         sti_hdf_put_ints(file, "/mlcp/block_is_comp", is_comp, n_blocks);
    free(rows);
    free(is_comp);
    return ok;
}

static bool put_lcp(hid_t file, const st_LcpProblem *p, char *name, const char **group)
{
    const char *g = *group = p->free != NULL ? "/mlcp" : "/lcp";
    const bool sizes = p->free != NULL ? put_partition(file, p) : sti_hdf_put_int(file, "/lcp/n", p->n);
    return sizes && sti_hdf_put_matrix(file, in(name, g, "M"), &p->M) &&
           sti_hdf_put_doubles(file, in(name, g, "vectors/q"), p->q, p->n);
}

static bool put_answer(hid_t file, bool is_lcp, int64_t n, const double *r, const double *u, int64_t n_v,
                       const double *v)
{
    return (r == NULL || sti_hdf_put_doubles(file, is_lcp ? "/solution/z" : "/solution/r", r, n)) &&
           (u == NULL || sti_hdf_put_doubles(file, is_lcp ? "/solution/w" : "/solution/u", u, n)) &&
           (v == NULL || n_v == 0 || sti_hdf_put_doubles(file, "/solution/v", v, n_v));
}

static bool put_problem(hid_t file, const st_ProblemFile *problem)
{
    char name[NAME_SIZE];
    const char *group = NULL;
    bool ok = problem->is_lcp ? put_lcp(file, &problem->lcp, name, &group)
                              : put_friction(file, &problem->friction, name, &group);
    if (problem->title != NULL) ok = ok && sti_hdf_put_text(file, in(name, group, "info/title"), problem->title);
    if (problem->description != NULL)
        ok = ok && sti_hdf_put_text(file, in(name, group, "info/description"), problem->description);
    const int n = problem->is_lcp ? problem->lcp.n : problem->friction.dim * problem->friction.n_contacts;
    return ok && put_answer(file, problem->is_lcp, n, problem->r, problem->u, problem->friction.n_v, problem->v);
}

st_Status st_problem_file_write(const char *path, const st_ProblemFile *problem, st_Error *err)
{
    if (path == NULL || problem == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the path or the problem is NULL");
    if (!problem->is_lcp) STI_TRY(st_friction_check(&problem->friction, err));
    const sti_Quiet quiet = sti_quiet_begin();
    const hid_t file = sti_hdf_in_memory(NULL, 0);
    const st_Status status = sti_hdf_settle(file, file >= 0 && put_problem(file, problem), path, err);
    sti_quiet_end(quiet);
    return status;
}

/* Reads a whole file, malloc'd; NULL: errno is the reason. */
static void *read_whole_file(const char *path, size_t *size)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    *size = fstat(fileno(file), &info) == 0 ? (size_t)info.st_size : 0;
    char *bytes = malloc(*size + 1);
    if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
        if (errno == 0) errno = EIO;
    }
    fclose(file);
    return bytes;
}

st_Status st_problem_file_write_solution(const char *from, const char *path, int n_r, const double *r, const double *u,
                                         int n_v, const double *v, st_Error *err)
{
    if (from == NULL || path == NULL || r == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "a path or r is NULL");
    size_t size = 0;
    errno = 0;
    void *bytes = read_whole_file(from, &size);
    if (bytes == NULL) return sti_fail(err, ST_ERR_FILE, "%s: cannot be read: %s", from, strerror(errno));
    const sti_Quiet quiet = sti_quiet_begin();
    const hid_t file = sti_hdf_in_memory(bytes, size);
    free(bytes);
    sti_HdfReader reader = {.path = from, .file = file};
    bool ok = file >= 0;
    if (ok && sti_hdf_has(&reader, "/solution")) ok = H5Ldelete(file, "/solution", H5P_DEFAULT) >= 0;
    const bool is_lcp = ok && (sti_hdf_has(&reader, "/lcp") || sti_hdf_has(&reader, "/mlcp"));
    ok = ok && reader.why == NULL && put_answer(file, is_lcp, n_r, r, u, n_v, v);
    const st_Status status = sti_hdf_settle(file, ok, path, err);
    sti_quiet_end(quiet);
    return status;
}
