/* The picture: well-formed, everything of the scene in it, in bounded memory. */
#include "check.h"
#include "draw/track.h"
#include "draw/view.h"

#include <stdbool.h>
#include <stiction/io.h>
#include <string.h>
#include <unistd.h>

#define TEXT_SIZE (4 << 20)

typedef struct Fixture {
    st_Scene *scene;
    st_SystemDef def;
    st_System *system;
    st_Picture *picture;
    char path[64];
    char *text;
    int allocations; /* calls of the allocator so far */
} Fixture;

static void *counted_alloc(void *ctx, size_t size, size_t align)
{
    st_Allocator plain = st_default_allocator();
    ++*(int *)ctx;
    return plain.alloc(plain.ctx, size, align);
}

static void counted_free(void *ctx, void *memory, size_t size, size_t align)
{
    st_Allocator plain = st_default_allocator();
    (void)ctx;
    plain.free(plain.ctx, memory, size, align);
}

static void add_body(Fixture *f, st_ShapeDef shape, const char *name, double x, double y)
{
    st_Error err = {0};
    st_BodyId id;
    st_BodyDef body = st_body_def();
    body.mass = 1;
    body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    body.locks = ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY;
    body.pose.p = (st_Vec3){x, y, 0};
    body.velocity.x = 1;
    body.spin.z = shape.type == ST_SHAPE_BAR ? 1 : 0;
    body.name = name;
    check_ok(st_scene_add_body(f->scene, &body, &id, &err), err);
    check_ok(st_scene_add_shape(f->scene, id, &shape, NULL, &err), err);
}

/* One of each shape above a table in x and y, a spring, a damper and a joint. */
static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    st_Error err = {0};
    if (f == NULL) return -1;
    *state = f;
    f->text = calloc(1, TEXT_SIZE);
    strcpy(f->path, "/tmp/stiction-svg-XXXXXX");
    int fd = mkstemp(f->path);
    if (f->text == NULL || fd < 0 || close(fd) != 0) return -1;
    check_ok(st_scene_create(&f->scene, &err), err);
    st_ShapeDef table = st_plane_def();
    table.pose.q = st_quat_from_z((st_Vec3){0, 1, 0});
    check_ok(st_scene_add_shape(f->scene, ST_GROUND, &table, NULL, &err), err);
    add_body(f, st_bar_def(2), "bar <&>", 0, 2);
    add_body(f, st_box_def(0.3, 0.2, 0.1), "box", 2, 3);
    add_body(f, st_sphere_def(0.4), "ball", 4, 3);
    add_body(f, st_point_def(), "p\x01\xef\xbf\xbf", 6, 3); /* characters that XML cannot hold */
    st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
    spring.a = (st_BodyId){1};
    spring.b = (st_BodyId){2};
    spring.point_a = (st_Vec3){0, 2, 0};
    spring.point_b = (st_Vec3){2, 3, 0};
    spring.stiffness = 1;
    check_ok(st_scene_add_spring(f->scene, &spring, NULL, &err), err);
    spring.stiffness = 0;
    spring.damping = 1;
    check_ok(st_scene_add_spring(f->scene, &spring, NULL, &err), err);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.a = (st_BodyId){3};
    joint.b = (st_BodyId){4};
    joint.point = (st_Vec3){5, 3, 0};
    joint.axis = (st_Vec3){0, 0, 1};
    check_ok(st_scene_add_joint(f->scene, &joint, NULL, &err), err);
    f->def = st_system_def();
    f->def.gravity = (st_Vec3){0, -9.81, 0};
    f->def.allocator = (st_Allocator){counted_alloc, counted_free, &f->allocations};
    check_ok(st_system_create(f->scene, &f->def, &f->system, &err), err);
    check_ok(st_picture_create(f->scene, &f->def, &f->picture, &err), err);
    st_picture_set_title(f->picture, "a <b> & c");
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    st_picture_destroy(f->picture);
    st_system_destroy(f->system);
    st_scene_destroy(f->scene);
    unlink(f->path);
    free(f->text);
    free(f);
    return 0;
}

