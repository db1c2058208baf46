/* import/mjcf_contact.c -- contacts between geoms of MJCF files: which pairs touch, and with which friction.
 *
 * Touching. Two geoms touch where contype of one and conaffinity of the other have a bit in common; two shapes of a
 * scene touch if the `touches` of each has a group of the other. So every pair (contype, conaffinity) that occurs
 * becomes a group, and touches the groups that MuJoCo's rule allows. The scene's own shapes count as geoms with the
 * defaults, 1 and 1. This pair is group 0; the others follow the groups that the scene itself uses. Kinds that touch
 * the same kinds share a group. If more than the 32 groups of a scene are needed, the last group takes all remaining
 * kinds, and `exclude` lists the pairs of bodies that would touch by their groups but not by their geoms.
 *
 * Friction. The geom with the higher priority decides. If priorities are equal, a contact has the larger condim and the
 * larger of each friction: sliding from condim 3, torsional from 4, rolling from 6. Shapes of a scene have the
 * geometric mean instead. So every (friction, condim, priority) that occurs becomes a material, and pairs of materials
 * get their own coefficients. A contact of a geom with a shape that is no geom uses the numbers of the geom, with
 * condim at least 3.
 *
 * Pairs. Two geoms named in a <pair> touch regardless of their bits, with the friction of the pair. Such geoms have
 * kinds of their own, one for each set of pairs.
 *
 * All robots of a scene share these tables, which are written after all robots have been read. */
#include "import/mjcf.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_GROUPS   32
#define MOST_FILTERS  1024
#define MOST_SURFACES 64 /* which gives 2080 pairs */

typedef struct Filter {
    const sti_Element *at; /* the first geom of this kind */
    uint32_t contype, conaffinity;
    const char *pairs; /* text of the <pair>s that name it, to distinguish kinds; "": none */
} Filter;

typedef struct Surface {
    const sti_Element *at;
    double mu[3]; /* sliding, torsional, rolling */
    int condim, priority;
    const char *pairs; /* as in Filter */
    char name[32];     /* name of its material */
} Surface;

#define MOST_PAIRS 65536
typedef struct Pair { /* two kinds of geoms, by a <pair> */
    sti_Contacting a, b;
    Surface surface; /* friction of the pair */
} Pair;

typedef struct Use {
    json_t *shape, *body; /* a reference that we release; name of its body */
    int filter, surface;
} Use;

struct sti_Geoms {
    int n_filters, n_surfaces;
    STI_ARRAY(Filter, filter); /* the first is the default */
    Surface surface[MOST_SURFACES];
    Use *use;
    int64_t n_uses, room;
    STI_ARRAY(Pair, pair);
    int n_pairs;
    st_Allocator allocator;
};

/* ---- reading ------------------------------------------------------------------------------------- */

static sti_Geoms *geoms_of(sti_Reader *reader)
{
    if (reader->geoms != NULL) return reader->geoms;
    reader->geoms = calloc(1, sizeof *reader->geoms);
    if (reader->geoms == NULL) return NULL;
    sti_Geoms *geoms = reader->geoms;
    geoms->allocator = st_default_allocator();
    if (STI_GROW(&geoms->allocator, geoms->filter, geoms->filter_size, 1, reader->err) != ST_OK) return NULL;
    geoms->n_filters = 1;
    geoms->filter[0] = (Filter){NULL, 1, 1, ""};
    return geoms;
}

static st_Status find_filter(const sti_Mjcf *m, sti_Geoms *geoms, const Filter *filter, int *out)
{
    for (*out = 0; *out < geoms->n_filters; ++*out)
        if (geoms->filter[*out].contype == filter->contype && geoms->filter[*out].conaffinity == filter->conaffinity &&
            strcmp(geoms->filter[*out].pairs, filter->pairs) == 0)
            return ST_OK;
    if (geoms->n_filters == MOST_FILTERS)
        return sti_element_fail(m->robot->err, filter->at, "has geoms with more than %d different contact filters",
                                MOST_FILTERS);
    STI_TRY(STI_GROW(&geoms->allocator, geoms->filter, geoms->filter_size, geoms->n_filters + 1, m->robot->err));
    geoms->filter[geoms->n_filters++] = *filter;
    return ST_OK;
}

