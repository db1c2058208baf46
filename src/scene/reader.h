/* scene/reader.h -- shared by the files of the scene reader: tables of keys for reader, schema and reference, and
 * messages with line numbers.
 *
 *     text --jansson--> tree --sets--> tree --tables--> defs --st_scene_add_*--> scene
 *     read.c            sets.c         object.c, value.c     build.c
 *
 * keys_shape.c, keys_joint.c and keys_scene.c have one table per kind of object. The reader, the schema (schema.c)
 * and the reference (reference.c) all use these tables, so they cannot disagree.
 */
#ifndef STI_SCENE_READER_H
#define STI_SCENE_READER_H

#include "base/base.h"
#include "import/mesh_file.h"
#include "import/xml.h"
#include "scene/locate.h"

#include <jansson.h>
#include <stiction/grains.h>
#include <stiction/scene.h>
#include <stiction/system.h>

/* ---- the tables ------------------------------------------------------------------------------- */

/* Every kind of value: its name, its reader in value.c or geometry.c, its schema in schema.c, and its description in
 * messages and in reference.c. The comments give the type that is filled. */
/* clang-format off */
#define STI_VALUES(ROW) \
    ROW(TEXT,       read_text,          text_schema,       "a string") /* only checked */                              \
    ROW(NAME,       read_name,          name_schema,       "a string") /* const char *, of the tree */                 \
    ROW(NUMBER,     read_number,        number_schema,     "a number") /* double */                                    \
    ROW(BOOLEAN,    read_boolean,       boolean_schema,    "true or false") /* bool */                                 \
    ROW(VECTOR,     read_vector,        vector_schema,     "three numbers [x, y, z]") /* st_Vec3 */                    \
    ROW(DIRECTION,  read_direction,     vector_schema,     "three numbers [x, y, z], not all 0") /* st_Vec3 */         \
    ROW(EXTENTS,    read_extents,       extents_schema,    "three numbers > 0 [x, y, z]") /* half: st_Vec3 */          \
    ROW(ROTATION,   read_rotation,      rotation_schema,   "a unit quaternion [w, x, y, z]"                            \
                                                           " or {\"axis\": [x, y, z], \"angle\": rad}") /* st_Quat */  \
    ROW(NORMAL,     read_normal,        vector_schema,     "three numbers [x, y, z], not all 0") /* st_Quat of z */    \
    ROW(ALONG,      read_along,         vector_schema,     "three numbers [x, y, z], not all 0") /* st_Quat of x */    \
    ROW(INERTIA,    read_inertia,       inertia_schema,    "a number > 0, [Ixx, Iyy, Izz]"                             \
                                                           " or three rows of three numbers") /* st_Mat3 */            \
    ROW(MATRIX6,    read_matrix6,       matrix6_schema,    "six rows of six numbers") /* double[36] */                 \
    ROW(LOCKS,      read_locks,         locks_schema,      "a list of x, y, z, rx, ry, rz, rotation"                   \
                                                           ", planar-xy, planar-xz, planar-yz") /* uint32_t */         \
    ROW(AXES,       read_axes,          axes_schema,       "\"world\" or \"body\"") /* bool */                         \
    ROW(BODY,       read_body,          name_schema,       "the name of a body, or \"ground\"") /* st_BodyId */        \
    ROW(JOINT,      read_joint,         name_schema,       "the name of a joint before it") /* st_JointId */           \
    ROW(FORCE,      read_force,         name_schema,       "the name of a force") /* st_ForceId */                     \
    ROW(MATERIAL,   read_material,      name_schema,       "the name of a material") /* st_MaterialId */               \
    ROW(CHOICE,     read_choice,        choice_schema,     "a word") /* enum of the `member`'s variants */             \
    ROW(MOTOR,      read_motor,         member_schema,     "an object, see Motors") /* st_MotorDef */                  \
    ROW(VARIANT,    read_nothing,       variant_schema,    "a word") /* read before the rest */                        \
    ROW(TABLE,      read_table,         table_schema,      "a list of [time, value] pairs") /* of an st_Profile */     \
    ROW(POINTS,     sti_points_read,    points_schema,     "a list of points [x, y, z]") /* the model */               \
    ROW(TRIANGLES,  sti_triangles_read, triangles_schema,  "a list of [i, j, k], numbers of points from 0") /* model */ \
    ROW(OUTLINE,    sti_outline_read,   outline_schema,    "a list of at least two pairs [radius, z], radii >= 0") /* the object's table */ \
    ROW(SIDES,      sti_sides_read,     sides_schema,      "a whole number from 3 to 1000") /* the object's */          \
    ROW(FILE,       sti_file_read,      name_schema,       "the path of a file .obj, .stl, .dae or .msh") /* the model */          \
    ROW(SCALE,      read_scale,         scale_schema,      "a number > 0, or three that are not 0") /* the object's */ \
    ROW(HEIGHTS,    sti_heights_read,   heights_schema,    "at least two rows of at least two numbers") /* st_ShapeDef */ \
    ROW(BITS,       sti_bits_read,      bits_schema,       "a list of whole numbers from 0 to 31") /* uint32_t */      \
    ROW(COLOR,      read_color,         color_schema,      "\"#rrggbb\" or \"#rrggbbaa\" with hexadecimal digits") /* uint32_t */ \
    ROW(SIDE,       read_side,          vector_schema,     "three numbers [x, y, z]") /* of an st_TendonPoint */       \
    ROW(FLAG,       read_flag,          boolean_schema,    "true or false") /* build.c acts on it */                   \
    ROW(PAIRS,      read_list,          pairs_schema,      "a list of pairs of bodies [\"a\", \"b\"]") /* build.c acts */ \
    ROW(POSITIONS,  read_positions,     positions_schema,  "an object of numbers {\"joint\": number, ...}") /* checked */ \
    ROW(WORDS,      read_words,         words_schema,      "a list of words") /* mjcf.c acts on it */                  \
    ROW(COUNT,      read_count,         count_schema,      "a whole number from 1 to 1e9") /* int */                   \
    ROW(REGION,     sti_region_read,    region_schema,     "the name of a region, or an object, see Regions") /* st_RegionDef */ \
    ROW(CELL,       read_cell,          member_schema,     "an object {\"x\": [from, to], ...}, see Periodic cells") /* st_Cell */ \
    ROW(INTERVAL,   read_interval,      interval_schema,   "two numbers [from, to], the second larger") /* of an st_Cell */ \
    ROW(SIZES,      sti_sizes_read,     sizes_schema,      "a number > 0, or an object, see Sizes") /* st_SizeDef */   \
    ROW(SIEVES,     sti_sieves_read,    sieves_schema,     "a list of [opening, share] pairs") /* of an st_SizeDef */  \
    ROW(LIST,       read_list,          list_schema,       "a list of objects") /* build.c acts on it */               \
    ROW(SIMULATION, read_object,        simulation_schema, "an object") /* build.c acts on it */
