/* pile_contacts.c -- see pile_contacts.h: rows of H from points, directions, centres and axes.
 *
 * In body axes the lever turns as R'(l x d) = R'l x R'd. The signs are those of b; a has the others.
 */
#include "problem/pile_contacts.h"

#include "math/vec3.h"

void sti_pile_rows(const sti_PileContacts *pile, int c, int dim, double row[STI_TURNING][2][STI_NODE])
{
    const double *frame = sti_pile_frame(pile, c);
    const st_Vec3 point = vec3_load(frame), normal = vec3_load(frame + 3), tangent = vec3_load(frame + 6);
    const st_Vec3 direction[3] = {normal, tangent, cross(normal, tangent)};
    for (int side = 0; side < 2; side++) {
        const int32_t body = pile->body[2 * (ptrdiff_t)c + side];
        if (body < 0) continue;
        const st_Mat3 *axes = (const st_Mat3 *)sti_pile_axes(pile, body);
        const double sign = side == 0 ? -1 : 1;
        const double *centre = sti_pile_centre(pile, body);
        const st_Vec3 lever = {sti_pile_lever(pile, 0, point.x, centre[0]), sti_pile_lever(pile, 1, point.y, centre[1]),
                               sti_pile_lever(pile, 2, point.z, centre[2])};
        const st_Vec3 arm = scale(sign, mat3_mul_back(axes, lever));
        for (int k = 0; k < dim && k < STI_SLIDING; k++) {
            vec3_store(row[k][side], scale(sign, direction[k]));
            vec3_store(row[k][side] + 3, cross(arm, mat3_mul_back(axes, direction[k])));
        }
        for (int k = STI_SLIDING; k < dim; k++) {
            const int about = sti_direction_of(dim, k); /* t, n x t, n */
            vec3_store(row[about][side], vec3(0, 0, 0));
            vec3_store(row[about][side] + 3, scale(sign * pile->arm, mat3_mul_back(axes, direction[(about + 1) % 3])));
        }
    }
}

st_Sparse sti_pile_matrix(const sti_PileContacts *pile, const st_Problem *problem, int64_t *p, int *i, double *x)
{
    double row[STI_TURNING][2][STI_NODE];
    int64_t end = 0;
    p[0] = 0;
    for (int c = 0; c < problem->n_contacts; c++) {
        const st_ContactLaw *law = &problem->contact[c];
        const int32_t *body = pile->body + 2 * (ptrdiff_t)c;
        sti_pile_rows(pile, c, law->dim, row);
        for (int k = 0; k < law->dim; k++) {
            for (int side = 0; side < 2; side++)
                for (int e = 0; e < 6 && body[side] >= 0; e++) {
                    i[end] = problem->A.first[body[side]] + e;
                    x[end++] = row[sti_direction_of(law->dim, k)][side][e];
                }
            p[law->first + k + 1] = end;
        }
    }
    return (st_Sparse){problem->n_v, problem->n_r, p, i, x};
}
