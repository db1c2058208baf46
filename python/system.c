/* system.c -- stiction.System: a scene that moves. What it can do is listed here; how, in the files of system.h. */
#include "system.h"

bool system_free(const SystemObject *self)
{
    if (!self->busy) return true;
    PyErr_SetString(
        PyExc_RuntimeError,
        "the system is stepping, in another thread or in a signal handler: only one call at a time is possible");
    return false;
}

PyObject *system_make(const State *state, SceneObject *scene, const st_SystemDef *def, st_System *system)
{
    SystemObject *self = PyObject_New(SystemObject, state->system);
    if (self == NULL) {
        st_system_destroy(system);
        return NULL;
    }
    self->scene = (SceneObject *)Py_NewRef((PyObject *)scene);
    self->system = system;
    self->def = *def;
    self->busy = false;
    self->recorder = NULL;
    self->choice = NULL;
    return (PyObject *)self;
}

static PyObject *system_new(PyTypeObject *type, PyObject *args, PyObject *settings)
{
    const State *state = PyType_GetModuleState(type);
    PyObject *object;
    st_System *system;
    st_Error err = {0};
    if (!PyArg_ParseTuple(args, "O!:System", state->scene, &object)) return NULL;
    SceneObject *scene = (SceneObject *)object;
    st_SystemDef def = scene->def;
    PyObject *rest = settings != NULL ? PyDict_Copy(settings) : PyDict_New(), *choice = NULL, *result = NULL;
    if (rest == NULL) return NULL;
    PyObject *solver = PyDict_GetItemString(rest, "solver"), *parameters = PyDict_GetItemString(rest, "parameters");
    const bool own = solver != NULL && PyCallable_Check(solver);
    Choice *chosen = NULL;
    if ((own || parameters != NULL) && (choice = choice_new(state, own ? solver : NULL, parameters, &chosen)) == NULL) {
        Py_DECREF(rest);
        return NULL;
    }
    if (chosen != NULL) {
        def.own_solver = choice_own(chosen);
        def.solver_values = choice_values(chosen, &def.n_solver_values);
    }
    if (own) PyDict_DelItemString(rest, "solver");
    if (parameters != NULL) PyDict_DelItemString(rest, "parameters");
    if (settings_apply(state, rest, &def)) {
        st_Status status = st_system_create(scene->scene, &def, &system, &err);
        result = status == ST_OK ? system_make(state, scene, &def, system) : raise_error(state, status, &err);
    }
    if (result != NULL) ((SystemObject *)result)->choice = Py_XNewRef(choice);
    Py_XDECREF(choice);
    Py_DECREF(rest);
    return result;
}

static void system_dealloc(SystemObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    st_system_destroy(self->system);
    Py_XDECREF((PyObject *)self->scene);
    Py_XDECREF(self->choice);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *system_clone(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    const State *state = state_of((PyObject *)self);
    st_System *system;
    st_Error err = {0};
    if (!system_free(self)) return NULL;
    st_Status status = st_system_clone(self->system, &system, &err);
    if (status != ST_OK) return raise_error(state, status, &err);
    PyObject *clone = system_make(state, self->scene, &self->def, system);
    if (clone != NULL) ((SystemObject *)clone)->choice = Py_XNewRef(self->choice);
    return clone;
}

static PyObject *system_change(SystemObject *self, PyObject *scene)
{
    const State *state = state_of((PyObject *)self);
    st_Error err = {0};
    if (!Py_IS_TYPE(scene, state->scene))
        return PyErr_Format(PyExc_TypeError, "the scene must be a stiction.Scene, not %R", Py_TYPE(scene));
    if (!system_free(self)) return NULL;
    if (self->recorder != NULL)
        return PyErr_Format(PyExc_ValueError, "a recording contains one scene: close the recorder first");
    st_Status status = st_system_change(self->system, ((SceneObject *)scene)->scene, &err);
    if (status != ST_OK) return raise_error(state, status, &err);
    PyObject *before = (PyObject *)self->scene;
    self->scene = (SceneObject *)Py_NewRef(scene);
    Py_DECREF(before);
    return Py_NewRef(Py_None);
}

static PyObject *system_deepcopy(SystemObject *self, PyObject *Py_UNUSED(memo))
{
    return system_clone(self, NULL);
}

static PyObject *scene_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    return Py_NewRef((PyObject *)self->scene);
}

static PyObject *settings_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    return settings_dict(state_of((PyObject *)self), &self->def);
}

static PyObject *initial_change_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    double position, velocity;
    if (!system_free(self)) return NULL;
    st_system_initial_change(self->system, &position, &velocity);
    return Py_BuildValue("dd", position, velocity);
}

