/* system.h -- the methods of stiction.System, file by file; the table of them is in system.c. */
#ifndef STICTION_PYTHON_SYSTEM_H
#define STICTION_PYTHON_SYSTEM_H

#include "module.h"

/* step.c */
PyObject *system_step(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_run(SystemObject *self, PyObject *args, PyObject *keywords);

/* state.c */
PyObject *system_pose(SystemObject *self, PyObject *body);
PyObject *system_velocity(SystemObject *self, PyObject *body);
PyObject *system_poses(SystemObject *self, PyObject *unused);
PyObject *system_velocities(SystemObject *self, PyObject *unused);
PyObject *system_set_state(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_set_parameter(SystemObject *self, PyObject *args);
PyObject *system_parameter(SystemObject *self, PyObject *path);
PyObject *system_set_motor(SystemObject *self, PyObject *args);
PyObject *system_set_keyframe(SystemObject *self, PyObject *keyframe);
PyObject *system_set_force(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_asleep(SystemObject *self, PyObject *body);
PyObject *system_push(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_set_pose(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_set_velocity(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_wake(SystemObject *self, PyObject *body);
PyObject *system_present(SystemObject *self, PyObject *body);
PyObject *system_remove_body(SystemObject *self, PyObject *body);
PyObject *system_insert_body(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_measures(SystemObject *self, PyObject *unused);
PyObject *system_save(SystemObject *self, PyObject *unused);
PyObject *system_restore(SystemObject *self, PyObject *state);
PyObject *system_hash(SystemObject *self, PyObject *unused);
PyObject *time_getter(SystemObject *self, void *unused);
PyObject *q_getter(SystemObject *self, void *unused);
PyObject *v_getter(SystemObject *self, void *unused);
int time_setter(SystemObject *self, PyObject *value, void *unused);
PyObject *controls_getter(SystemObject *self, void *unused);
int controls_setter(SystemObject *self, PyObject *value, void *unused);
PyObject *control_names_getter(SystemObject *self, void *unused);
int q_setter(SystemObject *self, PyObject *value, void *unused);
int v_setter(SystemObject *self, PyObject *value, void *unused);

/* report.c */
PyObject *system_energy(SystemObject *self, PyObject *unused);
PyObject *system_momentum(SystemObject *self, PyObject *unused);
PyObject *system_contacts(SystemObject *self, PyObject *unused);
PyObject *system_contact_force(SystemObject *self, PyObject *body);
PyObject *system_joints(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_joint(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_springs(SystemObject *self, PyObject *unused);
PyObject *system_events(SystemObject *self, PyObject *unused);
PyObject *system_islands(SystemObject *self, PyObject *unused);
PyObject *system_profile(SystemObject *self, PyObject *unused);
PyObject *system_problem(SystemObject *self, PyObject *args, PyObject *keywords);

/* query.c */
PyObject *system_ray(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_rays(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_overlaps(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_closest(SystemObject *self, PyObject *args, PyObject *keywords);
PyObject *system_distance(SystemObject *self, PyObject *args);

/* articulation.c */
PyObject *system_articulation(SystemObject *self, PyObject *unused);

/* render.c */
PyObject *system_render(SystemObject *self, PyObject *args, PyObject *keywords);

/* recorder.c */
PyObject *system_record(SystemObject *self, PyObject *args, PyObject *keywords);

#endif
