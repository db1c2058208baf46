/* Problem files: in every storage the numbers read are those in the file; written files can be read; errors name the
 * file and the dataset, and do no harm. */
#include "check.h"

#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stiction/io.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATA "tests/data/problems/"

typedef struct Folder {
    char path[64];
    char *name[64]; /* freed at the end */
    int n;
} Folder;

static int make_folder(void **state)
{
    Folder *folder = calloc(1, sizeof *folder);
    if (folder == NULL) return -1;
    strcpy(folder->path, "/tmp/stiction-problem-XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    Folder *folder = *state;
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -r %s", folder->path, folder->path);
    const int status = system(command);
    for (int k = 0; k < folder->n; k++)
        free(folder->name[k]);
    free(folder);
    return status;
}

static const char *in_folder(Folder *folder, const char *name)
{
    assert_true(folder->n < 64);
    char *out = folder->name[folder->n++] = malloc(160);
    assert_non_null(out);
    snprintf(out, 160, "%s/%s", folder->path, name);
    return out;
}

static st_ProblemFile *read_good(const char *path)
{
    st_Error err = {0};
    st_ProblemFile *file = NULL;
    check_ok(st_problem_file_read(path, &file, &err), err);
    return file;
}

static void check_refused(const char *path, const char *says)
{
    st_Error err = {0};
    st_ProblemFile *file = NULL;
    const st_Status status = st_problem_file_read(path, &file, &err);
    if (status == ST_OK) fail_msg("%s was read, expected: %s", path, says);
    assert_null(file);
    if (strstr(err.message, path) == NULL || strstr(err.message, says) == NULL)
        fail_msg("message is \"%s\", expected the file and \"%s\"", err.message, says);
}

/* ------------------------------------------------------------------ files of the collection */

typedef struct Known {
    const char *name, *kind;
    int n; /* rows, as h5ls shows them */
} Known;

static const Known known[] = {
    {"FrictionContact3D_1c", "fc3d", 3},
    {"Rover1039", "fc3d", 12},
    {"OneObject-i1028-138", "fc3d", 69},
    {"FrictionContactProblem00374", "fc2d", 56},
    {"GFC3D_Example0", "gfc3d", 3},
    {"CubeH8", "gfc3d", 3},
    {"RFC3D_cube_1", "rfc3d", 10},
    {"lcp_CPS_1", "lcp", 2},
    {"RCD_mlcp", "mlcp", 3},
};

static void collection_is_read(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        char path[128];
        snprintf(path, sizeof path, DATA "%s.hdf5", known[k].name);
        st_ProblemFile *file = read_good(path);
        assert_string_equal(file->kind, known[k].kind);
        assert_int_equal(file->n, known[k].n);
        assert_non_null(file->title);
        st_problem_file_destroy(file);
    }
}

/* The answers stored in the files are another program's: our error must find them good. */
static void stored_answers_are_good(void **state)
{
    (void)state;
    int seen = 0;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        char path[128];
        snprintf(path, sizeof path, DATA "%s.hdf5", known[k].name);
        st_ProblemFile *file = read_good(path);
        if (!file->is_lcp && file->r != NULL) {
            st_Error err = {0};
            st_Friction *friction = NULL;
            st_FrictionError error;
            double *u = calloc((size_t)file->n, sizeof *u);
            check_ok(st_friction_create(&file->friction, &friction, &err), err);
            check_ok(st_friction_error(friction, file->r, u, NULL, &error, &err), err);
            check_below(error.error, 1e-9); /* they were made to 1e-10 and better */
            double scale = 0;
            for (int i = 0; i < file->n; i++)
                scale = fmax(scale, fabs(file->u[i]));
            for (int i = 0; i < file->n; i++)
                check_close(u[i], file->u[i], 1e-9 * (1 + scale)); /* u = W r + q, rounded otherwise */
            st_friction_destroy(friction);
            free(u);
            seen++;
        }
        st_problem_file_destroy(file);
    }
    assert_true(seen >= 3);
}

/* ------------------------------------------------------------------ writing and reading back */

/* A 3 x 2 matrix with one column empty, for whatever needs one. */
static const int64_t tall_p[] = {0, 2, 2};
static const int tall_i[] = {0, 2};
static const double tall_x[] = {1.5, -2.0};

