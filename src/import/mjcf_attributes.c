/* import/mjcf_attributes.c -- attributes of MJCF, given by the element, by its class, or by an outer class.
 *
 * The class of an element is its own `class`, else the `childclass` of the nearest body around it, else the
 * outermost <default>. A class inherits from the classes around it. */
#include "import/mjcf.h"
#include "math/quat.h"

#include <ctype.h>
#include <stdio.h>

#define POSE "pos quat axisangle xyaxes zaxis euler "

const char sti_mjcf_pose_words[] = POSE;
const char sti_mjcf_joint_words[] =
    "name class type pos axis range limited stiffness damping springref ref frictionloss "
    "armature actuatorfrcrange actuatorfrclimited springdamper";
const char sti_mjcf_joint_passed[] =
    "group user solreflimit solimplimit solreffriction solimpfriction margin actuatorgravcomp";
const char sti_mjcf_geom_words[] =
    POSE "name class type size fromto mass density friction condim contype conaffinity priority mesh hfield group "
         "fitscale shellinertia fluidshape fluidcoef surfacevel rgba material";
const char sti_mjcf_geom_passed[] = "solref solimp solmix margin gap user";
const char sti_mjcf_actuator_words[] =
    "name class joint jointinparent tendon site refsite body cranksite slidersite cranklength gear ctrlrange "
    "ctrllimited forcerange forcelimited actrange actlimited kp kv dampratio timeconst inheritrange dyntype gaintype "
    "biastype dynprm gainprm biasprm area diameter bias gain group armature damping input ki imax slewmax posrange "
    "motorconst resistance nominal saturation inductance cogging controller thermal lugre";
const char sti_mjcf_actuator_passed[] = "user lengthrange actdim actearly nsample interp delay velrange ffrange";
const char sti_mjcf_actuators[] =
    "general motor position velocity intvelocity damper cylinder adhesion pid dcmotor orientation";

bool sti_mjcf_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(words, word); n > 0 && at != NULL; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
    return false;
}

/* ---- unsupported elements and attributes --------------------------------------------------------- */

/* Lists "solref of <geom>" among the skipped attributes. */
static st_Status pass(const sti_Mjcf *m, const sti_Element *element, const char *attribute)
{
    char what[120];
    snprintf(what, sizeof what, "%.50s%s<%.50s>", attribute != NULL ? attribute : "", attribute != NULL ? " of " : "",
             element->name);
    const char *kept = sti_xml_keep_text(m->robot->files, what);
    if (kept == NULL) return sti_robot_memory(m->robot);
    sti_skip(m->robot, kept);
    return ST_OK;
}

/* Writes `did you mean "size"? To` if one of the words, separated by spaces, is close to `name` and none is equal, else
 * "to". */
static void suggest(const char *name, const char *words, char *out, size_t size)
{
    sti_Nearest nearest = {.word = name};
    char word[40], best[40] = "";
    int distance = 0;
    for (const char *at = words; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " ")) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
        sti_nearest_try(&nearest, word);
        if (nearest.best == NULL || (best[0] != '\0' && nearest.distance >= distance)) continue;
        snprintf(best, sizeof best, "%s", word);
        distance = nearest.distance;
    }
    if (best[0] != '\0' && distance > 0)
        snprintf(out, size, "did you mean \"%s\"? To", best);
    else
        snprintf(out, size, "to");
}

/* words: known ones, for a suggestion. */
static st_Status unknown(const sti_Mjcf *m, const sti_Element *element, const char *attribute, const char *words)
{
    const char *name = attribute != NULL ? attribute : element->name;
    char meant[80];
    if (sti_robot_ignores(m->robot, name)) return pass(m, element, attribute);
    suggest(name, words, meant, sizeof meant);
    return sti_element_fail(
        m->robot->err, element,
        "%s%s is not supported and may change the motion; %s ignore it, add \"ignore\": [\"%.40s\"] to the robot",
        attribute != NULL ? "attribute " : "it", attribute != NULL ? attribute : "", meant, name);
}

/* Elements of MJCF, those that are refused included. */
static const char element_words[] =
    "compiler option flag size statistic visual default custom asset mesh hfield skin texture material model worldbody "
    "body inertial joint freejoint geom site camera light frame replicate attach composite flexcomp deformable contact "
    "pair exclude equality connect weld flex tendon spatial fixed pulley actuator general motor position velocity "
    "intvelocity damper cylinder muscle adhesion plugin sensor keyframe key extension include";