/* clang-format on */

#define STI_VALUE_NAME_OF(kind, read, schema, expected) STI_VALUE_##kind,
typedef enum sti_ValueKind { STI_VALUES(STI_VALUE_NAME_OF) } sti_ValueKind;
#undef STI_VALUE_NAME_OF

/* Sides of a mesh with an outline. */
enum { STI_SIDES_LEAST = 3, STI_SIDES_DEFAULT = 32, STI_SIDES_MOST = 1000 };

typedef enum sti_Range { STI_FINITE, STI_NOT_NEGATIVE, STI_POSITIVE, STI_FRACTION } sti_Range; /* 0 to 1 */

struct sti_Kind;

/* One key of one kind of object. A key with different meanings in different variants has one row for each. */
typedef struct sti_Key {
    const char *key;
    sti_ValueKind value;
    uint32_t in;          /* variants that have it: bit 1 << variant; shapes: ST_MEMBER_...; STI_ANY: all */
    uint32_t needed;      /* variants that require it */
    sti_Range range;      /* of numbers */
    size_t offset;        /* offset of its field in the def */
    const char *unit;     /* "m/s", or ""                                                       */
    const char *help;     /* one line                                                           */
    const char *fallback; /* text for the default, if the value in the def does not show it */
    /* lists, objects: kind of the members; choice: kind that has these words as variants */
    const struct sti_Kind *member;
} sti_Key;
#define STI_ANY 0xffffffffu