static const int64_t eye3_p[] = {0, 1, 2, 3};
static const int eye3_i[] = {0, 1, 2};
static const double eye3_x[] = {1, 2, 3};
static const double three[] = {-1, 0.25, 1e-300}, two[] = {4, 5}, one[] = {0.5};
static const int64_t eye2_p[] = {0, 1, 2};
static const int eye2_i[] = {0, 1};

static void check_same_matrix(const st_Sparse *a, const st_Sparse *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_cols, b->n_cols);
    for (int j = 0; j <= a->n_cols; j++)
        assert_int_equal(a->p[j], b->p[j]);
    for (int64_t e = 0; e < a->p[a->n_cols]; e++) {
        assert_int_equal(a->i[e], b->i[e]);
        assert_true(a->x[e] == b->x[e]);
    }
}

static void check_same_vector(const double *a, const double *b, int n)
{
    for (int k = 0; k < n; k++)
        assert_true(a[k] == b[k]);
}

static st_ProblemFile written_and_read(const char *path, const st_ProblemFile *file, st_ProblemFile **out)
{
    st_Error err = {0};
    check_ok(st_problem_file_write(path, file, &err), err);
    *out = read_good(path);
    return **out;
}

static void friction_comes_back(void **state)
{
    const char *path = in_folder(*state, "problem.hdf5");
    st_ProblemFile file = {.title = "three rows", .r = three, .u = three}, *back = NULL;
    file.friction = (st_FrictionProblem){.form = ST_FORM_LOCAL,
                                         .dim = 3,
                                         .n_contacts = 1,
                                         .n_l = 2,
                                         .W = {3, 3, eye3_p, eye3_i, eye3_x},
                                         .V = {3, 2, tall_p, tall_i, tall_x},
                                         .R = {2, 2, eye2_p, eye2_i, two},
                                         .q = three,
                                         .s = two,
                                         .mu = one};
    written_and_read(path, &file, &back);
    assert_string_equal(back->kind, "fc3d");
    assert_string_equal(back->title, "three rows");
    assert_int_equal(back->friction.n_l, 2);
    check_same_matrix(&back->friction.W, &file.friction.W);
    check_same_matrix(&back->friction.V, &file.friction.V);
    check_same_matrix(&back->friction.R, &file.friction.R);
    check_same_vector(back->friction.q, three, 3);
    check_same_vector(back->friction.s, two, 2);
    check_same_vector(back->friction.mu, one, 1);
    check_same_vector(back->r, three, 3);
    check_same_vector(back->u, three, 3);
    st_problem_file_destroy(back);

    file.friction = (st_FrictionProblem){.form = ST_FORM_GLOBAL,
                                         .dim = 2,
                                         .n_contacts = 1,
                                         .n_v = 3,
                                         .n_l = 2,
                                         .M = {3, 3, eye3_p, eye3_i, eye3_x},
                                         .H = {3, 2, tall_p, tall_i, tall_x},
                                         .G = {3, 2, tall_p, tall_i, tall_x},
                                         .f = three,
                                         .w = two,
                                         .b = two,
                                         .mu = one};
    file.r = file.u = two;
    file.v = three;
    written_and_read(path, &file, &back);
    assert_string_equal(back->kind, "gfc2d");
    check_same_matrix(&back->friction.M, &file.friction.M);
    check_same_matrix(&back->friction.H, &file.friction.H);
    check_same_matrix(&back->friction.G, &file.friction.G);
    check_same_vector(back->friction.f, three, 3);
    check_same_vector(back->friction.w, two, 2);
    check_same_vector(back->friction.b, two, 2);
    check_same_vector(back->v, three, 3);
    st_problem_file_destroy(back);
}

