/* import/mjcf_expand.c -- expands <include>, <replicate> and <attach> until the tree has none of them.
 *
 *     include     replaced by the children of another file's root
 *     replicate   its content, count times, each in a <frame> that is moved from the last by offset and euler;
 *                 a number is appended to names; sensors, actuators and others that refer to the content are copied
 *                 as well
 *     attach      a body or frame of another model (an asset <model>), with a prefix for all its names; its
 *                 defaults, assets and the elements that act only on it are added; its <compiler> applies to it */
#include "base/number.h"
#include "import/mjcf.h"
#include "math/quat.h"

#include <stdio.h>

#define MOST_FILES    100
#define MOST_ELEMENTS 200000

typedef struct Expansion {
    sti_Mjcf *m;
    int files, elements; /* how many more may be read or made: this ends rings */
} Expansion;

/* ---- copies ------------------------------------------------------------------------------------------ */

/* Attributes that name other elements of the same file. */
static const char references[] =
    "class childclass joint joint1 joint2 jointinparent body body1 body2 geom geom1 geom2 site site1 site2 refsite "
    "sidesite tendon tendon1 tendon2 mesh hfield material texture actuator target cranksite slidersite objname refname "
    "subtree subtree1 subtree2 camera";

static const char *joined(Expansion *e, const char *a, const char *b)
{
    char text[400];
    if (snprintf(text, sizeof text, "%s%s", a, b) >= (int)sizeof text) return NULL;
    return sti_xml_keep_text(e->m->robot->files, text);
}

static bool has_named(const sti_Element *at, const char *name)
{
    const char *own = sti_attribute(at, "name");
    if (own != NULL && strcmp(own, name) == 0) return true;
    for (const sti_Element *child = at->first; child != NULL; child = child->next)
        if (has_named(child, name)) return true;
    return false;
}

static bool refers(const char *key)
{
    return sti_mjcf_word(references, key) && !sti_mjcf_word("class childclass mesh hfield material texture", key);
}

/* A deep copy. Names become prefix + name + suffix; references too if `all`. With `inside`, references to names in it
 * get the suffix. NULL: out of memory, or too many elements. */
static sti_Element *copy(Expansion *e, const sti_Element *from, sti_Element *up, const char *prefix, const char *suffix,
                         bool all, const sti_Element *inside)
{
    sti_Xml *files = e->m->robot->files;
    if (--e->elements < 0) return NULL;
    sti_Element *made = sti_xml_keep(files, sizeof *made);
    const char **texts = sti_xml_keep(files, (2 * (size_t)from->n_attributes + 3) * sizeof *texts);
    if (made == NULL || texts == NULL) return NULL;
    *made = *from;
    made->attributes = texts;
    made->up = up;
    made->first = made->last = made->next = NULL;
    for (int k = 0; k < 2 * from->n_attributes; k++) {
        const char *key = from->attributes[k - k % 2], *value = from->attributes[k];
        const bool named = k % 2 == 1 && strcmp(value, "world") != 0 &&
                           (strcmp(key, "name") == 0 || (all && sti_mjcf_word(references, key)) ||
                            (inside != NULL && refers(key) && has_named(inside, value)));
        texts[k] = value;
        if (named && prefix[0] != '\0') texts[k] = joined(e, prefix, value);
        if (named && suffix[0] != '\0') texts[k] = joined(e, value, suffix);
        if (texts[k] == NULL) return NULL;
    }
    const char *file = sti_attribute(from, "file"); /* an asset without a name has that of its file */
    if (all && file != NULL && sti_attribute(from, "name") == NULL && up != NULL && sti_element_is(up, "asset")) {
        const int n = 2 * made->n_attributes++;
        char stem[200];
        snprintf(stem, sizeof stem, "%.*s", (int)sti_mjcf_stem(&file), file);
        texts[n] = "name";
        texts[n + 1] = joined(e, prefix, stem);
        if (texts[n + 1] == NULL) return NULL;
    }
    for (const sti_Element *child = from->first; child != NULL; child = child->next) {
        sti_Element *own = copy(e, child, made, prefix, suffix, all, inside);
        if (own == NULL) return NULL;
        if (made->last != NULL)
            made->last->next = own;
        else
            made->first = own;
        made->last = own;
    }
    return made;
}

static st_Status failed_copy(const Expansion *e, const sti_Element *at)
{
    if (e->elements < 0)
        return sti_element_fail(e->m->robot->err, at, "makes more than %d elements in total", MOST_ELEMENTS);
    return sti_robot_memory(e->m->robot);
}

