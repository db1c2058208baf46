/* linalg/saddle_solve.h -- solution and refinement of the saddle point system, for one right-hand side or for several
 * (math/simd4.h). A part of saddle.c, which includes it with NUMBER, NAME, CLONES and the sums DOT and ADD
 * (math/pair.h).
 *
 * Blocks X are rows x size, row-major: a link's G or Z. Most are three or five rows, balls and hinges, or one, springs,
 * on a body in space, and the compiler unrolls loops of known size.
 */
STI_INLINE void NAME(take_rows)(const double *X, int rows, int size, const NUMBER *v, NUMBER *out)
{
    for (int a = 0; a < rows; a++) {
        NUMBER sum;
        DOT(X + a * size, v, size, &sum);
        out[a] -= sum;
    }
}

/* out -= X v */
STI_INLINE void NAME(subtract_rows)(const double *X, int rows, int size, const NUMBER *v, NUMBER *out)
{
    if (size != 6)
        NAME(take_rows)(X, rows, size, v, out);
    else if (rows == 3)
        NAME(take_rows)(X, 3, 6, v, out);
    else if (rows == 5)
        NAME(take_rows)(X, 5, 6, v, out);
    else if (rows == 6)
        NAME(take_rows)(X, 6, 6, v, out);
    else if (rows == 1)
        NAME(take_rows)(X, 1, 6, v, out);
    else
        NAME(take_rows)(X, rows, 6, v, out);
}

STI_INLINE void NAME(give_columns)(const double *restrict X, int rows, int size, const NUMBER *restrict l,
                                   NUMBER *restrict v)
{
    for (int a = 0; a < rows; a++)
        ADD(l + a, X + a * size, size, v);
}

/* v += X' l */
STI_INLINE void NAME(add_columns)(const double *X, int rows, int size, const NUMBER *l, NUMBER *v)
{
    if (size != 6)
        NAME(give_columns)(X, rows, size, l, v);
    else if (rows == 3)
        NAME(give_columns)(X, 3, 6, l, v);
    else if (rows == 5)
        NAME(give_columns)(X, 5, 6, l, v);
    else if (rows == 6)
        NAME(give_columns)(X, 6, 6, l, v);
    else if (rows == 1)
        NAME(give_columns)(X, 1, 6, l, v);
    else
        NAME(give_columns)(X, rows, 6, l, v);
}

/* out = c - G'v, for the rows of one group; c may be NULL. */
STI_INLINE void NAME(joint_rest)(const Memory *m, int J, const NUMBER *c, const NUMBER *v, NUMBER *out)
{
    const int first = m->net.row_first[J], rows = group_rows(m, J);
    for (int row = first; row < first + rows; row++)
        out[row] = c != NULL ? c[row] : (NUMBER){0};
    for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++) {
        const int block = m->net.link_block[e];
        NAME(subtract_rows)
        (m->G + m->net.link_start[e], rows, block_size(m, block), v + m->net.problem->A.first[block], out + first);
    }
}

/* v += X l for one group, X being G or Z. */
STI_INLINE void NAME(add_links)(const Memory *m, int J, const double *X, const NUMBER *l, NUMBER *v)
{
    const int first = m->net.row_first[J], rows = group_rows(m, J);
    for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++) {
        const int block = m->net.link_block[e];
        NAME(add_columns)
        (X + m->net.link_start[e], rows, block_size(m, block), l + first, v + m->net.problem->A.first[block]);
    }
}

STI_INLINE void NAME(scale_rows)(const Memory *m, const Part *part, NUMBER *l)
{
    for (int k = 0; k < part->n_groups; k++)
        for (int row = m->net.row_first[part->group[k]]; row < m->net.row_first[part->group[k] + 1]; row++)
            l[row] *= m->scale[row];
}

STI_INLINE void NAME(solve_dense)(const Memory *m, NUMBER *y)
{
    const int64_t n = m->net.problem->n_l;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            y[i] -= m->dense[i * n + j] * y[j];
    for (int64_t i = n - 1; i >= 0; i--) {
        y[i] *= m->dense[i * n + i];
        for (int64_t j = i + 1; j < n; j++)
            y[i] -= m->dense[i * n + j] * y[j];
    }
}

/* l <- inv(S) l on the rows of the part. The dense solve takes all rows, so the others must be 0. */
STI_INLINE void NAME(solve_S)(const Memory *m, const Part *part, NUMBER *l)
{
    NAME(scale_rows)(m, part, l);
    if (!m->net.problem->symmetric)
        NAME(solve_dense)(m, l);
    else
        NAME(solve_joints)(m, part, l);
    NAME(scale_rows)(m, part, l);
}

/* The largest of a part's velocities, of each right-hand side. */
STI_INLINE void NAME(largest)(const Memory *m, const Part *part, const NUMBER *v, double *out)
{
    for (int k = 0; k < part->n_blocks; k++)
        for (int row = m->net.problem->A.first[part->block[k]]; row < m->net.problem->A.first[part->block[k] + 1];
             row++)
            for (int j = 0; j < WIDTH; j++)
                out[j] = sti_larger(fabs(((const double *)(v + row))[j]), out[j]);
}