static void rolling_and_large_come_back(void **state)
{
    enum { N = 600 };
    const char *path = in_folder(*state, "problem.hdf5");
    int64_t p[N + 1];
    int i[N];
    double x[N], mu[N / 4], mu_r[N / 4 + 1] = {0};
    check_Random random = {7};
    for (int k = 0; k < N; k++) { /* long enough to be packed */
        p[k] = k;
        i[k] = N - 1 - k;
        x[k] = (double)(check_random_bits(&random) >> 11);
    }
    p[N] = N;
    for (int k = 0; k < N / 4; k++)
        mu[k] = mu_r[k] = 0.1 * k;
    for (int dim = 4; dim <= 6; dim++) { /* spinning, rolling, both */
        st_ProblemFile file = {0}, *back = NULL;
        file.friction = (st_FrictionProblem){.form = ST_FORM_LOCAL,
                                             .dim = dim,
                                             .n_contacts = N / dim,
                                             .W = {N, N, p, i, x},
                                             .q = x,
                                             .mu = mu,
                                             .mu_roll = dim >= 5 ? mu_r : NULL,
                                             .mu_spin = dim != 5 ? mu_r + 1 : NULL};
        written_and_read(path, &file, &back);
        assert_string_equal(back->kind, dim == 5 ? "rfc3d" : "sfc3d");
        assert_int_equal(back->friction.dim, dim);
        check_same_matrix(&back->friction.W, &file.friction.W);
        check_same_vector(back->friction.q, x, N);
        if (dim >= 5) check_same_vector(back->friction.mu_roll, mu_r, N / dim);
        if (dim != 5) check_same_vector(back->friction.mu_spin, mu_r + 1, N / dim);
        assert_null(back->r);
        st_problem_file_destroy(back);
    }
}

static void complementarity_comes_back(void **state)
{
    const char *path = in_folder(*state, "problem.hdf5");
    const bool is_free[] = {false, true, false}; /* not first: only the list of blocks can express that */
    st_ProblemFile file = {.is_lcp = true, .r = three}, *back = NULL;
    file.lcp = (st_LcpProblem){.n = 3, .M = {3, 3, eye3_p, eye3_i, eye3_x}, .q = three, .free = is_free};
    written_and_read(path, &file, &back);
    assert_string_equal(back->kind, "mlcp");
    for (int k = 0; k < 3; k++)
        assert_int_equal(back->lcp.free[k], is_free[k]);
    check_same_matrix(&back->lcp.M, &file.lcp.M);
    check_same_vector(back->r, three, 3);
    st_problem_file_destroy(back);
    file.lcp.free = NULL;
    written_and_read(path, &file, &back);
    assert_string_equal(back->kind, "lcp");
    assert_null(back->lcp.free);
    st_problem_file_destroy(back);
}

/* ------------------------------------------------------------------ the traps of files from elsewhere */

static void put(hid_t file, const char *name, hid_t type, const void *x, hsize_t n)
{
    const hid_t space = H5Screate_simple(1, &n, NULL), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t set = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    if (n > 0) assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
}

static void put_int(hid_t file, const char *name, int x)
{
    put(file, name, H5T_NATIVE_INT, &x, 1);
}

/* One contact in the plane, W as the caller has it. */
typedef struct Raw {
    int m, n, nz, nzmax;
    int p[8], i[8];
    double x[8];
    hsize_t n_p, n_i, n_x;
} Raw;

