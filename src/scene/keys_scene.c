/* scene/keys_scene.c -- the keys of bodies, of robots, and of the scene that holds everything. */
#include "scene/keys.h"

/* ---- bodies ----------------------------------------------------------------------------------- */

static const sti_Key body_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Body, name), "",
     "unique among bodies; `ground` is not allowed", "body1, body2, ...", NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Body, pose.p), "m",
     "of the centre of mass, in the world", NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, STI_ANY, 0, STI_FINITE, FIELD(Body, pose.q), "", "body to world", NULL, NULL},
    {"velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Body, velocity), "m/s",
     "of the centre of mass, world axes", NULL, NULL},
    {"angular_velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Body, spin), "rad/s", "body axes", NULL, NULL},
    {"mass", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Body, mass), "kg", "",
     "from the shapes and their densities", NULL},
    {"inertia", STI_VALUE_INERTIA, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Body, inertia), "kg m^2",
     "about the centre of mass, body axes: one number for all three axes, [Ixx, Iyy, Izz], or three rows",
     "from the shapes", NULL},
    {"locks", STI_VALUE_LOCKS, STI_ANY, 0, STI_FINITE, FIELD(Body, locks), "",
     "locked degrees of freedom: translations along world axes (x, y, z), rotations about body axes (rx, ry, rz), "
     "or several at once (rotation, planar-xy, ...)",
     NULL, NULL},
    {"fixed", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, FIELD(Body, fixed), "",
     "no force moves it, as if it were part of the ground", NULL, NULL},
    {"gravity", STI_VALUE_NUMBER, STI_ANY, 0, STI_FINITE, FIELD(Body, gravity), "",
     "factor on gravity; 0: no weight, -1: it rises", NULL, NULL},
    {"medium", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Body, medium), "",
     "factor on the drag of the fluid (medium_density, medium_viscosity)", NULL, NULL},
    {"recentre", STI_VALUE_FLAG, STI_ANY, 0, STI_FINITE, 0, "",
     "`position` is the origin of a frame in which the shapes are given, and not the centre of mass. The frame of the "
     "body is moved to the centre of mass of its shapes; `position` in results is then the centre of mass",
     "false", NULL},
    {"shapes", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "for contact; a body may have none", "none",
     &sti_shape_kind},
};

static void body_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->body = st_body_def();
}

const sti_Kind sti_body_kind = {
    "body", "Bodies", "The rigid bodies.", body_keys, COUNT(body_keys), NULL, body_defaults,
};

static const struct {
    const char *word;
    uint32_t locks;
} lock_words[] = {
    {"x", ST_LOCK_X},
    {"y", ST_LOCK_Y},
    {"z", ST_LOCK_Z},
    {"rx", ST_LOCK_RX},
    {"ry", ST_LOCK_RY},
    {"rz", ST_LOCK_RZ},
    {"rotation", ST_LOCK_ROTATION},
    {"planar-xy", ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY}, /* moves in the plane, turns about its normal */
    {"planar-xz", ST_LOCK_Y | ST_LOCK_RX | ST_LOCK_RZ},
    {"planar-yz", ST_LOCK_X | ST_LOCK_RY | ST_LOCK_RZ},
};

const char *sti_lock_word(int index, uint32_t *locks)
{
    if (index < 0 || index >= COUNT(lock_words)) return NULL;
    if (locks != NULL) *locks = lock_words[index].locks;
    return lock_words[index].word;
}

/* ---- robots ----------------------------------------------------------------------------------- */

static const char *mesh_word(int variant)
{
    return variant == STI_MESH_HULL ? "hull" : variant == STI_MESH_MESH ? "mesh" : NULL;
}

static const sti_Kind mesh_words = {.variant_name = mesh_word};

#define ROBOT(of) offsetof(sti_RobotDef, of)