static bool same_surface(const Surface *a, const Surface *b)
{
    bool same = true;
    for (int k = 0; k < 3; k++)
        same = same && a->mu[k] == b->mu[k];
    return same && a->condim == b->condim && a->priority == b->priority && strcmp(a->pairs, b->pairs) == 0;
}

static Surface together(const Surface *a, const Surface *b);

st_Status sti_mjcf_contact(const sti_Mjcf *m, const sti_Element *at, sti_Contacting *out)
{
    double type = 1, affinity = 1;
    *out = (sti_Contacting){-1, -1};
    STI_TRY(sti_mjcf_number(m, at, "contype", &type));
    STI_TRY(sti_mjcf_number(m, at, "conaffinity", &affinity));
    if (type < 0 || affinity < 0 || type >= 4294967296.0 || affinity >= 4294967296.0)
        return sti_element_fail(m->robot->err, at, "contype and conaffinity must be from 0 to 4294967295");
    if (m->only_pairs) type = affinity = 0;
    Filter filter = {at, (uint32_t)type, (uint32_t)affinity, ""};
    /* The <pair>s of the file that name a geom, as text: the other geom and the numbers, in order. "": none. */
    const char *name = sti_attribute(at, "name");
    char text[2000] = "";
    filter.pairs = "";
    for (const sti_Element *section = m->root->first; section != NULL && name != NULL; section = section->next)
        for (const sti_Element *pair = section->first; pair != NULL; pair = pair->next) {
            if (!sti_element_is(section, "contact") || !sti_element_is(pair, "pair")) continue;
            const char *one = sti_attribute(pair, "geom1"), *two = sti_attribute(pair, "geom2");
            if (one == NULL || two == NULL || (strcmp(one, name) != 0 && strcmp(two, name) != 0)) continue;
            const char *friction = sti_mjcf_text(m, pair, "friction"), *dim = sti_mjcf_text(m, pair, "condim");
            sti_append(text, sizeof text, "%.80s|%.60s|%.4s;", strcmp(one, name) == 0 ? two : one,
                       friction != NULL ? friction : "", dim != NULL ? dim : "");
        }
    if (text[0] != '\0') {
        filter.pairs = sti_xml_keep_text(m->robot->files, text);
        if (filter.pairs == NULL) return sti_robot_memory(m->robot);
    }
    if ((filter.contype == 0 && filter.conaffinity == 0 && filter.pairs[0] == '\0') || m->no_contact) return ST_OK;

    Surface surface;
    sti_Geoms *geoms = geoms_of(m->robot->reader);
    if (geoms == NULL) return sti_robot_memory(m->robot);
    STI_TRY(find_filter(m, geoms, &filter, &out->filter));
    const sti_Element *holder = sti_mjcf_holder(m, at, "friction");
    double condim = 3, priority = 0;
    int n = 0;
    surface = (Surface){.at = at, .mu = {1, 0.005, 0.0001}, .pairs = ""};
    STI_TRY(sti_mjcf_some_numbers(m, at, "friction", 3, &n, surface.mu));
    STI_TRY(sti_mjcf_number(m, at, "condim", &condim));
    STI_TRY(sti_mjcf_number(m, at, "priority", &priority));
    for (int k = 0; k < 3; k++)
        if (!(surface.mu[k] >= 0))
            return sti_element_fail(m->robot->err, holder, "friction has %g, must be numbers >= 0", surface.mu[k]);
    if (condim != 1 && condim != 3 && condim != 4 && condim != 6)
        return sti_element_fail(m->robot->err, at, "condim is %g, must be 1, 3, 4 or 6", condim);
    if (!(fabs(priority) <= 1e9)) return sti_element_fail(m->robot->err, at, "priority is %g", priority);
    surface.condim = (int)condim;
    surface.priority = (int)priority;
    surface.pairs = filter.pairs;
    if (m->robot->def.material != NULL) return ST_OK;
    int *found = &out->surface;
    for (*found = 0; *found < geoms->n_surfaces; ++*found)
        if (same_surface(&geoms->surface[*found], &surface)) return ST_OK;
    if (geoms->n_surfaces == MOST_SURFACES)
        return sti_element_fail(m->robot->err, surface.at,
                                "is the %dth different combination of friction, condim and priority, must be at most "
                                "%d; \"material\" of the robot sets one for all geoms",
                                MOST_SURFACES + 1, MOST_SURFACES);
    geoms->surface[geoms->n_surfaces++] = surface;
    return ST_OK;
}