st_Status sti_mjcf_unknown(const sti_Mjcf *m, const sti_Element *element, const char *attribute)
{
    return unknown(m, element, attribute, attribute != NULL ? "" : element_words);
}

/* ---- classes ------------------------------------------------------------------------------------- */

/* Finds the <default> with a class name inside `around`; NULL: none. */
static const sti_Element *find_class(const sti_Element *around, const char *name)
{
    for (const sti_Element *child = around->first; child != NULL; child = child->next) {
        if (!sti_element_is(child, "default")) continue;
        const char *own = sti_attribute(child, "class");
        if (own != NULL && strcmp(own, name) == 0) return child;
        const sti_Element *found = find_class(child, name);
        if (found != NULL) return found;
    }
    return NULL;
}

/* Elements that concern appearance, and others that are not checked where they are read, with their attributes in all
 * versions of the format. `inside`: the element around them; NULL: any. */
static const struct {
    const char *name, *inside, *words;
} looks[] = {
    {"site", "body", POSE "name class type group material mesh size fromto rgba user"},
    {"site", "worldbody", POSE "name class type group material mesh size fromto rgba user"},
    {"site", "frame", POSE "name class type group material mesh size fromto rgba user"},
    {"site", "default", POSE "type group material mesh size fromto rgba user"},
    {"camera", NULL,
     POSE "name class mode target orthographic projection fovy ipd resolution output focal focalpixel principal "
          "principalpixel sensorsize user"},
    {"light", NULL,
     "name class mode target directional type texture castshadow active pos dir bulbradius intensity range attenuation "
     "cutoff softness exponent ambient diffuse specular"},
    {"frame", NULL, POSE "name childclass class"},
    {"texture", NULL,
     "name type colorspace content_type file gridsize gridlayout fileright fileleft fileup filedown filefront fileback "
     "builtin rgb1 rgb2 mark markrgb random width height hflip vflip nchannel"},
    {"material", NULL,
     "name class texture texrepeat texuniform emission specular shininess reflectance metallic roughness rgba"},
    {"layer", "material", "texture role"},
    {"mesh", NULL,
     "name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal maxhullvert inertia "
     "builtin params material octree_maxdepth"},
    {"skin", NULL, "name file material rgba inflate vertex texcoord face group"},
    {"model", "asset", "name file content_type"},
    {"size", "mujoco",
     "memory njmax nconmax nstack nuserdata nkey nuser_body nuser_jnt nuser_geom nuser_site nuser_cam nuser_tendon "
     "nuser_actuator nuser_sensor"},
    {"statistic", "mujoco", "meaninertia meanmass meansize extent center"},
    {"tendon", "default",
     "group limited range solreflimit solimplimit solreffriction solimpfriction frictionloss springlength width "
     "material margin stiffness damping armature actuatorfrcrange actuatorfrclimited rgba user"},
    {"equality", "default", "active solref solimp"},
    {"pair", "default", "condim friction solref solreffriction solimp gap margin adhesion"},
};

/* The outermost default may have no name; it is also called "main". Also checks the attributes in `looks`. */
st_Status sti_mjcf_check_classes(const sti_Mjcf *m, const sti_Element *element)
{
    static const char *const words[] = {"class", "childclass"};
    const char *around = element->up != NULL ? element->up->name : "";
    for (size_t k = 0; k < sizeof looks / sizeof looks[0]; k++)
        if (sti_element_is(element, looks[k].name) && (looks[k].inside == NULL || strcmp(looks[k].inside, around) == 0))
            for (int i = 0; i < element->n_attributes; i++)
                if (!sti_mjcf_word(looks[k].words, element->attributes[2 * i]))
                    STI_TRY(
                        sti_note_problem(m->robot, unknown(m, element, element->attributes[2 * i], looks[k].words)));
    if (strcmp(around, "asset") == 0 && !sti_mjcf_word("mesh hfield skin texture material model", element->name))
        return sti_note_problem(m->robot, sti_mjcf_unknown(m, element, NULL));

    for (int k = 0; k < 2; k++) {
        const char *name = sti_attribute(element, words[k]);
        if (name == NULL || sti_element_is(element, "default") || strcmp(name, "main") == 0) continue;
        if (find_class(m->root, name) == NULL)
            STI_TRY(sti_note_problem(m->robot, sti_element_fail(m->robot->err, element,
                                                                "%s is \"%.60s\", there is no <default> of that class",
                                                                words[k], name)));
    }
    for (const sti_Element *child = element->first; child != NULL; child = child->next)
        STI_TRY(sti_mjcf_check_classes(m, child));
    return ST_OK;
}