/* A member of `robots`, described in another file and read by robots.c. */
typedef struct sti_RobotDef {
    const char *file, *name, *material; /* NULL: left out                                          */
    st_Vec3 position;                   /* of its root in the world */
    st_Quat orientation;
    bool fixed, self_collision, contacts, overlaps, merge;
    int meshes; /* sti_MeshForm */
    st_MotorDef motor;
} sti_RobotDef;
typedef enum sti_MeshForm { STI_MESH_HULL, STI_MESH_MESH } sti_MeshForm;

/* A member of `fills`; its shapes are read by grains.c. */
typedef struct sti_FillEntry {
    st_FillDef fill;
    int seed;
} sti_FillEntry;

/* A member of `inlets`. */
typedef struct sti_InletEntry {
    st_InletDef inlet;
    int seed;
} sti_InletEntry;

typedef union sti_Def {
    st_BodyDef body;
    st_ShapeDef shape;
    st_JointDef joint;
    st_SpringDef spring;
    st_ForceDef force;
    st_MotorDef motor;
    st_TendonPoint tendon;
    st_MaterialDef material;
    st_MaterialPairDef material_pair;
    sti_RobotDef robot;
    st_RegionDef region;
    st_Cell cell;
    st_SizeDef size;
    sti_FillEntry fill;
    sti_InletEntry inlet;
    st_OutletDef outlet;
    st_MeasureDef measure;
    st_KeyframeDef keyframe;
    st_KeyframeBody keyframe_body;
    st_KeyframeMotor keyframe_motor;
    st_KeyframeForce keyframe_force;
} sti_Def;

typedef struct sti_Kind {
    const char *word;  /* "body"                                                                   */
    const char *title; /* "Bodies"                                                                 */
    const char *help;  /* a sentence or two                                                        */
    const sti_Key *keys;
    int n_keys;
    const char *(*variant_name)(int variant);    /* NULL after the last; NULL pointer: no variants */
    void (*defaults)(int variant, sti_Def *def); /* from the st_*_def() functions; may be NULL     */
} sti_Kind;

extern const sti_Kind sti_scene_kind, sti_body_kind, sti_shape_kind, sti_joint_kind, sti_tendon_kind, sti_motor_kind,
    sti_spring_kind, sti_force_kind, sti_material_kind, sti_material_pair_kind, sti_robot_kind, sti_region_kind,
    sti_size_kind, sti_fill_kind, sti_inlet_kind, sti_outlet_kind, sti_measure_kind, sti_keyframe_kind,
    sti_keyframe_body_kind, sti_keyframe_motor_kind, sti_keyframe_force_kind, sti_cell_kind;

extern const sti_Kind *const sti_kinds[];                  /* all but the scene; NULL after the last */
bool sti_kind_has(const sti_Kind *kind, const char *name); /* in some variant */
int sti_variant_count(const sti_Kind *kind);               /* at least 1                   */
const sti_Key *sti_variant_key(const sti_Kind *kind);      /* "type", "profile"; or NULL   */
bool sti_key_in(const sti_Kind *kind, const sti_Key *key, int variant);
bool sti_key_needed(const sti_Kind *kind, const sti_Key *key, int variant);
/* A word of the locks list or one of its shorthands; NULL after the last. */
const char *sti_lock_word(int index, uint32_t *locks);
/* A description of valid values of this key for messages, such as "a number > 0". */
const char *sti_expected(const sti_Key *key);

/* ---- reading ---------------------------------------------------------------------------------- */

