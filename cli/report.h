/* cli/report.h -- prints the results of a run, for people and for programs. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "json.h"
#include "tally.h"

typedef struct Outputs {
    const char *table, *picture, *recording; /* files written, or NULL */
} Outputs;

void print_summary(FILE *out, const Loaded *loaded, const Tally *tally, const Outputs *outputs);
/* The result as an object in a document, and as a whole document. */
void put_result(Json *json, const Loaded *loaded, const Tally *tally, const Outputs *outputs);
void print_json(FILE *out, const Loaded *loaded, const Tally *tally, const Outputs *outputs);

/* The name of a body, "ground" for none. Lives as long as the scene. */
const char *body_name(const st_Scene *scene, st_BodyId id);
/* The unit of the coordinate of a joint, or of its speed. */
const char *joint_unit(const st_JointDef *joint, bool speed);

/* Momentum, contacts and joints of the last step, as members of the document. */
void put_forces(Json *json, const Loaded *loaded);

#endif