static const char *class_of(const sti_Element *element)
{
    const char *own = sti_attribute(element, "class");
    for (const sti_Element *around = element->up; own == NULL && around != NULL; around = around->up)
        own = sti_attribute(around, "childclass");
    return own;
}

/* Is `child` of a class a default for elements like this one? A class has one set of defaults for all actuators,
 * whichever element name it uses. The defaults of tendons are in <tendon>, those of <equality> members in
 * <equality>. */
static bool is_default_of(const sti_Element *child, const sti_Element *like)
{
    const bool tie = like->up != NULL && sti_element_is(like->up, "equality");
    if (tie) return sti_element_is(child, "equality");
    if (sti_mjcf_word("fixed spatial", like->name)) return sti_element_is(child, "tendon");
    if (sti_mjcf_word(sti_mjcf_actuators, like->name)) return sti_mjcf_word(sti_mjcf_actuators, child->name);
    return sti_element_is(child, like->name);
}

/* The last default element in a class that has the attribute. */
static const sti_Element *in_class(const sti_Element *class, const sti_Element *like, const char *name)
{
    const sti_Element *found = NULL;
    for (const sti_Element *child = class->first; child != NULL; child = child->next)
        if (is_default_of(child, like) && sti_attribute(child, name) != NULL) found = child;
    return found;
}

const sti_Element *sti_mjcf_holder(const sti_Mjcf *m, const sti_Element *element, const char *name)
{
    const char *wanted = class_of(element);
    const sti_Element *found = sti_attribute(element, name) != NULL ? element : NULL;
    const sti_Element *class = wanted != NULL && found == NULL ? find_class(m->root, wanted) : NULL;
    bool attached = false;
    for (; found == NULL && class != NULL && sti_element_is(class, "default") && !attached; class = class->up) {
        found = in_class(class, element, name);
        attached = sti_attribute(class, "attached") != NULL;
    }
    for (const sti_Element *top = m->root->first; found == NULL && !attached && top != NULL; top = top->next)
        if (sti_element_is(top, "default")) found = in_class(top, element, name);
    return found;
}

/* Visits a class and the classes around it, outermost first, except those of the root. */
static st_Status visit_class(const sti_Mjcf *m, const sti_Element *class, sti_MjcfVisit *visit, void *ctx)
{
    if (class == NULL || !sti_element_is(class, "default")) return ST_OK;
    const bool nested = sti_attribute(class, "attached") == NULL && sti_element_is(class->up, "default");
    if (nested && class->up != NULL && class->up->up != m->root) STI_TRY(visit_class(m, class->up, visit, ctx));
    for (const sti_Element *child = class->first; child != NULL; child = child->next)
        if (!sti_element_is(child, "default")) STI_TRY(visit(ctx, child));
    return ST_OK;
}

st_Status sti_mjcf_each_default(const sti_Mjcf *m, const sti_Element *element, sti_MjcfVisit *visit, void *ctx)
{
    const char *wanted = class_of(element);
    const sti_Element *class = wanted != NULL ? find_class(m->root, wanted) : NULL, *outer = class;
    while (outer != NULL && sti_element_is(outer, "default") && sti_attribute(outer, "attached") == NULL)
        outer = outer->up;
    const bool attached = outer != NULL && sti_element_is(outer, "default");
    for (const sti_Element *top = m->root->first; !attached && top != NULL; top = top->next)
        if (sti_element_is(top, "default") && top != class) STI_TRY(visit_class(m, top, visit, ctx));
    return visit_class(m, class, visit, ctx);
}

/* ---- values -------------------------------------------------------------------------------------- */

const char *sti_mjcf_text(const sti_Mjcf *m, const sti_Element *element, const char *name)
{
    const sti_Element *holder = sti_mjcf_holder(m, element, name);
    return holder != NULL ? sti_attribute(holder, name) : NULL;
}