/* `free`: if not NULL, receives the largest velocities without joints. */
STI_INLINE void NAME(solve_once)(const Memory *m, const Part *part, const NUMBER *a, const NUMBER *c, NUMBER *v,
                                 NUMBER *l, double *free)
{
    for (int k = 0; k < part->n_blocks; k++) {
        const int block = part->block[k], first = m->net.problem->A.first[block];
        memcpy(v + first, a + first, (size_t)block_size(m, block) * sizeof *v);
        NAME(sti_block_factor_solve)(&m->mass, block, v + first);
    }
    if (part->n_groups == 0) return;
    if (free != NULL) NAME(largest)(m, part, v, free);
    if (!m->net.problem->symmetric) memset(l, 0, (size_t)m->net.problem->n_l * sizeof *l);
    for (int k = 0; k < part->n_groups; k++)
        NAME(joint_rest)(m, part->group[k], c, v, l);
    NAME(solve_S)(m, part, l);
    for (int k = 0; k < part->n_groups; k++)
        NAME(add_links)(m, part->group[k], m->Z, l, v);
}

/* rest_v = a + G l - A v,  rest_l = c - G'v - Cb l. */
STI_INLINE void NAME(residuals)(const Memory *m, const Part *part, const NUMBER *a, const NUMBER *c, const NUMBER *v,
                                const NUMBER *l, NUMBER *rest_v, NUMBER *rest_l)
{
    for (int k = 0; k < part->n_blocks; k++) {
        const int block = part->block[k], first = m->net.problem->A.first[block], size = block_size(m, block);
        memcpy(rest_v + first, a + first, (size_t)size * sizeof *a);
    }
    for (int k = 0; k < part->n_groups; k++)
        NAME(add_links)(m, part->group[k], m->G, l, rest_v);
    for (int k = 0; k < part->n_blocks; k++) {
        const int block = part->block[k], first = m->net.problem->A.first[block];
        const int64_t size = block_size(m, block);
        const double *A = m->net.problem->A.x + m->mass.start[block];
        const int64_t apart = sti_block_stride(&m->net.problem->A, block);
        for (int64_t i = 0; i < size && m->mass.single[block]; i++)
            rest_v[first + i] -= A[i * apart] * v[first + i];
        for (int64_t i = 0; i < size && !m->mass.single[block]; i++)
            for (int64_t j = 0; j < size; j++)
                rest_v[first + i] -= A[i * size + j] * v[first + j];
    }
    for (int k = 0; k < part->n_groups; k++) {
        const int J = part->group[k];
        NAME(joint_rest)(m, J, c, v, rest_l);
        for (int row = m->net.row_first[J]; row < m->net.row_first[J + 1]; row++) {
            int64_t end;
            for (int64_t e = sti_net_compliance(&m->net, row, &end); e < end; e++)
                rest_l[row] -= m->net.cb_value[e] * l[m->net.cb_column[e]];
        }
    }
}

/* v, l <- v, l + the corrections, for each right-hand side as long as that helps: a correction of relative size e
 * leaves an error of about e^2, so that mostly one is enough. Where v is 0 but for rounding a correction is small
 * beside nothing but what cancels, the velocities without joints, and one in its last digits is the last. Tells whether
 * any is to go on; weight is 1 for those, else 0.                                                         */
STI_INLINE bool NAME(correct)(const Memory *m, const Part *part, const double *free, NUMBER *v, NUMBER *l,
                              double *moved, NUMBER *weight)
{
    const NUMBER *step_v = (const NUMBER *)m->step_v, *step_l = (const NUMBER *)m->step_l;
    double step[WIDTH] = {0}, size[WIDTH] = {0};
    bool go_on = false;
    for (int k = 0; k < part->n_blocks; k++)
        for (int row = m->net.problem->A.first[part->block[k]]; row < m->net.problem->A.first[part->block[k] + 1];
             row++)
            v[row] += *weight * step_v[row];
    for (int k = 0; k < part->n_groups; k++)
        for (int row = m->net.row_first[part->group[k]]; row < m->net.row_first[part->group[k] + 1]; row++)
            l[row] += *weight * step_l[row];
    NAME(largest)(m, part, step_v, step);
    NAME(largest)(m, part, v, size);
    for (int j = 0; j < WIDTH; j++) {
        const double before = moved[j];
        moved[j] = size[j] > 0.0 ? step[j] / size[j] : 0.0;
        const bool again = ((double *)weight)[j] > 0.0 && moved[j] > REFINED_ENOUGH && moved[j] < 0.5 * before &&
                           step[j] > LAST_DIGITS * free[j];
        ((double *)weight)[j] = again ? 1.0 : 0.0;
        go_on = go_on || again;
    }
    return go_on;
}

CLONES
static void NAME(solve)(const Memory *m, const Part *part, bool rough, const NUMBER *a, const NUMBER *c, NUMBER *v,
                        NUMBER *l)
{
    NUMBER *rest_v = (NUMBER *)m->rest_v, *rest_l = (NUMBER *)m->rest_l;
    NUMBER weight = (NUMBER){0} + 1.0;
    double moved[WIDTH], free[WIDTH] = {0};
    for (int j = 0; j < WIDTH; j++)
        moved[j] = INFINITY;
    NAME(solve_once)(m, part, a, c, v, l, free);
    if (part->n_groups == 0 || rough) return;
    for (int step = 0; step < MAX_REFINEMENTS; step++) {
        NAME(residuals)(m, part, a, c, v, l, rest_v, rest_l);
        NAME(solve_once)(m, part, rest_v, rest_l, (NUMBER *)m->step_v, (NUMBER *)m->step_l, NULL);
        if (!NAME(correct)(m, part, free, v, l, moved, &weight)) return;
    }
}

#undef NUMBER
#undef WIDTH
#undef NAME
#undef CLONES
#undef DOT
#undef ADD