static void take_steps(Fixture *f, int n)
{
    st_Error err = {0};
    st_StepInfo info = st_step_info();
    check_ok(st_picture_add(f->picture, f->system, &info, &err), err);
    for (int k = 0; k < n; k++) {
        check_ok(st_system_step(f->system, 0.01, &info, &err), err);
        check_ok(st_picture_add(f->picture, f->system, &info, &err), err);
    }
}

static void write_and_read(Fixture *f)
{
    st_Error err = {0};
    check_ok(st_picture_write(f->picture, f->path, &err), err);
    FILE *file = fopen(f->path, "r");
    assert_non_null(file);
    size_t n = fread(f->text, 1, TEXT_SIZE - 1, file);
    f->text[n] = '\0';
    fclose(file);
    assert_true(n > 0 && n < TEXT_SIZE - 1);
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        n++;
    return n;
}

/* Tags nest, attributes are quoted, text has no stray markup, bytes are allowed in XML 1.0. */
static void check_xml(const char *text)
{
    char open[64][32];
    int depth = 0, roots = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if ((*c < 0x20 && *c != '\n') || strncmp((const char *)c, "\xef\xbf\xbf", 3) == 0)
            fail_msg("byte %d at %ld", *c, (long)((const char *)c - text));
    for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at, '<')) {
        const char *end = at + 1;
        bool quoted = false;
        for (; *end != '\0' && (quoted || *end != '>'); end++) {
            if (*end == '"') quoted = !quoted;
            if (*end == '<') fail_msg("< inside a tag: %.60s", at);
        }
        assert_int_equal(*end, '>');
        assert_false(quoted);
        char name[32];
        int length = (int)strcspn(at + 1 + (at[1] == '/'), " />");
        assert_true(length > 0 && length < 32);
        snprintf(name, sizeof name, "%.*s", length, at + 1 + (at[1] == '/'));
        if (at[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (at[1] != '?' && end[-1] != '/') {
            roots += depth == 0;
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof name);
        }
        at = end;
    }
    for (const char *at = strchr(text, '&'); at != NULL; at = strchr(at + 1, '&'))
        assert_true(strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 ||
                    strncmp(at, "&quot;", 6) == 0);
    assert_int_equal(depth, 0);
    assert_int_equal(roots, 1);
}

static void everything_is_drawn(void **state)
{
    Fixture *f = *state;
    take_steps(f, 50);
    write_and_read(f);
    assert_non_null(strstr(f->text, "<title>a &lt;b&gt; &amp; c: "));
    assert_int_equal(count(f->text, "a &lt;b&gt; &amp; c"), 2); /* and as the heading */
    check_xml(f->text);
    assert_int_equal(count(f->text, "class=\"frame\""), 12);
    assert_int_equal(count(f->text, "class=\"bar\""), 12);
    assert_int_equal(count(f->text, "class=\"point\""), 12);
    assert_int_equal(count(f->text, "class=\"stick\""), 12); /* from the point's body to the joint that holds it */
    assert_int_equal(count(f->text, "<polygon"), 12);        /* the box */
    assert_int_equal(count(f->text, "class=\"plane\""), 1);
    assert_int_equal(count(f->text, "class=\"spring\""), 2);
    assert_int_equal(count(f->text, "class=\"joint\""), 1);
    assert_int_equal(count(f->text, "class=\"path\""), 4);
    assert_int_equal(count(f->text, "class=\"chart\""), 4); /* x, y, angle, energies */
    assert_true(count(f->text, "bar &lt;&amp;&gt;") > 0);
    assert_int_equal(count(f->text, "nan"), 0);
    assert_int_equal(count(f->text, "inf"), 0);
}

/* The start alone, as when the first step diverges. */
static void one_sample_is_enough(void **state)
{
    Fixture *f = *state;
    take_steps(f, 0);
    write_and_read(f);
    check_xml(f->text);
    assert_int_equal(count(f->text, "class=\"frame\""), 1);
    assert_int_equal(count(f->text, "nan"), 0);
}