st_Status sti_mjcf_pair(sti_Mjcf *m, const sti_Element *at)
{
    sti_Geoms *geoms = geoms_of(m->robot->reader);
    const sti_MjcfPlace *one, *two;
    const sti_Element *holder = sti_mjcf_holder(m, at, "friction");
    double mu[5] = {1, 1, 0.005, 0.0001, 0.0001}, condim = 3;
    int n = 0;
    if (geoms == NULL) return sti_robot_memory(m->robot);
    STI_TRY(sti_mjcf_check(m, at, "name class geom1 geom2 friction condim", "solref solimp solreffriction margin gap"));
    STI_TRY(sti_mjcf_find_place(m, at, "geom1", "geom", &one));
    STI_TRY(sti_mjcf_find_place(m, at, "geom2", "geom", &two));
    if (m->no_contact || m->no_pairs || one->contacting.filter < 0 || two->contacting.filter < 0) return ST_OK;
    STI_TRY(sti_mjcf_some_numbers(m, at, "friction", 5, &n, mu));
    STI_TRY(sti_mjcf_number(m, at, "condim", &condim));
    for (int k = 0; k < 5; k++)
        if (!(mu[k] >= 0)) return sti_element_fail(m->robot->err, at, "friction has %g, must be numbers >= 0", mu[k]);
    if (geoms->n_pairs == MOST_PAIRS)
        return sti_element_fail(m->robot->err, at, "is one too many, must be at most %d pairs", MOST_PAIRS);
    STI_TRY(STI_GROW(&geoms->allocator, geoms->pair, geoms->pair_size, geoms->n_pairs + 1, m->robot->err));
    Surface surface = {.at = at, .mu = {mu[0], mu[2], mu[3]}, .condim = (int)condim, .pairs = ""};
    /* without friction of its own, a pair has that of its geoms */
    if (one->contacting.surface >= 0 && two->contacting.surface >= 0 && holder == NULL) {
        surface = together(&geoms->surface[one->contacting.surface], &geoms->surface[two->contacting.surface]);
        surface.at = at;
    }
    if (surface.condim < 3) surface.mu[0] = 0;
    if (surface.condim < 4) surface.mu[1] = 0;
    if (surface.condim < 6) surface.mu[2] = 0;
    geoms->pair[geoms->n_pairs++] = (Pair){one->contacting, two->contacting, surface};
    return ST_OK;
}

st_Status sti_geom_placed(sti_Robot *robot, sti_Contacting contacting, json_t *shape, json_t *body)
{
    sti_Geoms *geoms = robot->reader->geoms;
    if (contacting.filter < 0 || geoms == NULL) {
        json_decref(body);
        return ST_OK;
    }
    if (geoms->n_uses == geoms->room) {
        int64_t room = geoms->room > 0 ? 2 * geoms->room : 64;
        Use *grown = realloc(geoms->use, (size_t)room * sizeof *grown);
        if (grown == NULL) {
            json_decref(body);
            return sti_robot_memory(robot);
        }
        geoms->use = grown;
        geoms->room = room;
    }
    geoms->use[geoms->n_uses++] = (Use){json_incref(shape), body, contacting.filter, contacting.surface};
    return body != NULL ? ST_OK : sti_robot_memory(robot);
}