static sti_Element *make(const Expansion *e, const sti_Element *like, const char *name, sti_Element *up, int n)
{
    sti_Xml *files = e->m->robot->files;
    sti_Element *made = sti_xml_keep(files, sizeof *made);
    const char **texts = sti_xml_keep(files, (2 * (size_t)n + 1) * sizeof *texts);
    if (made == NULL || texts == NULL) return NULL;
    *made = (sti_Element){
        .name = name, .file = like->file, .line = like->line, .n_attributes = n, .attributes = texts, .up = up};
    return made;
}

static void append(sti_Element *into, sti_Element *child)
{
    child->up = into;
    child->next = NULL;
    if (into->last != NULL)
        into->last->next = child;
    else
        into->first = child;
    into->last = child;
}

/* ---- replicate --------------------------------------------------------------------------------------- */

static bool refers_inside(const sti_Element *at, const sti_Element *content)
{
    for (int k = 0; k < at->n_attributes; k++)
        if (refers(at->attributes[2 * k]) && has_named(content, at->attributes[2 * k + 1])) return true;
    for (const sti_Element *child = at->first; child != NULL; child = child->next)
        if (refers_inside(child, content)) return true;
    return false;
}

static void replica_suffix(const sti_Element *at, int count, int k, char out[40])
{
    const char *sep = sti_attribute(at, "sep");
    const int digits = snprintf(NULL, 0, "%d", count); /* as MuJoCo numbers ten of them: 00 to 09 */
    snprintf(out, 40, "%.10s%0*d", sep != NULL ? sep : "", digits, k);
}

/* Replaces the members of sections that refer to the content of a <replicate> by one copy per replica, in the order
 * in which they may refer to each other: a motor may pull at a copied tendon. */
static st_Status replicate_members(Expansion *e, sti_Element *at, int count)
{
    static const char *const kinds[] = {"contact", "tendon", "equality", "actuator", "sensor"};
    sti_Element *const last = at->last;
    for (int kind = 0; kind < 5; kind++)
        for (sti_Element *section = e->m->root->first; section != NULL; section = section->next) {
            if (!sti_element_is(section, kinds[kind])) continue;
            for (sti_Element **place = &section->first; *place != NULL; place = &(*place)->next) {
                sti_Element *member = *place, *next = member->next;
                if (!refers_inside(member, at)) continue;
                for (int k = 0; k < count; k++) {
                    char suffix[40];
                    replica_suffix(at, count, k, suffix);
                    sti_Element *made = copy(e, member, section, "", suffix, false, at);
                    if (made == NULL) return failed_copy(e, at);
                    made->next = next;
                    *place = made;
                    if (next == NULL) section->last = made;
                    if (k + 1 < count) place = &made->next;
                }
                append(at, member); /* counts as content, too, until all sections are done */
            }
        }
    if (last != NULL) last->next = NULL;
    if (last == NULL) at->first = NULL;
    at->last = last;
    return ST_OK;
}

static st_Status replicate(Expansion *e, sti_Element *at, sti_Element ***place)
{
    double count = 0, offset[3] = {0}, euler[3] = {0};
    sti_Element *next = at->next;
    st_Pose pose = pose_identity(), step;
    STI_TRY(sti_mjcf_check(e->m, at, "count sep offset euler", ""));
    STI_TRY(sti_numbers(e->m->robot->err, at, "count", 1, true, &count));
    STI_TRY(sti_numbers(e->m->robot->err, at, "offset", 3, false, offset));
    STI_TRY(sti_numbers(e->m->robot->err, at, "euler", 3, false, euler));
    if (!(count >= 1 && count <= MOST_ELEMENTS))
        return sti_element_fail(e->m->robot->err, at, "count is %g, must be from 1 to %d", count, MOST_ELEMENTS);
    step = (st_Pose){vec3_load(offset), sti_mjcf_euler(e->m, at, euler)};
    STI_TRY(replicate_members(e, at, (int)count));
    **place = next;
    for (int k = 0; k < (int)count; k++) {
        char suffix[40], text[120];
        replica_suffix(at, (int)count, k, suffix);
        sti_Element *frame = make(e, at, "frame", at->up, 2);
        sti_Element *content = frame != NULL ? copy(e, at, frame, "", suffix, false, NULL) : NULL;
        if (content == NULL) return failed_copy(e, at);
        frame->first = content->first, frame->last = content->last;
        for (sti_Element *child = frame->first; child != NULL; child = child->next)
            child->up = frame;
        frame->attributes[0] = "pos", frame->attributes[2] = "quat";
        snprintf(text, sizeof text, "%.17g %.17g %.17g", pose.p.x, pose.p.y, pose.p.z);
        sti_number_point(text);
        frame->attributes[1] = sti_xml_keep_text(e->m->robot->files, text);
        snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g", pose.q.w, pose.q.x, pose.q.y, pose.q.z);
        sti_number_point(text);
        frame->attributes[3] = sti_xml_keep_text(e->m->robot->files, text);
        if (frame->attributes[1] == NULL || frame->attributes[3] == NULL) return sti_robot_memory(e->m->robot);
        frame->next = next;
        **place = frame;
        if (next == NULL) at->up->last = frame;
        *place = k + 1 < (int)count ? &frame->next : *place;
        pose = pose_product(pose, step);
        pose.q = quat_unit(pose.q);
    }
    return ST_OK;
}