static const sti_Key robot_keys[] = {
    {"file", STI_VALUE_NAME, STI_ANY, STI_ANY, STI_FINITE, ROBOT(file), "",
     "a URDF, MJCF or SDF file, relative to the scene; see robots.md", NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, ROBOT(name), "",
     "prefix of the names of its bodies, joints and forces, with a dot: `a.hand`", "the names in the file", NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, ROBOT(position), "m", "of its root frame, in the world",
     NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, STI_ANY, 0, STI_FINITE, ROBOT(orientation), "",
     "of its root frame, in the world", NULL, NULL},
    {"fixed", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(fixed), "", "URDF: the root link does not move",
     "true if it is called world or has no mass, else false", NULL},
    {"positions", STI_VALUE_POSITIONS, STI_ANY, 0, STI_FINITE, 0, "rad or m",
     "coordinates of joints at the start, by their names in the file: {\"knee\": 0.5}",
     "0 (MJCF: ref), or the nearest limit if that is outside the limits", NULL},
    {"motor", STI_VALUE_MOTOR, STI_ANY, 0, STI_FINITE, ROBOT(motor), "",
     "for every joint with an effort limit or an actuator, in place of the motor in the file; targets are relative to "
     "the "
     "start",
     "the motor in the file, else a force of 0 that a controller can set", &sti_motor_kind},
    {"material", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, ROBOT(material), "", "one of `materials`, for all its shapes",
     "the friction in the file, or the default of shapes", NULL},
    {"meshes", STI_VALUE_CHOICE, STI_ANY, 0, STI_FINITE, ROBOT(meshes), "",
     "the contact shape of mesh files: their convex hull, or the mesh itself", NULL, &mesh_words},
    {"self_collision", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(self_collision), "",
     "its own bodies collide with each other; bodies that a joint connects never do", NULL, NULL},
    {"contacts", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(contacts), "",
     "false: its shapes, and those that its file puts on the ground, are left out", NULL, NULL},
    {"overlaps", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(overlaps), "",
     "bodies of it that overlap at the start collide with each other; `stiction check` names them", NULL, NULL},
    {"merge", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(merge), "",
     "links that fixed joints connect become one body; false: links with mass stay bodies, and the fixed joint reports "
     "its "
     "force",
     NULL, NULL},
    {"ignore", STI_VALUE_WORDS, STI_ANY, 0, STI_FINITE, 0, "",
     "names of MJCF attributes and elements to ignore although they change the motion: [\"tendon\"]; URDF and SDF: "
     "[\"mesh\"], missing mesh files; [\"inertia\"], inertias that are physically impossible",
     "none: an error", NULL},
};

static void robot_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->robot = (sti_RobotDef){.orientation = {1, 0, 0, 0}, .self_collision = true, .contacts = true, .merge = true};
}

const sti_Kind sti_robot_kind = {
    "robot",
    "Robots",
    "Robots are read from their own files, URDF, MJCF or SDF. Their bodies, joints and other parts are added to those "
    "of the "
    "scene. `stiction convert` writes the resulting scene.",
    robot_keys,
    COUNT(robot_keys),
    NULL,
    robot_defaults,
};

/* ---- keyframes ---------------------------------------------------------------------------------- */

static const sti_Key keyframe_body_keys[] = {
    {"body", STI_VALUE_BODY, STI_ANY, STI_ANY, STI_FINITE, offsetof(st_KeyframeBody, body), "",
     "one of the bodies; if it is fixed, only the pose is used", NULL, NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, offsetof(st_KeyframeBody, pose.p), "m",
     "of its centre of mass", NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, STI_ANY, 0, STI_FINITE, offsetof(st_KeyframeBody, pose.q), "", "body to world",
     NULL, NULL},
    {"velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, offsetof(st_KeyframeBody, velocity), "m/s", "", NULL, NULL},
    {"angular_velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, offsetof(st_KeyframeBody, spin), "rad/s",
     "body axes", NULL, NULL},
};

static void keyframe_body_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->keyframe_body = (st_KeyframeBody){.pose = {{0, 0, 0}, {1, 0, 0, 0}}};
}

const sti_Kind sti_keyframe_body_kind = {
    "keyframe_body",        "Bodies of keyframes",     "The pose and velocity of a body in a keyframe.",
    keyframe_body_keys,     COUNT(keyframe_body_keys), NULL,
    keyframe_body_defaults,
};

static const sti_Key keyframe_motor_keys[] = {
    {"joint", STI_VALUE_JOINT, STI_ANY, STI_ANY, STI_FINITE, offsetof(st_KeyframeMotor, joint), "",
     "a joint with a motor that is not of type motion", NULL, NULL},
    {"target", STI_VALUE_NUMBER, STI_ANY, STI_ANY, STI_FINITE, offsetof(st_KeyframeMotor, wanted), "",
     "wanted speed, position or force", NULL, NULL},
};

static void keyframe_motor_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->keyframe_motor = (st_KeyframeMotor){.wanted = 0};
}