/* ---- which pairs touch --------------------------------------------------------------------------- */

/* The union of the bits in list `key` over all shapes of a list. */
static uint32_t bits_of(const json_t *shapes, const char *key)
{
    uint32_t bits = 0;
    for (size_t k = 0; k < json_array_size(shapes); k++) {
        const json_t *list = json_object_get(json_array_get(shapes, k), key);
        for (size_t i = 0; i < json_array_size(list); i++) {
            /* other values are refused when the scene is read */
            double bit = json_number_value(json_array_get(list, i));
            if (bit >= 0 && bit < 32) bits |= 1u << (int)bit;
        }
    }
    return bits;
}

/* Groups, by the kinds that they touch. The first is group 0 of the scene. `touches` of each group is a set of bits. */
typedef struct Groups {
    int n;          /* number of kinds */
    uint8_t *touch; /* n x n: do two kinds touch?                        */
    uint8_t of[MOST_FILTERS];
    uint32_t touches[MOST_GROUPS];
    bool shared; /* the last group has kinds that touch different kinds */
} Groups;

static st_Status add_member(sti_Reader *reader, const char *key, json_t *member, const sti_Element *from);

/* Excludes pairs of bodies whose groups touch but whose geoms do not. */
static st_Status write_apart_bodies(sti_Reader *reader, const Groups *groups)
{
    const sti_Geoms *geoms = reader->geoms;
    const sti_Element *at = geoms->filter[geoms->n_filters - 1].at;
    int mixed = 0;
    for (int64_t a = 0; a < geoms->n_uses; a++) {
        bool first = true; /* first geom of its body: geoms of a body are consecutive */
        if (a > 0) first = !json_equal(geoms->use[a - 1].body, geoms->use[a].body);
        for (int64_t b = a + 1; first && b < geoms->n_uses; b++) {
            if (json_equal(geoms->use[b - 1].body, geoms->use[b].body) ||
                json_equal(geoms->use[a].body, geoms->use[b].body))
                continue;
            bool meet = false, wrong = false;
            for (int64_t i = a; i < geoms->n_uses && json_equal(geoms->use[i].body, geoms->use[a].body); i++)
                for (int64_t j = b; j < geoms->n_uses && json_equal(geoms->use[j].body, geoms->use[b].body); j++) {
                    const int x = geoms->use[i].filter, y = geoms->use[j].filter;
                    const bool do_touch = groups->touch[x * groups->n + y] != 0;
                    const bool by_groups = (groups->touches[groups->of[x]] >> groups->of[y] & 1) != 0;
                    meet = meet || do_touch;
                    wrong = wrong || (by_groups && !do_touch);
                }
            mixed += meet && wrong;
            if (meet || !wrong) continue;
            json_t *pair = json_pack("[O, O]", geoms->use[a].body, geoms->use[b].body);
            STI_TRY(add_member(reader, "exclude", pair, at));
        }
    }
    if (mixed == 0) return ST_OK;
    return sti_reader_remark(reader,
                             "%.200s: geoms are of more than %d kinds by what they touch: of %d pairs of bodies more "
                             "geoms touch than the file says",
                             at->file, MOST_GROUPS, mixed);
}

/* ---- friction ------------------------------------------------------------------------------------ */

/* The friction between two surfaces by MuJoCo's rule; 0 in directions that the contact does not have. */
static Surface together(const Surface *a, const Surface *b)
{
    Surface c = a->priority >= b->priority ? *a : *b;
    for (int k = 0; k < 3 && a->priority == b->priority; k++)
        c.mu[k] = fmax(a->mu[k], b->mu[k]);
    if (a->priority == b->priority && b->condim > c.condim) c.condim = b->condim;
    if (c.condim < 3) c.mu[0] = 0;
    if (c.condim < 4) c.mu[1] = 0;
    if (c.condim < 6) c.mu[2] = 0;
    return c;
}