/* ---- attach ------------------------------------------------------------------------------------------ */

/* kind: body or frame */
static const sti_Element *find_inside(const sti_Element *at, const char *kind, const char *name)
{
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        const char *own = sti_attribute(child, "name");
        if (sti_element_is(child, kind) && own != NULL && strcmp(own, name) == 0) return child;
        const sti_Element *inside = find_inside(child, kind, name);
        if (inside != NULL) return inside;
    }
    return NULL;
}

/* Does a member of a section refer to something of the model outside the attached part? */
static bool refers_outside(const sti_Element *at, const sti_Element *world, const sti_Element *part)
{
    for (int k = 0; k < at->n_attributes; k++) {
        const char *key = at->attributes[2 * k], *name = at->attributes[2 * k + 1];
        if (refers(key) && has_named(world, name) && !has_named(part, name)) return true;
    }
    for (const sti_Element *child = at->first; child != NULL; child = child->next)
        if (refers_outside(child, world, part)) return true;
    return false;
}

static st_Status expand(Expansion *e, sti_Element *element);

/* Adds everything of another model except its bodies to the sections of this one. *outermost is the class of its
 * elements that name none; it inherits from no class of this model. */
static st_Status take_sections(Expansion *e, sti_Element *root, const sti_Element *world, const sti_Element *part,
                               const char *prefix, const char **outermost)
{
    sti_Element *mine = (sti_Element *)(uintptr_t)e->m->root;
    const sti_Element *first = sti_child(root, "default");
    const char *name = first != NULL ? sti_attribute(first, "class") : NULL;
    sti_Element *around = make(e, root, "default", mine, 0);
    sti_Element *named = around != NULL ? make(e, root, "default", around, 2) : NULL;
    *outermost = joined(e, prefix, name != NULL ? name : "main");
    if (named == NULL || *outermost == NULL) return sti_robot_memory(e->m->robot);
    named->attributes[0] = "class", named->attributes[1] = *outermost;
    named->attributes[2] = "attached", named->attributes[3] = "true";
    append(around, named);
    append(mine, around);
    for (const sti_Element *section = root->first; section != NULL; section = section->next) {
        if (sti_element_is(section, "keyframe")) sti_skip(e->m->robot, "<keyframe> of attached models");
        if (sti_mjcf_word("worldbody compiler option size visual statistic keyframe custom", section->name)) continue;
        sti_Element *own = copy(e, section, mine, prefix, "", true, NULL);
        if (own == NULL) return failed_copy(e, section);
        if (sti_element_is(own, "default")) {
            for (sti_Element *child = own->first, *next; child != NULL; child = next) {
                next = child->next;
                append(named, child);
            }
            continue;
        }
        if (part != world && sti_mjcf_word("contact tendon equality actuator sensor", section->name)) {
            const sti_Element *from = section->first; /* walk members and copies together */
            sti_Element **to = &own->first;
            for (own->last = NULL; from != NULL; from = from->next) {
                sti_Element *member = *to;
                const bool drop = refers_outside(from, world, part);
                if (drop)
                    *to = member->next;
                else
                    own->last = member, to = &member->next;
            }
        }
        own->attributes = sti_xml_keep(e->m->robot->files, 2 * sizeof *own->attributes);
        if (own->attributes == NULL) return sti_robot_memory(e->m->robot);
        own->n_attributes = 1;
        own->attributes[0] = "childclass", own->attributes[1] = *outermost;
        append(mine, own);
    }
    return ST_OK;
}