static const char *write_raw(Folder *folder, const Raw *raw, int spacedim, const double *q, hsize_t n_q,
                             const double *mu, hsize_t n_mu)
{
    const char *path = in_folder(folder, "raw.hdf5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_int(file, "/fclib_local/spacedim", spacedim);
    put_int(file, "/fclib_local/W/m", raw->m);
    put_int(file, "/fclib_local/W/n", raw->n);
    put_int(file, "/fclib_local/W/nz", raw->nz);
    put_int(file, "/fclib_local/W/nzmax", raw->nzmax);
    put(file, "/fclib_local/W/p", H5T_NATIVE_INT, raw->p, raw->n_p);
    put(file, "/fclib_local/W/i", H5T_NATIVE_INT, raw->i, raw->n_i);
    put(file, "/fclib_local/W/x", H5T_NATIVE_DOUBLE, raw->x, raw->n_x);
    put(file, "/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, q, n_q);
    put(file, "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, mu, n_mu);
    H5Fclose(file);
    return path;
}

static const double q2[] = {-1, 0.5}, mu1[] = {0.3};
#define WRITE(folder, raw) write_raw(folder, raw, 2, q2, 2, mu1, 1)

/* W = [4 7; 1 3] in each storage. */
static void check_is_expected(const char *path)
{
    const double expected[2][2] = {{4, 7}, {1, 3}};
    st_ProblemFile *file = read_good(path);
    const st_Sparse *W = &file->friction.W;
    assert_int_equal(W->p[2], 4);
    for (int j = 0; j < 2; j++)
        for (int64_t e = W->p[j]; e < W->p[j + 1]; e++) {
            check_close(W->x[e], expected[W->i[e]][j], 0);
            assert_true(e == W->p[j] || W->i[e] > W->i[e - 1]);
        }
    st_problem_file_destroy(file);
}

static void all_storages_are_read(void **state)
{
    const Raw columns = {2, 2, -1, 4, {0, 2, 4}, {1, 0, 0, 1}, {1, 4, 7, 3}, 3, 4, 4};
    const Raw rows = {2, 2, -2, 4, {0, 2, 4}, {1, 0, 0, 1}, {7, 4, 1, 3}, 3, 4, 4};
    /* triplets: p is the column, i the row; nzmax larger than nz; (0, 1) comes twice and adds up */
    const Raw triplets = {2, 2, 5, 9, {1, 0, 1, 0, 1}, {0, 0, 1, 1, 0}, {6.5, 4, 3, 1, 0.5}, 5, 5, 5};
    check_is_expected(WRITE(*state, &columns));
    check_is_expected(WRITE(*state, &rows));
    check_is_expected(WRITE(*state, &triplets));
    const Raw twice = {2, 2, -1, 5, {0, 3, 5}, {1, 0, 1, 0, 1}, {0.25, 4, 0.75, 7, 3}, 3, 5, 5};
    check_is_expected(WRITE(*state, &twice));
}

/* ------------------------------------------------------------------ bad input */

static const Raw good = {2, 2, -1, 2, {0, 1, 2}, {0, 1}, {1, 1}, 3, 2, 2};

static void wrong_numbers_are_named(void **state)
{
    Raw raw = good;
    const double nan_q[] = {1, NAN}, less[] = {-0.5};
    check_refused(write_raw(*state, &good, 2, nan_q, 2, mu1, 1), "/fclib_local/vectors/q: number 1 is nan");
    check_refused(write_raw(*state, &good, 2, q2, 2, less, 1), "/fclib_local/vectors/mu: number 0 is -0.5");
    check_refused(write_raw(*state, &good, 2, q2, 1, mu1, 1), "/fclib_local/vectors/q: holds 1 numbers, must be 2");
    check_refused(write_raw(*state, &good, 2, q2, 2, mu1, 0), "a problem with no contacts");
    check_refused(write_raw(*state, &good, 4, q2, 2, mu1, 1), "/fclib_local/spacedim: is 4");
    check_refused(write_raw(*state, &good, 3, q2, 2, mu1, 1), "/fclib_local/W: is 2 x 2, must be 3 x 3");
    raw.x[1] = INFINITY;
    check_refused(WRITE(*state, &raw), "/fclib_local/W/x: number 1 is inf");
    raw = good;
    raw.i[1] = 2;
    check_refused(WRITE(*state, &raw), "/fclib_local/W: entry 1 is at (2, 1), outside 2 x 2");
    raw.i[1] = -1;
    check_refused(WRITE(*state, &raw), "outside 2 x 2");
    raw = good;
    raw.p[2] = 3;
    check_refused(WRITE(*state, &raw), "/fclib_local/W/p: ends with 3, but only 2 entries are there");
    raw.p[1] = 5;
    check_refused(WRITE(*state, &raw), "less than");
    raw = good;
    raw.n_p = 2;
    check_refused(WRITE(*state, &raw), "/fclib_local/W/p: holds 2 pointers, must be 3");
    raw = good;
    raw.nz = 7;
    check_refused(WRITE(*state, &raw), "/fclib_local/W/nz: is 7 triplets");
    raw.nz = -3;
    check_refused(WRITE(*state, &raw), "/fclib_local/W/nz: is -3");
    raw = good;
    raw.m = -2;
    check_refused(WRITE(*state, &raw), "/fclib_local/W/m: is -2");
}

static void missing_and_foreign_are_named(void **state)
{
    const char *path = in_folder(*state, "raw.hdf5");
    hid_t file = H5Fopen(WRITE(*state, &good), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/fclib_local/vectors/q", H5P_DEFAULT);
    H5Fclose(file);
    check_refused(path, "/fclib_local/vectors/q: is missing");
    file = H5Fopen(WRITE(*state, &good), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/fclib_local/W", H5P_DEFAULT);
    put(file, "/fclib_local/W", H5T_NATIVE_DOUBLE, q2, 2);
    H5Fclose(file);
    check_refused(path, "/fclib_local/W/m: is missing");
    file = H5Fopen(WRITE(*state, &good), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/fclib_local/W/i", H5P_DEFAULT);
    put(file, "/fclib_local/W/i", H5T_NATIVE_DOUBLE, q2, 2);
    H5Fclose(file);
    check_refused(path, "/fclib_local/W/i: does not hold whole numbers");
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "/recording/t", H5T_NATIVE_DOUBLE, q2, 2);
    H5Fclose(file);
    check_refused(path, "contains no problem");
    FILE *text = fopen(path, "w");
    fputs("{ \"bodies\": [] }", text);
    fclose(text);
    check_refused(path, "is not an HDF5 file");
    text = fopen(path, "w");
    fclose(text);
    check_refused(path, "the file is empty");
    check_refused(in_folder(*state, "no-such-file"), "cannot be read");
    check_refused(in_folder(*state, ""), "");
}

/* A dataset that claims far more than the file has must not cause an allocation of that size. */
static void false_sizes_are_refused(void **state)
{
    const char *path = WRITE(*state, &good);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t huge = (hsize_t)1 << 40, chunk = 1024;
    const hid_t space = H5Screate_simple(1, &huge, NULL), layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(layout, 1, &chunk);
    H5Ldelete(file, "/fclib_local/vectors/mu", H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    H5Pclose(layout);
    H5Sclose(space);
    H5Fclose(file);
    check_refused(path, "/fclib_local/vectors/mu: claims 1099511627776 numbers");
}

/* Nor may a matrix: 2^30 rows are 8 GB of offsets, whatever its entries. */
static void false_matrices_are_refused(void **state)
{
    const char *path = WRITE(*state, &good);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/fclib_local/W/m", H5P_DEFAULT);
    put_int(file, "/fclib_local/W/m", 1 << 30);
    H5Fclose(file);
    check_refused(path, "/fclib_local/W: is 1073741824 x 2, must be 2 x 2");
}

/* Cut anywhere, a file is refused or, where only its tail of padding went, read: it never ends the program. */
static void cut_files_are_refused(void **state)
{
    const char *path = in_folder(*state, "cut.hdf5");
    FILE *from = fopen(DATA "Rover1039.hdf5", "rb");
    char *bytes = malloc(100000);
    const size_t size = fread(bytes, 1, 100000, from);
    fclose(from);
    int refused = 0, n = 0;
    for (size_t cut = 1; cut < size; cut += 997, n++) {
        FILE *to = fopen(path, "wb");
        fwrite(bytes, 1, cut, to);
        fclose(to);
        st_Error err = {0};
        st_ProblemFile *file = NULL;
        if (st_problem_file_read(path, &file, &err) != ST_OK) {
            assert_non_null(strstr(err.message, path));
            refused++;
        }
        st_problem_file_destroy(file);
    }
    free(bytes);
    assert_true(refused >= n - 1);
}

/* ------------------------------------------------------------------ nothing is lost */

static void solution_is_added_and_all_else_stays(void **state)
{
    st_Error err = {0};
    const char *path = WRITE(*state, &good), *out = in_folder(*state, "solved.hdf5");
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    put(file, "/guesses/1/r", H5T_NATIVE_DOUBLE, q2, 2);
    put(file, "/solution/r", H5T_NATIVE_DOUBLE, two, 2);
    H5Fclose(file);
    check_ok(st_problem_file_write_solution(path, out, 2, q2, two, 0, NULL, &err), err);
    st_ProblemFile *back = read_good(out);
    check_same_vector(back->r, q2, 2);
    check_same_vector(back->u, two, 2);
    st_problem_file_destroy(back);
    file = H5Fopen(out, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Lexists(file, "/guesses/1/r", H5P_DEFAULT) > 0);
    H5Fclose(file);
    back = read_good(path);
    check_same_vector(back->r, two, 2); /* the original file is unchanged */
    st_problem_file_destroy(back);
    check_ok(st_problem_file_write_solution(path, path, 2, q2, NULL, 0, NULL, &err), err); /* onto itself */
    back = read_good(path);
    check_same_vector(back->r, q2, 2);
    assert_null(back->u);
    st_problem_file_destroy(back);
}

static void failed_writing_leaves_the_old_file(void **state)
{
    Folder *folder = *state;
    st_Error err = {0};
    const char *path = WRITE(folder, &good);
    st_ProblemFile file = {0}, *back = NULL;
    file.friction = (st_FrictionProblem){.dim = 3, .n_contacts = 1, .W = {3, 3, eye3_p, eye3_i, eye3_x}, .mu = one};
    assert_int_equal(st_problem_file_write(path, &file, &err), ST_ERR_ARGUMENT); /* q is missing */
    back = read_good(path);
    st_problem_file_destroy(back);
    file.friction.q = three;
    assert_int_equal(st_problem_file_write(in_folder(folder, "no/such/folder.hdf5"), &file, &err), ST_ERR_FILE);
    assert_non_null(strstr(err.message, "no/such/folder.hdf5"));
    assert_int_equal(mkdir(in_folder(folder, "full"), 0700), 0);
    assert_int_equal(st_problem_file_write(in_folder(folder, "full"), &file, &err), ST_ERR_FILE); /* a folder */
    char command[128];
    snprintf(command, sizeof command, "test $(ls %s | wc -l) -eq 2", folder->path); /* no rest of a part file */
    assert_int_equal(system(command), 0);
}

/* The last to run at exit: then there is room again, for the counters of a build that measures coverage. */
__attribute__((destructor)) static void lift_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_FSIZE, &limit);
}

/* In a process of its own, which must end by itself: HDF5 crashes at exit when a file of its could not be written. */
static int write_on_full_disk(const char *path, const char *from, int bytes)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit small = {(rlim_t)bytes, RLIM_INFINITY};
        st_ProblemFile *file = NULL;
        signal(SIGXFSZ, SIG_IGN);
        if (st_problem_file_read(from, &file, NULL) != ST_OK || setrlimit(RLIMIT_FSIZE, &small) != 0) _exit(99);
        const bool failed = st_problem_file_write(path, file, NULL) == ST_ERR_FILE &&
                            st_problem_file_write_solution(from, path, 2, q2, NULL, 0, NULL, NULL) == ST_ERR_FILE;
        st_problem_file_destroy(file);
        exit(failed ? 7 : 8);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void full_disks_leave_the_old_file(void **state)
{
    Folder *folder = *state;
    const char *path = WRITE(folder, &good), *old = in_folder(folder, "old.hdf5");
    char command[400];
    snprintf(command, sizeof command, "cp %s %s", path, old);
    assert_int_equal(system(command), 0);
    for (int bytes = 0; bytes <= 1000; bytes += 500)
        assert_int_equal(write_on_full_disk(old, path, bytes), 7);
    snprintf(command, sizeof command, "cmp %s %s && test $(ls %s | wc -l) -eq 2", path, old, folder->path);
    assert_int_equal(system(command), 0);
}

/* A link stays a link, and a target that is no plain file is written, not replaced. */
static void links_and_pipes_stay(void **state)
{
    Folder *folder = *state;
    st_Error err = {0};
    struct stat info;
    const char *path = WRITE(folder, &good), *link = in_folder(folder, "link"), *pipe = in_folder(folder, "pipe");
    st_ProblemFile *file = read_good(path), *back = NULL;
    assert_int_equal(symlink(path, link), 0);
    check_ok(st_problem_file_write(link, file, &err), err);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    back = read_good(path);
    st_problem_file_destroy(back);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    int end = open(pipe, O_RDWR | O_NONBLOCK); /* holds it open: the few kilobytes fit */
    assert_true(end >= 0);
    check_ok(st_problem_file_write(pipe, file, &err), err);
    char head[8] = "";
    assert_int_equal(read(end, head, sizeof head), 8);
    assert_memory_equal(head, "\x89HDF\r\n\x1a\n", 8);
    close(end);
    assert_int_equal(lstat(pipe, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    st_problem_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collection_is_read),
        cmocka_unit_test(stored_answers_are_good),
        cmocka_unit_test_setup_teardown(friction_comes_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(rolling_and_large_come_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(complementarity_comes_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(all_storages_are_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(wrong_numbers_are_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(missing_and_foreign_are_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(false_sizes_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(false_matrices_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(cut_files_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(solution_is_added_and_all_else_stays, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(failed_writing_leaves_the_old_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(full_disks_leave_the_old_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(links_and_pipes_stay, make_folder, remove_folder),
    };
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
