/* mobility.c -- see mobility.h. */
#include "linalg/mobility.h"

#include "base/tolerance.h"

#define GROW(name, n) STI_TRY(STI_GROW(&m->allocator, m->name, m->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&m->allocator, m->name, m->name##_size)

/* What elimination leaves of a diagonal entry that depends on others is rounding: so much of the entry. */
static const double rounding = 1e-13;

void sti_mobility_release(sti_Mobility *m)
{
    RELEASE(of_block);
    RELEASE(rows);
    RELEASE(mechanism);
    RELEASE(first);
    RELEASE(R);
    RELEASE(touched);
    RELEASE(velocity);
    RELEASE(P);
    RELEASE(factor);
    RELEASE(mass);
    RELEASE(least);
    RELEASE(wide_side);
    RELEASE(wide_out);
}

/* Blocks with joints that rows of H touch, and the mechanisms they are in, in the net's order. */
static st_Status find_touched(sti_Mobility *m, const st_Problem *p, const sti_Net *net, st_Error *err)
{
    const int n_blocks = p->A.n_blocks;
    GROW(of_block, n_blocks);
    GROW(rows, n_blocks);
    GROW(touched, n_blocks);
    GROW(mechanism, net->n_mechanisms);
    GROW(first, net->n_mechanisms + 1);
    memset(m->touched, 0, (size_t)n_blocks * sizeof *m->touched);
    for (int64_t e = 0; e < p->H.p[p->n_r]; e++) {
        const int block = net->block_of[p->H.i[e]];
        m->touched[block] = m->touched[block] || !sti_net_is_free(net, block);
    }
    m->n = 0;
    for (int k = 0; k < n_blocks; k++)
        m->of_block[k] = -1, m->rows[k] = -1;
    for (int k = 0; k < net->n_mechanisms; k++) {
        const int begin = net->mechanism_first[k], end = net->mechanism_first[k + 1];
        bool any = false;
        for (int t = begin; t < end; t++)
            any = any || m->touched[net->mechanism_block[t]];
        for (int t = begin; t < end && any; t++)
            m->of_block[net->mechanism_block[t]] = m->n;
        if (any) m->mechanism[m->n++] = k;
    }
    return ST_OK;
}

/* The velocities of a mechanism that are touched; returns how many. */
static st_Status list_velocities(sti_Mobility *m, const st_Problem *p, const sti_Net *net, int k, int *count,
                                 st_Error *err)
{
    *count = 0;
    for (int t = net->mechanism_first[k]; t < net->mechanism_first[k + 1]; t++) {
        const int block = net->mechanism_block[t];
        if (!m->touched[block]) continue;
        GROW(velocity, *count + p->A.first[block + 1] - p->A.first[block]);
        for (int row = p->A.first[block]; row < p->A.first[block + 1]; row++)
            m->velocity[(*count)++] = row;
    }
    return ST_OK;
}

/* P over these velocities, four columns at a time, in units of the masses; wide_side is 0 before and after. */
static st_Status form_P(sti_Mobility *m, const sti_Saddle *saddle, int k, int n, st_Error *err)
{
    GROW(P, (int64_t)n * n);
    GROW(mass, n);
    for (int i = 0; i < n; i++)
        m->mass[i] = sqrt(sti_saddle_mass(saddle, m->velocity[i]));
    for (int j = 0; j < n; j += STI_WIDTH) {
        const int columns = n - j < STI_WIDTH ? n - j : STI_WIDTH;
        for (int c = 0; c < columns; c++)
            m->wide_side[(int64_t)STI_WIDTH * m->velocity[j + c] + c] = 1.0;
        sti_saddle_solve_wide(saddle, k, (const sti_Wide *)m->wide_side, (sti_Wide *)m->wide_out);
        for (int c = 0; c < columns; c++) {
            m->wide_side[(int64_t)STI_WIDTH * m->velocity[j + c] + c] = 0.0;
            for (int i = 0; i < n; i++)
                m->P[(int64_t)i * n + j + c] =
                    m->mass[i] * m->mass[j + c] * m->wide_out[(int64_t)STI_WIDTH * m->velocity[i] + c];
        }
    }
    return ST_OK;
}

/* The largest of what is left on the diagonal; -1 where all that is left is rounding. */
static int find_pivot(const sti_Mobility *m, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (m->P[(int64_t)i * (n + 1)] > m->least[i] &&
            (best < 0 || m->P[(int64_t)i * (n + 1)] > m->P[(int64_t)best * (n + 1)]))
            best = i;
    return best;
}

/* P = R R', R in columns at factor[]. Returns their number. */
static st_Status factorise_P(sti_Mobility *m, int n, int *freedoms, st_Error *err)
{
    GROW(factor, (int64_t)n * n);
    GROW(least, n);
    for (int i = 0; i < n; i++)
        m->least[i] = fmax(STI_HELD, rounding * m->P[(int64_t)i * (n + 1)]);
    for (*freedoms = 0; *freedoms < n; ++*freedoms) {
        const int pivot = find_pivot(m, n);
        if (pivot < 0) return ST_OK;
        double *column = m->factor + (int64_t)*freedoms * n;
        const double root = sqrt(m->P[(int64_t)pivot * (n + 1)]);
        for (int i = 0; i < n; i++) /* halves of P differ by rounding */
            column[i] = 0.5 * (m->P[(int64_t)i * n + pivot] + m->P[(int64_t)pivot * n + i]) / root;
        column[pivot] = root;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                m->P[(int64_t)i * n + j] -= column[i] * column[j];
        m->least[pivot] = INFINITY; /* its row is done */
    }
    return ST_OK;
}

/* Rows of R for the velocities at work, in the units of the problem. */
static st_Status keep_rows(sti_Mobility *m, const sti_Net *net, int n, int freedoms, int64_t *end, st_Error *err)
{
    GROW(R, *end + (int64_t)n * freedoms);
    for (int i = 0; i < n; i++) {
        const int block = net->block_of[m->velocity[i]];
        if (m->rows[block] < 0) m->rows[block] = *end;
        for (int j = 0; j < freedoms; j++)
            m->R[(*end)++] = m->factor[(int64_t)j * n + i] / m->mass[i];
    }
    return ST_OK;
}

st_Status sti_mobility_build(sti_Mobility *m, const st_Problem *problem, const sti_Saddle *saddle, st_Error *err)
{
    const sti_Net *net = saddle->net;
    int64_t end = 0;
    STI_TRY(find_touched(m, problem, net, err));
    GROW(wide_side, (int64_t)STI_WIDTH * problem->n_v);
    GROW(wide_out, (int64_t)STI_WIDTH * problem->n_v);
    if (m->n > 0) memset(m->wide_side, 0, (size_t)STI_WIDTH * (size_t)problem->n_v * sizeof *m->wide_side);
    m->first[0] = 0;
    for (int k = 0; k < m->n; k++) {
        int n, freedoms;
        STI_TRY(list_velocities(m, problem, net, m->mechanism[k], &n, err));
        STI_TRY(form_P(m, saddle, m->mechanism[k], n, err));
        STI_TRY(factorise_P(m, n, &freedoms, err));
        STI_TRY(keep_rows(m, net, n, freedoms, &end, err));
        m->first[k + 1] = m->first[k] + freedoms;
    }
    return ST_OK;
}
