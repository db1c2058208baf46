/* problem/opposite_rows.c -- the common part of impulses that push against each other. */
#include "problem/opposite_rows.h"

#include <math.h>

/* True if row i + 1 of H is the negative of row i. */
static bool are_opposite(const st_Sparse *H, int i)
{
    const int64_t a = H->p[i], b = H->p[i + 1], n = b - a;
    if (n == 0 || H->p[i + 2] - b != n) return false;
    for (int64_t e = 0; e < n; e++)
        if (H->i[a + e] != H->i[b + e] || H->x[a + e] != -H->x[b + e]) return false;
    return true;
}

bool sti_release_opposite_rows(const st_Problem *p, double *r)
{
    bool any = false;
    int block = 0;       /* of C, with the row of the contact                           */
    int64_t numbers = 0; /* of the blocks before it                                     */
    for (int c = 0; c + 1 < p->n_contacts; c++) {
        const st_ContactLaw *one = &p->contact[c], *two = &p->contact[c + 1];
        const int row = one->first;
        if (one->dim != 1 || two->dim != 1 || one->law == ST_LAW_BOUNDED || two->law == ST_LAW_BOUNDED) continue;
        const double common = fmin(r[row], r[row + 1]);
        if (!(common > 0) || !are_opposite(&p->H, row)) continue;
        bool rigid = true;
        for (; block < p->C.n_blocks && p->C.first[block + 1] <= row; block++) {
            const int64_t size = p->C.first[block + 1] - p->C.first[block];
            numbers += size * size;
        }
        int64_t at = numbers;
        for (int k = block; k < p->C.n_blocks && p->C.first[k] <= row + 1; k++) {
            const int64_t size = p->C.first[k + 1] - p->C.first[k];
            for (int64_t e = 0; e < size * size; e++)
                rigid = rigid && p->C.x[at + e] == 0;
            at += size * size;
        }
        if (!rigid) continue;
        r[row] -= common;
        r[row + 1] -= common;
        any = true;
    }
    return any;
}