const sti_Kind sti_keyframe_motor_kind = {
    "keyframe_motor",        "Motors of keyframes",      "The wanted value of a motor in a keyframe.",
    keyframe_motor_keys,     COUNT(keyframe_motor_keys), NULL,
    keyframe_motor_defaults,
};

static const sti_Key keyframe_force_keys[] = {
    {"name", STI_VALUE_FORCE, STI_ANY, STI_ANY, STI_FINITE, offsetof(st_KeyframeForce, force), "", "one of the forces",
     NULL, NULL},
    {"force", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, offsetof(st_KeyframeForce, value), "N",
     "in the axes of that force", NULL, NULL},
    {"torque", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, offsetof(st_KeyframeForce, torque), "N m",
     "in the axes of that force", NULL, NULL},
};

static void keyframe_force_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->keyframe_force = (st_KeyframeForce){.value = {0, 0, 0}};
}

const sti_Kind sti_keyframe_force_kind = {
    "keyframe_force",        "Forces of keyframes",      "The value of an applied force in a keyframe.",
    keyframe_force_keys,     COUNT(keyframe_force_keys), NULL,
    keyframe_force_defaults,
};

static const sti_Key keyframe_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Keyframe, name), "", "unique among keyframes",
     "keyframe1, keyframe2, ...", NULL},
    {"time", STI_VALUE_NUMBER, STI_ANY, 0, STI_FINITE, FIELD(Keyframe, t), "s", "", NULL, NULL},
    {"bodies", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "bodies that the keyframe moves; see Bodies of keyframes",
     "none: all stay where they are, at rest", &sti_keyframe_body_kind},
    {"motors", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "see Motors of keyframes", "none",
     &sti_keyframe_motor_kind},
    {"forces", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "see Forces of keyframes", "none",
     &sti_keyframe_force_kind},
};

static void keyframe_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->keyframe = st_keyframe_def();
}

const sti_Kind sti_keyframe_kind = {
    "keyframe",
    "Keyframes",
    "States with a name. `--set simulation/keyframe=1` starts a run in the first one, and worlds of a batch can be "
    "reset to "
    "them.",
    keyframe_keys,
    COUNT(keyframe_keys),
    NULL,
    keyframe_defaults,
};

/* ---- the scene -------------------------------------------------------------------------------- */

static const sti_Key scene_keys[] = {
    {"$schema", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "for editors; not read", "none", NULL},
    {"name", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "a short title", "none", NULL},
    {"description", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "what the scene shows", "none", NULL},
    {"simulation", STI_VALUE_SIMULATION, STI_ANY, 0, STI_FINITE, 0, "", "a preset and single settings", "the defaults",
     NULL},
    {"ground", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "shapes that do not move, in the world", "none",
     &sti_shape_kind},
    {"bodies", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "",
     "the rigid bodies; robots, fills and inlets add theirs. At least one is required", "none", &sti_body_kind},
    {"fills", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "many bodies at once: grains in a region", "none",
     &sti_fill_kind},
    {"inlets", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "grains that are inserted during the run", "none",
     &sti_inlet_kind},
    {"outlets", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "regions that remove bodies during the run", "none",
     &sti_outlet_kind},
    {"measures", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "measurements of grains, and sensors of robots", "none",
     &sti_measure_kind},
    {"regions", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "",
     "parts of space that fills, inlets, outlets and measures refer to", "none", &sti_region_kind},
    {"periodic", STI_VALUE_CELL, STI_ANY, 0, STI_FINITE, offsetof(sti_Def, cell), "m",
     "space repeats along these axes: {\"x\": [0, 0.1]}", "open space", &sti_cell_kind},
    {"robots", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "robots and mechanisms from their own files", "none",
     &sti_robot_kind},
    {"materials", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "surface materials of shapes", "none",
     &sti_material_kind},
    {"material_pairs", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "friction and restitution of pairs of materials",
     "none", &sti_material_pair_kind},
    {"joints", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "", "none", &sti_joint_kind},
    {"springs", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "springs and dampers", "none", &sti_spring_kind},
    {"forces", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "", "none", &sti_force_kind},
    {"keyframes", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "states with a name", "none", &sti_keyframe_kind},
    {"exclude", STI_VALUE_PAIRS, STI_ANY, 0, STI_FINITE, 0, "",
     "pairs of bodies without contact between them; bodies that a joint connects are excluded already", "none", NULL},
};

const sti_Kind sti_scene_kind = {
    "scene", "The scene", "The file is one object.", scene_keys, COUNT(scene_keys), NULL, NULL,
};