/* An override. `path` is resolved: list members are given by number. */
typedef struct sti_Set {
    const char *text; /* as given */
    char *path;       /* malloc'd                                                                  */
} sti_Set;

/* A part of the tree that was made from an element of an XML file. */
typedef struct sti_Origin {
    const json_t *made;
    const sti_Element *from;
} sti_Origin;

/* The contact groups and materials of MJCF geoms, mjcf_contact.c. */
typedef struct sti_Geoms sti_Geoms;
void sti_geoms_free(sti_Geoms *geoms);

/* A list of all errors of a scene: reading continues after an error. */
typedef struct sti_ErrorList {
    st_Error *item;
    int count, room; /* errors found, which may exceed the room */
    const char *set; /* the last override with an error; NULL: none */
} sti_ErrorList;

/* A body of a robot. Links of one tree that overlap at the start do not touch, see import/overlap.c. */
typedef struct sti_RobotBody {
    const char *name, *file; /* memory of the files */
    int tree;                /* number of the tree in the scene */
} sti_RobotBody;

/* A member of `regions`. */
typedef struct sti_NamedRegion {
    const char *name; /* memory of the tree */
    st_RegionDef region;
} sti_NamedRegion;

typedef struct sti_Reader {
    const char *label; /* name of the file in messages */
    const char *text;
    size_t length;
    bool xml; /* the text is that of a robot, and the tree was made for it */
    json_t *root;
    sti_Xml files; /* XML elements of robots */
    sti_Origin *origins;
    size_t n_origins, origins_room;
    char *remarks; /* features of robots that were not imported, one per line; NULL: none */
    sti_RobotBody *robot_bodies;
    size_t n_robot_bodies, robot_bodies_room;
    int n_trees;
    sti_Geoms *geoms; /* NULL: none so far */
    sti_Set *sets;    /* overrides applied so far; one with a * has an entry for each place it reached */
    int n_sets, sets_room;
    sti_NamedRegion *regions;
    int n_regions;
    st_Scene *scene;
    st_SystemDef def;
    st_Error *err;         /* may be NULL                                                                  */
    sti_ErrorList *errors; /* NULL: reading stops at the first error                               */
} sti_Reader;

/* Should reading continue after a failure, to find more errors? */
#define STI_GO_ON(reader, status) ((reader)->errors != NULL && (status) != ST_ERR_MEMORY)

/* An object being read. */
typedef struct sti_Object {
    const sti_Reader *reader;
    const sti_Kind *kind;
    const sti_Place *place;
    const json_t *json;
    char subject[160]; /* `body "left"`, `shape 0 of body "left"`, `springs/2`: start of every message */
    int variant;
    sti_Def def;
    double *table;   /* of a force, motor, height field or sieve curve; owned, freed by sti_object_free */
    sti_Model model; /* of a hull or mesh; owned likewise */
    st_Vec3 scale;   /* scale of the model along its x, y, z; 0: not scaled */
    int n_outline;   /* corners of the outline of a mesh, in `table`; 0: none */
    int sides;       /* of a mesh with an outline; 0: not given */
} sti_Object;

/* A value being read: its object, key and place. */
typedef struct sti_Value {
    sti_Object *object;
    const sti_Key *key;
    const json_t *json;
    const sti_Place *place;
} sti_Value;
/* Reads a value into the field of the key; some functions store it elsewhere in the object. */
typedef st_Status sti_ReadValue(const sti_Value *v, void *field);

/* Fails with "LABEL:LINE: message", or "LABEL: --set ...: message" if the value came from an override. */
st_Status sti_report(const sti_Reader *reader, const sti_Place *place, st_Status status, const char *format, ...)
    STI_PRINTF(4, 5);
/* Likewise without a tree; with line 0: "LABEL: message". */
st_Status sti_report_line(const sti_Reader *reader, int line, st_Status status, const char *format, ...)
    STI_PRINTF(4, 5);
