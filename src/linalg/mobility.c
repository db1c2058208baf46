/* mobility.c -- see mobility.h. */
#include "linalg/mobility.h"

#include "base/tolerance.h"

#define GROW(name, n) STI_TRY(STI_GROW(&m->allocator, m->name, m->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&m->allocator, m->name, m->name##_size)

/* A diagonal entry of which elimination leaves less than this part depends on others: the rest is rounding. */
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

st_Status sti_mobility_build(sti_Mobility *m, const st_Problem *p, const sti_Saddle *saddle, st_Error *err)
{
    const sti_Net *net = saddle->net;
    const int n_blocks = p->A.n_blocks;
    int64_t end = 0;

    /* Blocks with joints that rows of H touch, and the mechanisms they are in, in the net's order. */
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
        const int begin = net->mechanism_first[k], last = net->mechanism_first[k + 1];
        bool any = false;
        for (int t = begin; t < last; t++)
            any = any || m->touched[net->mechanism_block[t]];
        for (int t = begin; t < last && any; t++)
            m->of_block[net->mechanism_block[t]] = m->n;
        if (any) m->mechanism[m->n++] = k;
    }

    GROW(wide_side, (int64_t)STI_WIDTH * p->n_v);
    GROW(wide_out, (int64_t)STI_WIDTH * p->n_v);
    if (m->n > 0) memset(m->wide_side, 0, (size_t)STI_WIDTH * (size_t)p->n_v * sizeof *m->wide_side);
    m->first[0] = 0;
    for (int k = 0; k < m->n; k++) {
        /* the velocities of the mechanism that are touched */
        const int mechanism = m->mechanism[k];
        int n = 0, freedoms = 0;
        for (int t = net->mechanism_first[mechanism]; t < net->mechanism_first[mechanism + 1]; t++) {
            const int block = net->mechanism_block[t];
            if (!m->touched[block]) continue;
            GROW(velocity, n + p->A.first[block + 1] - p->A.first[block]);
            for (int row = p->A.first[block]; row < p->A.first[block + 1]; row++)
                m->velocity[n++] = row;
        }

        /* P over these, four columns at a time, in units of the masses; wide_side is 0 before and after */
        GROW(P, (int64_t)n * n);
        GROW(mass, n);
        for (int i = 0; i < n; i++)
            m->mass[i] = sqrt(sti_saddle_mass(saddle, m->velocity[i]));
        for (int j = 0; j < n; j += STI_WIDTH) {
            const int columns = n - j < STI_WIDTH ? n - j : STI_WIDTH;
            for (int c = 0; c < columns; c++)
                m->wide_side[(int64_t)STI_WIDTH * m->velocity[j + c] + c] = 1.0;
            sti_saddle_solve_wide(saddle, mechanism, (const sti_Wide *)m->wide_side, (sti_Wide *)m->wide_out);
            for (int c = 0; c < columns; c++) {
                m->wide_side[(int64_t)STI_WIDTH * m->velocity[j + c] + c] = 0.0;
                for (int i = 0; i < n; i++)
                    m->P[(int64_t)i * n + j + c] =
                        m->mass[i] * m->mass[j + c] * m->wide_out[(int64_t)STI_WIDTH * m->velocity[i] + c];
            }
        }

        /* P = R R', R in columns at factor[], until all that is left on the diagonal is rounding */
        GROW(factor, (int64_t)n * n);
        GROW(least, n);
        for (int i = 0; i < n; i++)
            m->least[i] = fmax(STI_HELD, rounding * m->P[(int64_t)i * (n + 1)]);
        for (; freedoms < n; freedoms++) {
            int pivot = -1;
            for (int i = 0; i < n; i++)
                if (m->P[(int64_t)i * (n + 1)] > m->least[i] &&
                    (pivot < 0 || m->P[(int64_t)i * (n + 1)] > m->P[(int64_t)pivot * (n + 1)]))
                    pivot = i;
            if (pivot < 0) break;
            double *column = m->factor + (int64_t)freedoms * n;
            const double root = sqrt(m->P[(int64_t)pivot * (n + 1)]);
            for (int i = 0; i < n; i++) /* halves of P differ by rounding */
                column[i] = 0.5 * (m->P[(int64_t)i * n + pivot] + m->P[(int64_t)pivot * n + i]) / root;
            column[pivot] = root;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    m->P[(int64_t)i * n + j] -= column[i] * column[j];
            m->least[pivot] = INFINITY; /* its row is done */
        }

        /* rows of R, in the units of the problem */
        GROW(R, end + (int64_t)n * freedoms);
        for (int i = 0; i < n; i++) {
            const int block = net->block_of[m->velocity[i]];
            if (m->rows[block] < 0) m->rows[block] = end;
            for (int j = 0; j < freedoms; j++)
                m->R[end++] = m->factor[(int64_t)j * n + i] / m->mass[i];
        }
        m->first[k + 1] = m->first[k] + freedoms;
    }
    return ST_OK;
}