/* The friction between a geom and a shape that is no geom. */
static Surface alone(const Surface *a)
{
    const Surface slides = {.mu = {0, 0, 0}, .condim = 3, .priority = a->priority};
    return together(a, &slides);
}

static json_t *with_friction(json_t *json, const Surface *a, bool zeros)
{
    static const char *const keys[] = {"friction", "spinning_friction", "rolling_friction"};
    for (int k = 0; k < 3; k++)
        if (k == 0 || zeros || a->mu[k] > 0) json = sti_with(json, keys[k], json_real(a->mu[k]));
    return json;
}

/* Takes ownership of `member`. */
static st_Status add_member(sti_Reader *reader, const char *key, json_t *member, const sti_Element *from)
{
    if (json_object_get(reader->root, key) == NULL) json_object_set_new(reader->root, key, json_array());
    json_t *list = json_object_get(reader->root, key);
    if (list != NULL && !json_is_array(list)) { /* the scene reader reports this error later */
        json_decref(member);
        return ST_OK;
    }
    if (json_array_append_new(list, member) != 0) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    return sti_origin(reader, member, from);
}

static bool is_taken(const json_t *materials, const char *name)
{
    for (size_t k = 0; k < json_array_size(materials); k++) {
        const char *other = json_string_value(json_object_get(json_array_get(materials, k), "name"));
        if (other != NULL && strcmp(other, name) == 0) return true;
    }
    return false;
}

/* Would the scene's own rule give the same? Then the pair is not written. */
static bool as_combined(const Surface *a, const Surface *b, const Surface *c)
{
    const Surface x = alone(a), y = alone(b);
    return x.mu[0] == y.mu[0] && c->mu[0] == x.mu[0] && c->mu[1] == fmax(x.mu[1], y.mu[1]) &&
           c->mu[2] == fmax(x.mu[2], y.mu[2]);
}

/* ---- the end ------------------------------------------------------------------------------------- */