st_Status sti_mjcf_numbers(const sti_Mjcf *m, const sti_Element *element, const char *name, int count, double *out)
{
    const sti_Element *holder = sti_mjcf_holder(m, element, name);
    return holder != NULL ? sti_numbers(m->robot->err, holder, name, count, true, out) : ST_OK;
}

st_Status sti_mjcf_number(const sti_Mjcf *m, const sti_Element *element, const char *name, double *out)
{
    return sti_mjcf_numbers(m, element, name, 1, out);
}

typedef struct Filling {
    const sti_Mjcf *m;
    const sti_Element *like;
    const char *name;
    int most, *n;
    double *out;
} Filling;

static st_Status fill_from(void *ctx, const sti_Element *from)
{
    const Filling *f = ctx;
    int n = 0;
    const bool counts = from == f->like || is_default_of(from, f->like);
    if (!counts || sti_attribute(from, f->name) == NULL) return ST_OK;
    STI_TRY(sti_some_numbers(f->m->robot->err, from, f->name, 1, f->most, &n, f->out));
    if (n > *f->n) *f->n = n;
    return ST_OK;
}

st_Status sti_mjcf_some_numbers(const sti_Mjcf *m, const sti_Element *element, const char *name, int most, int *n,
                                double *out)
{
    Filling f = {m, element, name, most, n, out};
    *n = 0;
    STI_TRY(sti_mjcf_each_default(m, element, fill_from, &f));
    return fill_from(&f, element);
}

st_Status sti_mjcf_limited(const sti_Mjcf *m, const sti_Element *element, const char *flag, const double range[2],
                           bool *out)
{
    *out = sti_mjcf_context(m, element)->autolimits && range[0] != range[1];
    return sti_mjcf_flag(m, element, flag, out);
}

st_Status sti_mjcf_flag(const sti_Mjcf *m, const sti_Element *element, const char *name, bool *out)
{
    const sti_Element *holder = sti_mjcf_holder(m, element, name);
    const char *word = holder != NULL ? sti_attribute(holder, name) : "auto";
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) *out = word[0] == 't';
    if (sti_mjcf_word("true false auto", word)) return ST_OK;
    return sti_element_fail(m->robot->err, holder, "%s is \"%.40s\", must be true, false or auto", name, word);
}

/* ---- frames -------------------------------------------------------------------------------------- */

st_Quat sti_quat_of_columns(st_Vec3 x, st_Vec3 y, st_Vec3 z)
{
    st_Quat turn = quat_between(vec3(1, 0, 0), x); /* first turn to x, then about x until y fits */
    st_Vec3 there = rotate(turn, vec3(0, 1, 0));
    double angle = atan2(dot(z, there), dot(y, there));
    return quat_product(quat_exp(scale(-angle, x)), turn);
}

st_Quat sti_mjcf_euler(const sti_Mjcf *m, const sti_Element *at, const double angles[3])
{
    const sti_MjcfContext *context = sti_mjcf_context(m, at);
    st_Quat q = {1, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        int axis = tolower((unsigned char)context->eulerseq[k]) - 'x';
        st_Quat turn = quat_exp(scale(context->angle * angles[k], vec3_axis(axis)));
        bool fixed = isupper((unsigned char)context->eulerseq[k]) != 0;
        q = fixed ? quat_product(turn, q) : quat_product(q, turn);
    }
    return q;
}

const sti_Element *sti_mjcf_member(const sti_Element *body, const sti_Element *at)
{
    const sti_Element *around = at == NULL ? body : at->up, *next = at == NULL ? body->first : at->next;
    for (;;) {
        while (next == NULL) {
            if (around == body) return NULL;
            next = around->next;
            around = around->up;
        }
        if (!sti_element_is(next, "frame")) return next;
        around = next;
        next = next->first;
    }
}

static st_Status own_pose(const sti_Mjcf *m, const sti_Element *element, st_Pose *out);

st_Status sti_mjcf_frame(const sti_Mjcf *m, const sti_Element *element, st_Pose *out)
{
    *out = pose_identity();
    for (const sti_Element *frame = element->up; frame != NULL && sti_element_is(frame, "frame"); frame = frame->up) {
        st_Pose pose;
        STI_TRY(own_pose(m, frame, &pose));
        *out = pose_product(pose, *out);
    }
    return ST_OK;
}

