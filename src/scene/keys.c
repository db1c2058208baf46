/* scene/keys.c -- queries of the tables of keys (keys_shape.c, keys_joint.c, keys_scene.c). */
#include "scene/keys.h"

const sti_Kind *const sti_kinds[] = {&sti_material_kind,       &sti_material_pair_kind,
                                     &sti_shape_kind,          &sti_body_kind,
                                     &sti_joint_kind,          &sti_tendon_kind,
                                     &sti_motor_kind,          &sti_spring_kind,
                                     &sti_force_kind,          &sti_robot_kind,
                                     &sti_region_kind,         &sti_size_kind,
                                     &sti_fill_kind,           &sti_inlet_kind,
                                     &sti_outlet_kind,         &sti_measure_kind,
                                     &sti_keyframe_kind,       &sti_keyframe_body_kind,
                                     &sti_keyframe_motor_kind, &sti_keyframe_force_kind,
                                     &sti_cell_kind,           NULL};

bool sti_kind_has(const sti_Kind *kind, const char *name)
{
    for (int k = 0; k < kind->n_keys; k++)
        if (strcmp(kind->keys[k].key, name) == 0) return true;
    return false;
}

int sti_variant_count(const sti_Kind *kind)
{
    int n = 0;
    while (kind->variant_name != NULL && n < 32 && kind->variant_name(n) != NULL)
        n++;
    return n > 0 ? n : 1;
}

const sti_Key *sti_variant_key(const sti_Kind *kind)
{
    for (int k = 0; k < kind->n_keys; k++)
        if (kind->keys[k].value == STI_VALUE_VARIANT) return &kind->keys[k];
    return NULL;
}

/* Keys of shapes belong to members of st_ShapeDef. Each shape type has some of these members. */
static bool set_has(const sti_Kind *kind, uint32_t set, int variant)
{
    if (set == STI_ANY) return true;
    return (set & (kind == &sti_shape_kind ? st_shape_type_members((st_ShapeType)variant) : BIT(variant))) != 0;
}

bool sti_key_in(const sti_Kind *kind, const sti_Key *key, int variant)
{
    return set_has(kind, key->in, variant);
}

bool sti_key_needed(const sti_Kind *kind, const sti_Key *key, int variant)
{
    return set_has(kind, key->needed, variant);
}

const char *sti_expected(const sti_Key *key)
{
    static const char *const number[] = {"a number", "a number >= 0", "a number > 0", "a number from 0 to 1"};
#define EXPECTED(kind, read, schema, text) [STI_VALUE_##kind] = (text),
    static const char *const expected[] = {STI_VALUES(EXPECTED)};
#undef EXPECTED
    if (key->value == STI_VALUE_NUMBER) return number[key->range];
    if (key->value == STI_VALUE_BODY && key->needed != 0) return "the name of a body";
    if (key->value == STI_VALUE_LIST && key->needed != 0) return "a list of at least one object";
    return expected[key->value];
}