/* The line and the file of a part of the tree: in the scene file, or in that of a robot. */
int sti_place_line(const sti_Reader *reader, const sti_Place *place, const char **label);
/* Fails with ST_ERR_ARGUMENT: an override could not be applied. */
st_Status sti_report_set(const sti_Reader *reader, const char *set, const char *format, ...) STI_PRINTF(3, 4);
/* Returns the status of a call of the core. A failure's message, in `reader->err`, is completed with the subject,
 * the file and the line of the key that it names. */
st_Status sti_complete(const sti_Object *object, st_Status status);
/* Fails with `SUBJECT: KEY is FOUND, must be EXPECTED`. */
st_Status sti_wrong(const sti_Object *object, const sti_Place *place, const char *what, const json_t *found,
                    const char *expected);

/* Fills `object` (json, place, reader and kind are given) from its members. `family`: "of body "left"", or "". */
st_Status sti_object_read(sti_Object *object, const char *family);
/* Reads an object that is a value: `motor of joint "hinge"`. The caller frees it or takes over its data. */
st_Status sti_inner_read(const sti_Value *v, sti_Object *inner);
bool sti_object_has(const sti_Object *object, const char *key);
void sti_object_free(sti_Object *object);

/* Reads one value into the object's def; the object's variant and the key's range apply. */
st_Status sti_value_read(sti_Object *object, const sti_Key *key, const json_t *value, const sti_Place *place);
st_Status sti_vector_read(const sti_Object *object, const char *what, const json_t *value, const sti_Place *place,
                          st_Vec3 *out);

/* Reads a list of pairs of numbers into the object's table, one column after the other. The first numbers must
 * increase; messages call them `first`. */
st_Status sti_pairs_read(const sti_Value *v, const char *first, const char *expected);

/* Applies an override "PATH=VALUE" to the tree and stores it in `sets`. */
st_Status sti_set_apply(sti_Reader *reader, const char *text);

/* Makes the tree from a text, applies overrides and adds robots. reader->label, text, length and err are given. The
 * caller calls sti_reader_free() in any case. */
st_Status sti_tree_read(sti_Reader *reader, const char *const *sets, int n_sets);
void sti_reader_free(sti_Reader *reader);
/* Reads a whole file into one malloc'd block; 1 GiB at most. On failure *text is NULL. */
st_Status sti_text_read(const char *path, bool pipes, char **text, size_t *length, st_Error *err);

/* Reads every member of `robots` and adds its bodies, joints and other objects to the scene's lists. */
st_Status sti_robots_read(sti_Reader *reader);
/* Excludes contacts between links of one robot that overlap at the start. The scene has been built. */
st_Status sti_overlaps_exclude(sti_Reader *reader);
/* Adds a line to the remarks, unless it is already there. */
st_Status sti_reader_remark(sti_Reader *reader, const char *format, ...) STI_PRINTF(2, 3);
/* The tree of a scene that consists of the robot of this text. */
json_t *sti_robot_scene(const char *label);

/* Makes scene and system def from the tree. */
st_Status sti_build(sti_Reader *reader);

/* ---- texts of messages ------------------------------------------------------------------------ */

/* Appends to a text of `size` bytes; the rest is cut. */
void sti_append(char *out, size_t size, const char *format, ...) STI_PRINTF(3, 4);
/* A value as messages show it: `"heavy"`, `-1`, `a list of 2`, `an object`. */
void sti_found_text(const json_t *value, char *out, size_t size);

/* The candidate nearest to `word` by edit distance. Start with {.word = word}. */
typedef struct sti_Nearest {
    const char *word;
    const char *best; /* NULL: none is close */
    int distance;
    int n;            /* number of candidates so far */
    char listed[256]; /* "a, b, c, ..."      */
} sti_Nearest;
void sti_nearest_try(sti_Nearest *nearest, const char *candidate);
/* A hint after an unknown word: `; did you mean "mass"? Known: a, b, c`. */
void sti_nearest_text(const sti_Nearest *nearest, const char *known, char *out, size_t size);

#endif