static PyObject *system_repr(SystemObject *self)
{
    if (self->busy) return PyUnicode_FromString("<stiction.System, stepping>");
    PyObject *time = PyFloat_FromDouble(st_system_time(self->system)), *text = NULL;
    if (time != NULL)
        text = PyUnicode_FromFormat("<stiction.System at t = %R s: %d coordinates, %d velocities>", time,
                                    st_system_n_q(self->system), st_system_n_v(self->system));
    Py_XDECREF(time);
    return text;
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
#define NO_ARGUMENTS(function)  (PyCFunction)(function), METH_NOARGS
#define ONE_ARGUMENT(function)  (PyCFunction)(function), METH_O

static PyMethodDef system_methods[] = {
    {"step", WITH_KEYWORDS(system_step),
     "step($self, /, h=None, steps=1)\n--\n\n"
     "Take steps of h seconds, by default the setting h. Returns a StepInfo of the last step, with a summary of all "
     "steps.\n\n"
     "Other threads can run during the call; Ctrl-C stops it between two steps. With located events, a collision may "
     "end a\nstep early (integrators of order one: info.h < h). If a step fails, Error is raised and the state is that "
     "before the\nstep."},
    {"run", WITH_KEYWORDS(system_run),
     "run($self, /, until=None, h=None)\n--\n\n"
     "Step to a given time, by default the setting end; the last step is shortened to end there."},
    {"clone", NO_ARGUMENTS(system_clone),
     "clone($self, /)\n--\n\nAnother system in the same state, which continues bit for bit. copy.copy makes one, too."},
    {"__copy__", NO_ARGUMENTS(system_clone), "__copy__($self, /)\n--\n\nclone()"},
    {"__deepcopy__", ONE_ARGUMENT(system_deepcopy), "__deepcopy__($self, memo, /)\n--\n\nclone()"},
    {"change", ONE_ARGUMENT(system_change),
     "change($self, scene, /)\n--\n\n"
     "Continue with another scene: bodies, shapes, joints, springs and forces may be new, removed or different.\n\n"
     "Objects are matched by name: a body that existed before continues from its current state. New objects are "
     "placed\nrelative to the current poses. Ids are those of the new scene; settings stay those of the system."},
    {"save", NO_ARGUMENTS(system_save),
     "save($self, /)\n--\n\n"
     "The state with its history, as bytes. A system of the same scene and settings continues from it bit for bit "
     "after\nrestore()."},
    {"restore", ONE_ARGUMENT(system_restore), "restore($self, state, /)\n--\n\nRestore a state from save()."},
    {"hash", NO_ARGUMENTS(system_hash), "hash($self, /)\n--\n\nHash of time and state, bit for bit: an int."},
    {"set_state", WITH_KEYWORDS(system_set_state),
     "set_state($self, /, time=None, q=None, v=None)\n--\n\n"
     "Set the given values together. Warm starts and the history of integrators are reset."},
    {"pose", ONE_ARGUMENT(system_pose),
     "pose($self, body, /)\n--\n\nPose of a body, by name or id: Pose(position, orientation)."},
    {"velocity", ONE_ARGUMENT(system_velocity),
     "velocity($self, body, /)\n--\n\nVelocity of a body, by name or id: Velocity(linear, spin)."},
    {"poses", NO_ARGUMENTS(system_poses),
     "poses($self, /)\n--\n\nPoses of all bodies: an Array, n x 7, position and orientation w x y z."},
    {"velocities", NO_ARGUMENTS(system_velocities),
     "velocities($self, /)\n--\n\nVelocities of all bodies: an Array, n x 6, linear in world axes and spin in body "
     "axes."},
    {"set_motor", (PyCFunction)system_set_motor, METH_VARARGS,
     "set_motor($self, joint, wanted, /)\n--\n\n"
     "Set the wanted speed, position or force of the motor of a joint from now on. None: the value in the scene."},
    {"set_parameter", (PyCFunction)system_set_parameter, METH_VARARGS,
     "set_parameter($self, path, value, /)\n--\n\n"
     "Change a mass, friction, gain or limit from now on, by its path in a scene file: \"bodies/trunk/mass\",\n"
     "\"ground/floor/friction\", \"materials/rubber/friction\", \"joints/*/motor/stiffness\", \"springs/s/damping\".\n"
     "It is part of the state: save() and clone() keep it."},
    {"parameter", ONE_ARGUMENT(system_parameter),
     "parameter($self, path, /)\n--\n\nRead the number at a path; with stars, the first one that matches."},
    {"set_keyframe", ONE_ARGUMENT(system_set_keyframe),
     "set_keyframe($self, keyframe, /)\n--\n\n"
     "Set the state of the system to a keyframe of its scene, by name or by number from 1: time, poses, velocities and "
     "motors."},
    {"set_force", WITH_KEYWORDS(system_set_force),
     "set_force($self, /, force, value=None, torque=None)\n--\n\n"
     "Set an applied force of the scene from now on, in its axes. Both None: the values in the scene."},
    {"present", ONE_ARGUMENT(system_present),
     "present($self, body, /)\n--\n\nTrue if a body is present. Inlets insert bodies during the run, outlets remove "
     "them."},
    {"measures", NO_ARGUMENTS(system_measures),
     "measures($self, /)\n--\n\nThe measures of the scene after the last step: name -> {value: number}."},
    {"asleep", ONE_ARGUMENT(system_asleep), "asleep($self, body, /)\n--\n\nTrue if a body sleeps (setting sleep)."},
    {"push", WITH_KEYWORDS(system_push),
     "push($self, /, body, force=None, torque=None)\n--\n\n"
     "Apply a force at the centre of mass of a body and a torque, world axes, until the next call for this body. "
     "Without\nvalues the push ends."},
    {"set_pose", WITH_KEYWORDS(system_set_pose),
     "set_pose($self, /, body, position=None, orientation=None)\n--\n\n"
     "Move one body; None: unchanged. If this opens a joint, drift correction closes it."},
    {"set_velocity", WITH_KEYWORDS(system_set_velocity),
     "set_velocity($self, /, body, linear=None, spin=None)\n--\n\n"
     "Set the velocity (world axes) and spin (body axes) of one body; None: unchanged."},
    {"remove_body", ONE_ARGUMENT(system_remove_body),
     "remove_body($self, body, /)\n--\n\n"
     "Remove a free body, in constant time: it has no contacts and no weight (present is false)."},
    {"insert_body", WITH_KEYWORDS(system_insert_body),
     "insert_body($self, /, body, position, orientation=None, linear=None, spin=None)\n--\n\n"
     "Insert an absent body (remove_body, an outlet) at a pose, with a velocity and a spin."},
    {"wake", ONE_ARGUMENT(system_wake), "wake($self, body, /)\n--\n\nWake a body and its island."},
    {"energy", NO_ARGUMENTS(system_energy),
     "energy($self, /)\n--\n\nEnergy of the current state [J]: Energy(kinetic, potential)."},
    {"momentum", NO_ARGUMENTS(system_momentum),
     "momentum($self, /)\n--\n\nMomentum of all bodies, about the origin: Momentum(linear, angular)."},
    {"contacts", NO_ARGUMENTS(system_contacts),
     "contacts($self, /)\n--\n\nContacts of the last step problem: a Table of Contact."},
    {"contact_force", ONE_ARGUMENT(system_contact_force),
     "contact_force($self, body, /)\n--\n\nSum of all contact forces on a body: Force(force, torque)."},
    {"joint", WITH_KEYWORDS(system_joint),
     "joint($self, /, joint, frame='world')\n--\n\n"
     "Report of a joint, by name or id: coordinate, speed, forces. frame: axes of forces, 'world' or 'a'."},
    {"joints", WITH_KEYWORDS(system_joints),
     "joints($self, /, frame='world')\n--\n\nAll joints: a Table of Joint, in the order of the scene."},
    {"springs", NO_ARGUMENTS(system_springs),
     "springs($self, /)\n--\n\nAll springs and dampers: a Table of Spring, in the order of the scene."},
    {"events", NO_ARGUMENTS(system_events),
     "events($self, /)\n--\n\nEvents of the last step, in order of time: a Table of Event."},
    {"islands", NO_ARGUMENTS(system_islands),
     "islands($self, /)\n--\n\nParts of the last step problem that were solved separately: a Table of Island."},
    {"profile", NO_ARGUMENTS(system_profile),
     "profile($self, /)\n--\n\nWall time of the parts of a step, summed over all steps: a dict of seconds by part."},
    {"problem", WITH_KEYWORDS(system_problem),
     "problem($self, /, local=False)\n--\n\n"
     "The step problem that was solved last, as a FrictionProblem. It is global if it has only contacts and rigid "
     "joints;\notherwise, or with local=True, it is local."},
    {"articulation", NO_ARGUMENTS(system_articulation),
     "articulation($self, /)\n--\n\n"
     "The system in joint coordinates, in its current state: an Articulation, with mass matrix, Jacobians, dynamics, "
     "inverse "
     "kinematics."},
    {"ray", WITH_KEYWORDS(system_ray),
     "ray($self, /, origin, direction, length=None, groups=None)\n--\n\n"
     "The first surface that a ray enters within length [m]: a RayHit, or None. groups: bits of the groups of shapes "
     "that it\ncan hit; None: all."},
    {"rays", WITH_KEYWORDS(system_rays),
     "rays($self, /, origins, directions, length=None, groups=None)\n--\n\n"
     "Many rays at once, n x 3 numbers each: a Table of RayHit; shape is 0 if nothing was hit."},
    {"overlaps", WITH_KEYWORDS(system_overlaps),
     "overlaps($self, /, shape, groups=None)\n--\n\n"
     "Ids of the shapes that overlap a given shape, which is written as in scenes, in world axes:\n"
     "{\"type\": \"sphere\", \"radius\": 0.1, \"position\": [0, 0, 1]}."},
    {"closest", WITH_KEYWORDS(system_closest),
     "closest($self, /, shape, within=None, groups=None)\n--\n\n"
     "The shape of the system that is closest to a given shape, which is written as in scenes: Closest; None: no shape "
     "is\nwithin that distance [m]."},
    {"distance", (PyCFunction)system_distance, METH_VARARGS,
     "distance($self, a, b, /)\n--\n\nSigned distance of two shapes of the system, by \"BODY/SHAPE\" or id: Closest."},
    {"render", WITH_KEYWORDS(system_render),
     "render($self, /, width=640, height=480, camera=None)\n--\n\n"
     "A picture of the current state: an Array of bytes, height x width x 3. Needs no screen. camera: a dict of\n"
     "eye, target, up (vectors, world) and angle (of view [rad]); by default all bodies that can move are in view."},
    {"record", WITH_KEYWORDS(system_record),
     "record($self, /, path, rate=60.0, checkpoint=0.0, flush=1.0)\n--\n\n"
     "Record every step from now on to an HDF5 file, until the Recorder is closed; best used in `with`.\n\n"
     "rate: frames per simulated second, 0: every step. checkpoint: simulated time between checkpoints, 0: first and "
     "last\nonly. flush: wall time between flushes [s]; a killed run loses at most about this time."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef system_getters[] = {
    {"scene", (getter)scene_getter, NULL, "The current Scene of the system.", NULL},
    {"settings", (getter)settings_getter, NULL, "Every setting, a dict.", NULL},
    {"time", (getter)time_getter, (setter)time_setter, "Current time [s]; can be set.", NULL},
    {"q", (getter)q_getter, (setter)q_setter,
     "Coordinates, a copy as an Array: seven per body, position and orientation w x y z, then the angles of "
     "hinges.\nSet them all at once: system.q = numbers.",
     NULL},
    {"v", (getter)v_getter, (setter)v_setter,
     "Velocities of the free degrees of freedom, a copy as an Array: linear in world axes, spin in body axes.\n"
     "Set them all at once: system.v = numbers.",
     NULL},
    {"controls", (getter)controls_getter, (setter)controls_setter,
     "Control input, a copy as an Array: wanted values of motors, then six numbers per force, see control_names. NaN: "
     "the\nvalue in the scene. Set them all at once: system.controls = numbers.",
     NULL},
    {"control_names", (getter)control_names_getter, NULL, "Names of the entries of controls.", NULL},
    {"initial_change", (getter)initial_change_getter, NULL,
     "Largest change of coordinates and velocities that made the initial state consistent (setting initial).", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char system_doc[] =
    "System(scene, /, **settings)\n--\n\n"
    "The simulation of a scene. settings override those of the scene, by name: System(scene, preset=\"accurate\", "
    "h=1e-3);\n"
    "stiction.settings() lists them. A preset sets many of them; other settings override it. solver may be a\nfunction "
    "(see FrictionProblem.solve), and parameters={...} sets parameters of the solver.\n\n"
    "All returned values are copies. Only one thread at a time can use a system: other threads can run while it "
    "steps,\nand a thread that uses it then gets a RuntimeError.";

static PyType_Slot system_slots[] = {
    {Py_tp_doc, (void *)system_doc},
    {Py_tp_new, (void *)system_new},
    {Py_tp_dealloc, (void *)system_dealloc},
    {Py_tp_repr, (void *)system_repr},
    {Py_tp_methods, system_methods},
    {Py_tp_getset, system_getters},
    {0, NULL},
};

static PyType_Spec system_spec = {"stiction.System", sizeof(SystemObject), 0, TYPE_FLAGS, system_slots};

bool add_system_type(PyObject *module, State *state)
{
    state->system = (PyTypeObject *)PyType_FromModuleAndSpec(module, &system_spec, NULL);
    return state->system != NULL && PyModule_AddType(module, state->system) == 0;
}
