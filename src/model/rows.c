/* model/rows.c -- rows of a Jacobian on the free velocities of two bodies. */
#include "model/world.h"

static int append_dofs(const sti_Body *body, int count, int *index)
{
    for (int k = 0; k < body->n_dofs; k++)
        index[count++] = body->v_first + k;
    return count;
}

int sti_rows_index(const sti_World *world, int a, int b, int *index)
{
    return append_dofs(&world->body[b], append_dofs(&world->body[a], 0, index), index);
}

void sti_rows_measure(const sti_World *world, const double *q, int a, int b, const sti_Measure *measure, sti_Rows *rows)
{
    const sti_Half *on_a = &measure->on_a, *on_b = &measure->on_b;
    rows->count = sti_rows_index(world, a, b, rows->index);
    /* angular velocities are in body axes: angular . w_world = (R' angular) . w_body */
    double *next =
        sti_put_half(&world->body[a], on_a->linear, rotate_back(sti_pose(q, a).q, on_a->angular), rows->gradient);
    sti_put_half(&world->body[b], on_b->linear, rotate_back(sti_pose(q, b).q, on_b->angular), next);
}

void sti_rows_add(sti_Rows *rows, double factor, const sti_Rows *other)
{
    for (int k = 0; k < other->count; k++) {
        int at = 0;
        while (at < rows->count && rows->index[at] != other->index[k])
            at++;
        if (at == rows->count) {
            rows->index[rows->count] = other->index[k];
            rows->gradient[rows->count++] = 0;
        }
        rows->gradient[at] += factor * other->gradient[k];
    }
}