static st_Status attach(Expansion *e, sti_Element *at, sti_Element **place)
{
    sti_Mjcf *m = e->m;
    const char *name = sti_attribute(at, "model"), *prefix = sti_attribute(at, "prefix");
    const char *kind = sti_attribute(at, "frame") != NULL ? "frame" : "body", *part = sti_attribute(at, kind);
    const sti_Element *asset = name != NULL ? sti_mjcf_asset(m, "model", name) : NULL;
    const char *file = asset != NULL ? sti_attribute(asset, "file") : NULL;
    sti_Element *root = NULL, *next = at->next;
    STI_TRY(sti_mjcf_check(m, at, "model body frame prefix", ""));
    if (prefix == NULL) prefix = "";
    if (file == NULL)
        return sti_element_fail(m->robot->err, at, "model is \"%.60s\", there is no asset of that name with a file",
                                name != NULL ? name : "");
    if (--e->files < 0)
        return sti_element_fail(m->robot->err, at, "is one too many, must be at most %d files", MOST_FILES);
    STI_TRY(sti_robot_include(m->robot, asset, file, &root));
    if (!sti_element_is(root, "mujoco")) return sti_mjcf_unknown(m, at, NULL);
    STI_TRY(sti_mjcf_add_context(m, root));
    const sti_Element *main_root = m->root;
    m->root = root; /* use its own assets and defaults while it is expanded */
    st_Status status = expand(e, root);
    m->root = main_root;
    STI_TRY(status);
    const sti_Element *world = sti_child(root, "worldbody"), *found = world;
    if (part != NULL && world != NULL) found = find_inside(world, kind, part);
    if (found == NULL)
        return sti_element_fail(m->robot->err, at, "%s is \"%.60s\", there is none of that name in the model", kind,
                                part != NULL ? part : "");
    const char *outermost;
    STI_TRY(take_sections(e, root, world, found, prefix, &outermost));
    sti_Element *frame = make(e, at, "frame", at->up, 1);
    sti_Element *own = frame != NULL ? copy(e, found, frame, prefix, "", true, NULL) : NULL;
    if (own == NULL) return failed_copy(e, at);
    frame->attributes[0] = "childclass", frame->attributes[1] = outermost;
    if (found == world) /* attach the whole model */
        own->name = "frame";
    append(frame, own);
    frame->next = next;
    *place = frame;
    if (next == NULL) at->up->last = frame;
    return ST_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static st_Status include(Expansion *e, sti_Element *at, sti_Element **place)
{
    const char *file = sti_attribute(at, "file");
    sti_Element *root = NULL, *up = at->up;
    STI_TRY(sti_mjcf_check(e->m, at, "file", ""));
    if (file == NULL) return sti_element_fail(e->m->robot->err, at, "file is missing");
    if (--e->files < 0)
        return sti_element_fail(e->m->robot->err, at, "is one too many, must be at most %d", MOST_FILES);
    STI_TRY(sti_robot_include(e->m->robot, at, file, &root));
    STI_TRY(sti_mjcf_same_context(e->m, root->file, at->file));
    for (sti_Element *child = root->first; child != NULL; child = child->next)
        child->up = up;
    if (root->last != NULL) root->last->next = at->next;
    if (at->next == NULL) up->last = root->last != NULL ? root->last : up->last;
    *place = root->first != NULL ? root->first : at->next;
    if (up->first == NULL) up->last = NULL;
    return ST_OK;
}

/* Includes come first, because a <replicate> also copies members of sections, which may be in other files. */
static st_Status expand_includes(Expansion *e, sti_Element *element)
{
    for (sti_Element **at = &element->first; *at != NULL;) {
        if (sti_element_is(*at, "include")) {
            STI_TRY(include(e, *at, at));
            continue;
        }
        STI_TRY(expand_includes(e, *at));
        at = &(*at)->next;
    }
    return ST_OK;
}

/* Expands the elements below `element`. `at` is the pointer to the current one; its replacement is expanded in turn. An
 * empty name counts as missing. */
static st_Status expand_rest(Expansion *e, sti_Element *element)
{
    const char **texts = element->attributes;
    for (int k = 0; k < element->n_attributes; k++) {
        if (strcmp(texts[2 * k], "name") != 0 || texts[2 * k + 1][0] != '\0') continue;
        const int last = 2 * --element->n_attributes;
        texts[2 * k] = texts[last], texts[2 * k + 1] = texts[last + 1];
        break;
    }
    for (sti_Element **at = &element->first; *at != NULL;) {
        if (sti_element_is(*at, "replicate")) {
            sti_Element *first = *at, **place = at;
            STI_TRY(expand_rest(e, first)); /* expand the content once, before it is copied */
            STI_TRY(replicate(e, first, &place));
            at = &(*place)->next;
        } else if (sti_element_is(*at, "attach")) {
            STI_TRY(attach(e, *at, at));
            at = &(*at)->next;
        } else {
            STI_TRY(expand_rest(e, *at));
            at = &(*at)->next;
        }
    }
    return ST_OK;
}

static st_Status expand(Expansion *e, sti_Element *root)
{
    STI_TRY(expand_includes(e, root));
    return expand_rest(e, root);
}

st_Status sti_mjcf_expand(sti_Mjcf *m, sti_Element *root)
{
    Expansion e = {.m = m, .files = MOST_FILES, .elements = MOST_ELEMENTS};
    STI_TRY(sti_mjcf_add_context(m, root));
    return expand(&e, root);
}
