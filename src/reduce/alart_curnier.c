/* alart_curnier.c -- see alart_curnier.h. Everything is a projection of x = r - rho u, so that with D = dP/dx
 *
 *     F = r - P(x),     A = I - D,     B = rho D.
 */
#include "reduce/alart_curnier.h"

#include "pile/pile.h"
#include "problem/law.h"

static inline bool slope(const st_ContactLaw *contact, const int dim, const double *r, const double *u,
                         const double *rho, double *F, double *A, double *B)
{
    double x[ST_MAX_DIM] = {0}, P[ST_MAX_DIM] = {0}, D[ST_MAX_DIM * ST_MAX_DIM];
    bool active = false;
    for (int k = 0; k < dim; k++)
        x[k] = r[k] - rho[k] * u[k];
    for (int k = 0; k < dim * dim; k++)
        D[k] = 0.0;
    sti_law_of(contact)->slope(contact, x, P, D);
    for (int k = 0; k < dim; k++)
        F[k] = r[k] - P[k];
    if (A == NULL) return false;
    for (int i = 0; i < dim; i++)
        for (int k = 0; k < dim; k++) {
            const double d = D[i * dim + k];
            A[i * dim + k] = (i == k ? 1.0 : 0.0) - d;
            B[i * dim + k] = rho[k] * d;
            active = active || d != 0.0;
        }
    return active;
}

bool sti_slope(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, double *F, double *A,
               double *B)
{
    return contact->dim == 3 ? slope(contact, 3, r, u, rho, F, A, B) /* unrolled */
                             : slope(contact, contact->dim, r, u, rho, F, A, B);
}

/* The diagonal of W_cc. */
static void diagonal_of(const sti_Reduction *reduction, int c, double *W)
{
    const int dim = reduction->problem->contact[c].dim;
    double rows[2][3][6], turns[2][3][6];
    if (reduction->graph == NULL) {
        for (int d = 0; d < dim; d++)
            W[d] = reduction->W_diagonal[reduction->W_start[c] + (int64_t)d * (dim + 1)];
        return;
    }
    const sti_Alone *alone = sti_graph_alone(reduction->graph, c);
    for (int d = 0; alone != NULL && d < dim; d++)
        W[d] = alone->W[d * (dim + 1)];
    if (alone != NULL) return;
    sti_graph_rows(reduction->graph, c, rows);
    if (dim > 3) sti_graph_turn_rows(reduction->graph, c, turns);
    for (int d = 0; d < dim; d++) {
        W[d] = sti_graph_compliance(reduction->graph, c, d);
        for (int k = 0; k < 12; k++) {
            const double x = d < 3 ? rows[k / 6][d][k % 6] : turns[k / 6][d - 3][k % 6];
            W[d] += x * x;
        }
    }
}

void sti_slope_rho(const sti_Reduction *reduction, double *rho_out)
{
    const st_Problem *p = reduction->problem;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int dim = contact->dim;
        double W[ST_MAX_DIM];
        diagonal_of(reduction, c, W);
        sti_Group group[1 + STI_MAX_GROUPS] = {{0, 1, 0.0}}; /* the normal first */
        const int n = sti_law_of(contact)->whole ? 0 : 1 + sti_law_groups(contact, group + 1);
        double *rho = rho_out + contact->first;
        for (int d = 0; d < dim; d++)
            rho[d] = reduction->graph != NULL ? sti_graph_rho(reduction->graph, c) : reduction->rho[c];
        for (int g = 0; g < n; g++) {
            const int end = group[g].first + group[g].count;
            double trace = 0.0;
            for (int d = group[g].first; d < end; d++)
                trace += W[d];
            for (int d = group[g].first; d < end && trace > 1e-6 / rho[d]; d++)
                rho[d] = group[g].count / trace;
        }
    }
}

static inline void multiply(const double *B, const double *X, const int n, const int m, double *out)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            double sum = 0.0;
            for (int l = 0; l < n; l++)
                sum += B[i * n + l] * X[l * m + k];
            out[i * m + k] = sum;
        }
}

void sti_slope_multiply(const double *B, const double *X, int n, int m, double *out)
{
    if (n == 3 && m == 3) /* unrolled */
        multiply(B, X, 3, 3, out);
    else if (n == 2 && m == 2)
        multiply(B, X, 2, 2, out);
    else
        multiply(B, X, n, m, out);
}