static void long_runs_take_no_more_memory(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    st_StepInfo info = st_step_info();
    take_steps(f, 10);
    int before = f->allocations;
    for (int k = 0; k < 100000; k++) {
        info.time = 0.1 + 0.001 * k;
        check_ok(st_picture_add(f->picture, f->system, &info, &err), err);
    }
    assert_int_equal(f->allocations, before);
    write_and_read(f);
    check_xml(f->text);
}

static void failures_are_named(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    assert_int_equal(st_picture_write(f->picture, f->path, &err), ST_ERR_ARGUMENT); /* nothing added */
    take_steps(f, 1);
    assert_int_equal(st_picture_write(f->picture, "/no/such/folder/x.svg", &err), ST_ERR_FILE);
    assert_non_null(strstr(err.message, "/no/such/folder/x.svg"));
    if (access("/dev/full", W_OK) == 0) assert_int_equal(st_picture_write(f->picture, "/dev/full", &err), ST_ERR_FILE);
    st_picture_destroy(NULL);
}

/* Kept rows are evenly spaced by a power of two, the first and the newest always among them. */
static void track_thins_itself_out(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Track track;
    check_ok(sti_track_create(&allocator, 2, 16, &track, &err), err);
    for (int k = 0; k < 5000; k++) {
        sti_track_add(&track, (double[2]){k, 2.0 * k});
        int n = sti_track_count(&track), stride = (int)track.stride;
        assert_true(n <= 17 && (k < 16 ? n == k + 1 : n >= 8));
        assert_int_equal(stride & (stride - 1), 0);
        for (int i = 0; i < n - 1; i++) {
            check_close(sti_track_row(&track, i)[0], (double)i * stride, 0);
            check_close(sti_track_row(&track, i)[1], 2.0 * i * stride, 0);
        }
        check_close(sti_track_row(&track, n - 1)[0], k, 0);
    }
    for (int k = 0; k < sti_track_count(&track); k++)
        assert_int_equal(sti_track_nearest(&track, sti_track_row(&track, k)[0] + 0.1), k);
    assert_int_equal(sti_track_nearest(&track, -1), 0);
    assert_int_equal(sti_track_nearest(&track, 1e9), sti_track_count(&track) - 1);
    sti_track_free(&allocator, &track);
}

/* One body that may move along the axes of `freedoms`; the plane it is seen in. */
static void check_view(uint32_t freedoms, st_Vec3 gravity, const char *right, const char *up)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    st_Scene *scene = NULL;
    sti_Track track;
    st_BodyDef body = st_body_def();
    body.mass = 1;
    body.locks = (~freedoms & 7u) | ST_LOCK_ROTATION;
    check_ok(st_scene_create(&scene, &err), err);
    check_ok(st_scene_add_body(scene, &body, NULL, &err), err);
    check_ok(sti_track_create(&allocator, 1 + STI_POSE_SIZE, 4, &track, &err), err);
    sti_track_add(&track, (double[9]){0, 0, 0, 0, 1, 0, 0, 0, 0});
    sti_track_add(&track, (double[9]){1, 0.1, 5, 1, 1, 0, 0, 0, 0}); /* mostly along y */
    sti_View view = sti_view_choose(scene, gravity, &track, 1);
    assert_string_equal(view.right_name, right);
    assert_string_equal(view.up_name, up);
    sti_track_free(&allocator, &track);
    st_scene_destroy(scene);
}

static void view_follows_locks_gravity_and_motion(void **state)
{
    (void)state;
    const st_Vec3 down_y = {0, -9.81, 0}, down_z = {0, 0, -9.81}, none = {0, 0, 0};
    check_view(3, down_y, "x", "y");
    check_view(5, down_z, "x", "z");
    check_view(6, down_z, "y", "z");
    check_view(1, down_y, "x", "y"); /* slides along x */
    check_view(1, down_z, "x", "z");
    check_view(2, down_y, "x", "y"); /* falls along y */
    check_view(4, none, "z", "y");
    check_view(7, down_z, "y", "z"); /* in space: the direction of largest motion */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(everything_is_drawn),
        TEST(one_sample_is_enough),
        TEST(long_runs_take_no_more_memory),
        TEST(failures_are_named),
        cmocka_unit_test(track_thins_itself_out),
        cmocka_unit_test(view_follows_locks_gravity_and_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