st_Status sti_geoms_finish(sti_Reader *reader)
{
    if (reader->geoms == NULL) return ST_OK;
    sti_Geoms *geoms = reader->geoms;
    const bool one = geoms->n_surfaces == 1 && geoms->surface[0].condim >= 3; /* a single material needs no name */
    if (!one) {
        /* Names materials mjcf1, mjcf2, ..., skipping names that the scene itself uses. */
        int number = 0;
        for (int k = 0; k < geoms->n_surfaces; k++) {
            Surface *a = &geoms->surface[k];
            do /* ends, because the scene has finitely many */
                snprintf(a->name, sizeof a->name, "mjcf%d", ++number);
            while (is_taken(json_object_get(reader->root, "materials"), a->name));
            const Surface own = alone(a);
            json_t *json = with_friction(json_pack("{s:s}", "name", a->name), &own, false);
            STI_TRY(add_member(reader, "materials", json, a->at));
        }
        /* Pairs whose surface is not the one that the scene's own rule gives. */
        for (int i = 0; i < geoms->n_surfaces; i++)
            for (int j = i; j < geoms->n_surfaces; j++) {
                const Surface *a = &geoms->surface[i], *b = &geoms->surface[j];
                Surface c = together(a, b);
                for (int k = 0; k < geoms->n_pairs; k++) {
                    const int x = geoms->pair[k].a.surface, y = geoms->pair[k].b.surface;
                    if ((x == i && y == j) || (x == j && y == i)) c = geoms->pair[k].surface;
                }
                if (as_combined(a, b, &c)) continue;
                json_t *json = with_friction(json_pack("{s:s, s:s}", "a", a->name, "b", b->name), &c, true);
                STI_TRY(add_member(reader, "material_pairs", json, b->at));
            }
    }
    for (int64_t k = 0; k < geoms->n_uses; k++) {
        const Use *use = &geoms->use[k];
        if (use->surface < 0) continue; /* the robot has one material for all its shapes */
        const Surface *a = &geoms->surface[use->surface], own = alone(a);
        json_t *members = one ? with_friction(json_object(), &own, false) : json_pack("{s:s}", "material", a->name);
        bool failed = members == NULL || json_object_update(use->shape, members) != 0;
        json_decref(members);
        if (failed) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    }
    /* The number of groups that the scene itself uses; 0 is always one of them. */
    const json_t *ground = json_object_get(reader->root, "ground"), *bodies = json_object_get(reader->root, "bodies");
    uint32_t bits = 1 | bits_of(ground, "groups") | bits_of(ground, "touches");
    for (size_t k = 0; k < json_array_size(bodies); k++) {
        const json_t *shapes = json_object_get(json_array_get(bodies, k), "shapes");
        bits |= bits_of(shapes, "groups") | bits_of(shapes, "touches");
    }
    int n = 0;
    while (n < 32 && bits >> n != 0)
        n++;
    const int own = n;
    Groups groups = {.n = geoms->n_filters};
    st_Status status = ST_OK;
    if (groups.n == 1) return ST_OK;
    groups.touch = malloc((size_t)groups.n * (size_t)groups.n);
    if (groups.touch == NULL) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    const int n_kinds = groups.n;
    int next = own;
    for (int i = 0; i < n_kinds; i++)
        for (int k = 0; k < n_kinds; k++) {
            const Filter *a = &geoms->filter[i], *b = &geoms->filter[k];
            groups.touch[i * n_kinds + k] = (a->contype & b->conaffinity) != 0 || (b->contype & a->conaffinity) != 0;
        }
    for (int k = 0; k < geoms->n_pairs; k++) {
        const int x = geoms->pair[k].a.filter, y = geoms->pair[k].b.filter;
        groups.touch[x * n_kinds + y] = groups.touch[y * n_kinds + x] = 1;
    }
    for (int i = 1; i < n_kinds; i++) {
        int like = 0; /* the first kind that touches the same kinds */
        while (memcmp(&groups.touch[like * n_kinds], &groups.touch[i * n_kinds], (size_t)n_kinds) != 0)
            like++;
        if (like == i && next == MOST_GROUPS) groups.shared = true;
        groups.of[i] = like < i ? groups.of[like] : (uint8_t)(next < MOST_GROUPS ? next++ : MOST_GROUPS - 1);
    }
    for (int i = 0; i < n_kinds; i++)
        for (int k = 0; k < n_kinds; k++)
            if (groups.touch[i * n_kinds + k] != 0) groups.touches[groups.of[i]] |= 1u << groups.of[k];
    for (int g = 0; g < MOST_GROUPS; g++) /* other groups of the scene touch the same groups as its first */
        for (int k = 1; k < own && (groups.touches[g] & 1) != 0; k++)
            groups.touches[g] |= 1u << k;
    for (int64_t k = 0; k < geoms->n_uses && status == ST_OK; k++) {
        const Use *use = &geoms->use[k];
        const int own_group = groups.of[use->filter];
        json_t *touches = json_array(), *group = own_group > 0 ? json_pack("[i]", own_group) : NULL;
        for (int g = 0; g < MOST_GROUPS; g++)
            if ((groups.touches[own_group] >> g & 1) != 0) touches = sti_append_to(touches, json_integer(g));
        bool failed = own_group > 0 && json_object_set_new(use->shape, "groups", group) != 0;
        failed = json_object_set_new(use->shape, "touches", touches) != 0 || failed;
        if (failed) status = sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    }
    if (status == ST_OK && groups.shared) status = write_apart_bodies(reader, &groups);
    free(groups.touch);
    return status;
}

void sti_geoms_free(sti_Geoms *geoms)
{
    if (geoms == NULL) return;
    for (int64_t k = 0; k < geoms->n_uses; k++) {
        json_decref(geoms->use[k].shape);
        json_decref(geoms->use[k].body);
    }
    STI_RELEASE(&geoms->allocator, geoms->filter, geoms->filter_size);
    STI_RELEASE(&geoms->allocator, geoms->pair, geoms->pair_size);
    free(geoms->use);
    free(geoms);
}
