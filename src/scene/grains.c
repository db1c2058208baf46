/* scene/grains.c -- reads and checks regions, sizes and fills, and passes them to the core. */
#include "scene/grains.h"

#include "scene/geometry.h"

#include <stdio.h>
#include <stdlib.h>

static st_Status grains_wrong(const sti_Value *v)
{
    return sti_wrong(v->object, v->place, v->key->key, v->json, sti_expected(v->key));
}

/* ---- regions ---------------------------------------------------------------------------------- */

st_Status sti_region_read(const sti_Value *v, void *field)
{
    const sti_Reader *reader = v->object->reader;
    const char *name = json_string_value(v->json);
    if (json_is_object(v->json)) {
        sti_Object inner;
        STI_TRY(sti_inner_read(v, &inner));
        *(st_RegionDef *)field = inner.def.region;
        return ST_OK;
    }
    if (name == NULL) return grains_wrong(v);
    sti_Nearest nearest = {.word = name};
    for (int k = 0; k < reader->n_regions; k++) {
        if (strcmp(reader->regions[k].name, name) == 0) {
            *(st_RegionDef *)field = reader->regions[k].region;
            return ST_OK;
        }
        sti_nearest_try(&nearest, reader->regions[k].name);
    }
    char text[400];
    sti_nearest_text(&nearest, "regions", text, sizeof text);
    return sti_report(reader, v->place, ST_ERR_FORMAT, "%s: %s is \"%.60s\", there is no region of that name%s",
                      v->object->subject, v->key->key, name, text);
}

st_Status sti_region_keep(sti_Reader *reader, sti_Object *object)
{
    const char *name = json_string_value(json_object_get(object->json, "name"));
    if (name == NULL || name[0] == '\0')
        return sti_report(reader, object->place, ST_ERR_FORMAT,
                          "%s: \"name\" is missing, a region in the list needs one: others refer to it",
                          object->subject);
    for (int k = 0; k < reader->n_regions; k++)
        if (strcmp(reader->regions[k].name, name) == 0)
            return sti_report(reader, object->place, ST_ERR_FORMAT,
                              "%s: its name is used twice; names of regions must differ", object->subject);
    sti_NamedRegion *larger = realloc(reader->regions, (size_t)(reader->n_regions + 1) * sizeof *larger);
    if (larger == NULL) return sti_report(reader, object->place, ST_ERR_MEMORY, "out of memory for regions");
    reader->regions = larger;
    reader->regions[reader->n_regions++] = (sti_NamedRegion){name, object->def.region};
    return ST_OK;
}

/* ---- sizes ------------------------------------------------------------------------------------ */

st_Status sti_sizes_read(const sti_Value *v, void *field)
{
    st_SizeDef *out = field;
    if (json_is_number(v->json)) {
        *out = (st_SizeDef){.type = ST_SIZE_FIXED, .mean = json_number_value(v->json)};
        return out->mean > 0 ? ST_OK : grains_wrong(v);
    }
    if (!json_is_object(v->json)) return grains_wrong(v);
    sti_Object inner;
    const st_Status status = sti_inner_read(v, &inner);
    *out = inner.def.size;
    free(v->object->table);
    v->object->table = inner.table; /* table of a sieve curve */
    return status;
}

st_Status sti_sieves_read(const sti_Value *v, void *field)
{
    (void)field;
    st_SizeDef *out = &v->object->def.size;
    STI_TRY(sti_pairs_read(v, "opening", "a pair [opening, share]"));
    out->n_sieves = (int)json_array_size(v->json);
    out->openings = v->object->table;
    out->passing = out->openings + out->n_sieves;
    return ST_OK;
}

/* ---- fills ------------------------------------------------------------------------------------ */

/* The shapes of a grain. Their data must live until the core has copied them. */
typedef struct Shapes {
    sti_Object *object;
    st_ShapeDef *def;
    size_t n;
} Shapes;

static st_Status read_shapes(sti_Reader *reader, const sti_Object *fill, Shapes *out)
{
    const json_t *list = json_object_get(fill->json, "shapes");
    const sti_Place place = {fill->place, "shapes", 0};
    const size_t n = json_array_size(list);
    char family[sizeof fill->subject + 4];
    snprintf(family, sizeof family, "of %s", fill->subject);
    out->object = calloc(n, sizeof *out->object);
    out->def = calloc(n, sizeof *out->def);
    if (out->object == NULL || out->def == NULL)
        return sti_report(reader, &place, ST_ERR_MEMORY, "%s: out of memory for %zu shapes", fill->subject, n);
    for (out->n = 0; out->n < n;) {
        const sti_Place at = {&place, NULL, out->n};
        sti_Object *object = &out->object[out->n];
        *object =
            (sti_Object){.reader = reader, .kind = &sti_shape_kind, .place = &at, .json = json_array_get(list, out->n)};
        out->n++;
        STI_TRY(sti_object_read(object, family));
        STI_TRY(sti_shape_finish(object));
        out->def[out->n - 1] = object->def.shape;
    }
    return ST_OK;
}

/* Fails if both of two keys with the same meaning are given. */
static st_Status check_not_both(const sti_Object *object, const char *a, const char *b)
{
    if (!sti_object_has(object, a) || !sti_object_has(object, b)) return ST_OK;
    return sti_report(object->reader, object->place, ST_ERR_FORMAT,
                      "%s: has both \"%s\" and \"%s\", must have one of them", object->subject, a, b);
}

static void free_shapes(Shapes *shapes)
{
    for (size_t k = 0; k < shapes->n; k++)
        sti_object_free(&shapes->object[k]);
    free(shapes->object);
    free(shapes->def);
}

st_Status sti_fill_add(sti_Reader *reader, sti_Object *object)
{
    st_FillDef *def = &object->def.fill.fill;
    Shapes shapes = {0};
    STI_TRY(check_not_both(object, "number", "packing_fraction"));
    st_Status status = read_shapes(reader, object, &shapes);
    def->shapes = shapes.def;
    def->n_shapes = (int)shapes.n;
    def->seed = (uint64_t)object->def.fill.seed;
    if (status == ST_OK) status = sti_complete(object, st_scene_fill(reader->scene, def, NULL, NULL, reader->err));
    free_shapes(&shapes);
    return status;
}

st_Status sti_inlet_add(sti_Reader *reader, sti_Object *object)
{
    st_InletDef *def = &object->def.inlet.inlet;
    Shapes shapes = {0};
    STI_TRY(check_not_both(object, "rate", "mass_rate"));
    if (!sti_object_has(object, "rate") && !sti_object_has(object, "mass_rate"))
        return sti_report(reader, object->place, ST_ERR_FORMAT,
                          "%s: has neither \"rate\" nor \"mass_rate\", must have one of them", object->subject);
    st_Status status = read_shapes(reader, object, &shapes);
    def->grains.shapes = shapes.def;
    def->grains.n_shapes = (int)shapes.n;
    def->grains.seed = (uint64_t)object->def.inlet.seed;
    if (status == ST_OK) status = sti_complete(object, st_scene_add_inlet(reader->scene, def, NULL, reader->err));
    free_shapes(&shapes);
    return status;
}