st_Status sti_mjcf_pose(const sti_Mjcf *m, const sti_Element *element, st_Pose *out)
{
    st_Pose frame;
    STI_TRY(sti_mjcf_frame(m, element, &frame));
    STI_TRY(own_pose(m, element, out));
    *out = pose_product(frame, *out);
    return ST_OK;
}

static st_Status own_pose(const sti_Mjcf *m, const sti_Element *element, st_Pose *out)
{
    static const struct {
        const char *name;
        int count;
    } forms[] = {{"quat", 4}, {"axisangle", 4}, {"xyaxes", 6}, {"zaxis", 3}, {"euler", 3}};
    const sti_Element *source = NULL;
    int form = -1;
    double p[3] = {0}, v[6] = {0};
    *out = pose_identity();
    STI_TRY(sti_mjcf_numbers(m, element, "pos", 3, p));
    out->p = vec3_load(p);
    for (int k = 0; k < 5; k++) {
        const sti_Element *holder = sti_mjcf_holder(m, element, forms[k].name);
        if (holder == NULL || (source == element && holder != element))
            continue; /* an attribute of the element itself overrides a default */
        if (source == holder)
            return sti_element_fail(m->robot->err, holder, "has both %s and %s, must have one of them",
                                    forms[form].name, forms[k].name);
        source = holder;
        form = k;
    }
    if (form < 0) return ST_OK;
    STI_TRY(sti_numbers(m->robot->err, source, forms[form].name, forms[form].count, true, v));
    if (form == 2) {
        st_Vec3 x = vec3_load(v), y = vec3_load(v + 3);
        double length = norm(x);
        if (length > 0) x = scale(1 / length, x);
        y = sub(y, scale(dot(x, y), x));
        double other = norm(y);
        if (!(length > 0) || !(other > 1e-12 * norm(vec3_load(v + 3))))
            return sti_element_fail(m->robot->err, source, "xyaxes must be two vectors that are not parallel");
        y = scale(1 / other, y);
        out->q = sti_quat_of_columns(x, y, cross(x, y));
        return ST_OK;
    }
    double length = form == 0 ? quat_norm((st_Quat){v[0], v[1], v[2], v[3]}) : norm(vec3_load(v));
    if (form != 4 && !(length > 0))
        return sti_element_fail(m->robot->err, source, "%s is 0, must have a direction", forms[form].name);
    if (form == 0) out->q = quat_unit((st_Quat){v[0], v[1], v[2], v[3]});
    if (form == 1) out->q = quat_exp(scale(sti_mjcf_context(m, source)->angle * v[3] / length, vec3_load(v)));
    if (form == 3) out->q = quat_between(vec3(0, 0, 1), scale(1 / length, vec3_load(v)));
    if (form == 4) out->q = sti_mjcf_euler(m, source, v);
    return ST_OK;
}

/* ---- checks ------------------------------------------------------------------------------------- */

st_Status sti_mjcf_check(const sti_Mjcf *m, const sti_Element *element, const char *read, const char *passed)
{
    for (int k = 0; k < element->n_attributes; k++) {
        const char *name = element->attributes[2 * k];
        if (sti_mjcf_word(read, name)) continue;
        if (sti_mjcf_word(passed, name))
            STI_TRY(pass(m, element, name));
        else
            STI_TRY(sti_note_problem(m->robot, unknown(m, element, name, read)));
    }
    return ST_OK;
}

st_Status sti_mjcf_check_defaults(const sti_Mjcf *m, const sti_Element *element)
{
    for (const sti_Element *child = element->first; child != NULL; child = child->next) {
        if (sti_element_is(child, "default"))
            STI_TRY(sti_mjcf_check_defaults(m, child));
        else if (sti_element_is(child, "joint"))
            STI_TRY(sti_mjcf_check(m, child, sti_mjcf_joint_words, sti_mjcf_joint_passed));
        else if (sti_element_is(child, "geom"))
            STI_TRY(sti_mjcf_check(m, child, sti_mjcf_geom_words, sti_mjcf_geom_passed));
        else if (sti_mjcf_word(sti_mjcf_actuators, child->name))
            STI_TRY(sti_mjcf_check(m, child, sti_mjcf_actuator_words, sti_mjcf_actuator_passed));
        else if (!sti_mjcf_word("mesh material site camera light pair equality tendon muscle flex frame texture",
                                child->name))
            STI_TRY(sti_note_problem(m->robot, sti_mjcf_unknown(m, child, NULL)));
    }
    return ST_OK;
}
