/* graph.c -- see graph.h: which contacts fit, their colours, their numbers in lanes. */
#include "solve/graph.h"

#define GROW(name, n) STI_TRY(STI_GROW(&graph->allocator, graph->name, graph->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&graph->allocator, graph->name, graph->name##_size)

/* Colours are bits of a word. A contact that finds none free, on a body with very many contacts, is put behind
 * all colours, alone in its batch.                                                                 */
enum { MAX_COLOURS = 64, LATE = MAX_COLOURS };

void sti_graph_release(sti_Graph *graph)
{
    RELEASE(batch);
    RELEASE(v);
    RELEASE(v_free);
    RELEASE(r);
    RELEASE(weight);
    RELEASE(W);
    RELEASE(root);
    RELEASE(diagonal);
    RELEASE(legs);
    RELEASE(taken);
    RELEASE(colour);
    RELEASE(place);
}

/* ------------------------------------------------------------------ who fits */

static bool law_fits(const st_ContactLaw *contact)
{
    if (contact->law == ST_LAW_FRICTIONLESS) return contact->dim == 1;
    return contact->law == ST_LAW_COULOMB && contact->dim <= 3;
}

/* Every block of C is diagonal. */
static bool compliance_fits(const st_BlockDiag *C)
{
    const double *x = C->x;
    for (int k = 0; k < C->n_blocks; k++) {
        const int size = C->first[k + 1] - C->first[k];
        for (int i = 0; i < size; i++, x += size)
            for (int j = 0; j < size; j++)
                if (i != j && x[j] != 0.0) return false;
    }
    return true;
}

/* The nodes that row j of H' touches; false where there are more than two. */
static bool note_legs(const st_Problem *p, const sti_Net *net, int j, int32_t ground, int32_t legs[2])
{
    for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++) {
        const int node = net->block_of[p->H.i[e]];
        if (node == legs[0] || node == legs[1]) continue;
        if (legs[0] == ground)
            legs[0] = node;
        else if (legs[1] == ground)
            legs[1] = node;
        else
            return false;
    }
    return true;
}

/* Rows of a contact mostly touch the very same velocities. */
static bool same_row(const st_Sparse *H, int i, int j)
{
    const int64_t count = H->p[i + 1] - H->p[i];
    return H->p[j + 1] - H->p[j] == count && memcmp(H->i + H->p[i], H->i + H->p[j], (size_t)count * sizeof *H->i) == 0;
}

static bool find_legs(sti_Graph *graph, const sti_Net *net)
{
    const st_Problem *p = graph->problem;
    const int32_t ground = graph->n_nodes;
    for (int k = 0; k < p->A.n_blocks; k++)
        if (p->A.first[k + 1] - p->A.first[k] > 6) return false;
    for (int c = 0; c < p->n_contacts; c++) {
        const int first = p->contact[c].first;
        int32_t *legs = graph->legs + 2 * (ptrdiff_t)c;
        legs[0] = legs[1] = ground;
        if (!law_fits(&p->contact[c])) return false;
        for (int d = 0; d < p->contact[c].dim; d++)
            if ((d == 0 || !same_row(&p->H, first, first + d)) && !note_legs(p, net, first + d, ground, legs))
                return false;
    }
    return true;
}

/* ------------------------------------------------------------------ colours */

static int lowest_free(uint64_t taken)
{
    int k = 0;
    for (; k < MAX_COLOURS && (taken & 1u) != 0; taken >>= 1)
        k++;
    return k;
}

/* Each contact takes the first colour that is free at both its bodies. */
static void choose_colours(sti_Graph *graph, int count[MAX_COLOURS + 1])
{
    memset(graph->taken, 0, (size_t)(graph->n_nodes + 1) * sizeof *graph->taken);
    for (int c = 0; c < graph->problem->n_contacts; c++) {
        const int32_t *legs = graph->legs + 2 * (ptrdiff_t)c;
        const int colour = lowest_free(graph->taken[legs[0]] | graph->taken[legs[1]]);
        graph->colour[c] = (uint8_t)colour;
        count[colour]++;
        for (int side = 0; side < 2 && colour < LATE; side++)
            if (legs[side] != graph->n_nodes) graph->taken[legs[side]] |= (uint64_t)1 << colour;
    }
}

/* Batches of each colour, and the place of every contact in them. */
static void place_contacts(sti_Graph *graph, const int count[MAX_COLOURS + 1])
{
    int next[MAX_COLOURS + 1], end = 0; /* the next free lane of each colour */
    for (int k = 0; k < MAX_COLOURS; k++) {
        graph->colour_first[k] = end;
        next[k] = STI_LANES * end;
        end += (count[k] + STI_LANES - 1) / STI_LANES;
    }
    graph->colour_first[MAX_COLOURS] = end;
    next[LATE] = STI_LANES * end;
    graph->n_batches = end + count[LATE];
    for (int c = 0; c < graph->problem->n_contacts; c++) {
        const int colour = graph->colour[c];
        graph->place[c] = next[colour];
        next[colour] += colour == LATE ? STI_LANES : 1;
    }
}

/* ------------------------------------------------------------------ numbers */

static bool is_diagonal(int n, const double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (A[i * n + j] != 0.0) return false;
    return true;
}

/* inv(L) of A_k = L L'. False where A_k is not positive definite: who factorises it elsewhere says so. */
static bool invert_root(int n, const double *A, double inverse[36], bool *diagonal)
{
    double L[6][6];
    memset(inverse, 0, 36 * sizeof *inverse);
    *diagonal = is_diagonal(n, A);
    for (int i = 0; i < n && *diagonal; i++) {
        if (!(A[i * n + i] > 0.0)) return false;
        inverse[7 * i] = 1.0 / sqrt(A[i * n + i]);
    }
    if (*diagonal) return true;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 0.0)) return false;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = j; k < i; k++)
                sum -= L[i][k] * inverse[6 * k + j];
            inverse[6 * i + j] = sum / L[i][i];
        }
    return true;
}

/* h <- inv(L) h of one body. */
static void scale_row(const sti_Graph *graph, int node, double h[6])
{
    const double *inverse = graph->root + 36 * (ptrdiff_t)node;
    if (graph->diagonal[node]) {
        for (int i = 0; i < 6; i++)
            h[i] *= inverse[7 * i];
        return;
    }
    for (int i = 5; i >= 0; i--) {
        h[i] *= inverse[7 * i];
        for (int j = 0; j < i; j++)
            h[i] += inverse[6 * i + j] * h[j];
    }
}

/* v~ = L'v: the transposed of inv(L), solved backwards. */
static void scale_velocity(const sti_Graph *graph, int node, int n, const double *v, double *out)
{
    const double *inverse = graph->root + 36 * (ptrdiff_t)node;
    for (int i = n - 1; i >= 0; i--) {
        double sum = v[i];
        for (int k = i + 1; k < n; k++)
            sum -= inverse[6 * k + i] * out[k];
        out[i] = sum / inverse[7 * i];
    }
}

static bool prepare_nodes(sti_Graph *graph, const double *v_free)
{
    const st_Problem *p = graph->problem;
    const double *A = p->A.x;
    memset(graph->v_free, 0, (size_t)STI_NODE * (size_t)(graph->n_nodes + 1) * sizeof *graph->v_free);
    for (int k = 0; k < graph->n_nodes; k++) {
        const int first = p->A.first[k], n = p->A.first[k + 1] - first;
        if (!invert_root(n, A, graph->root + 36 * (ptrdiff_t)k, &graph->diagonal[k])) return false;
        scale_velocity(graph, k, n, v_free + first, graph->v_free + STI_NODE * (ptrdiff_t)k);
        A += (ptrdiff_t)n * n;
    }
    memset(graph->root + 36 * (ptrdiff_t)graph->n_nodes, 0, 36 * sizeof *graph->root);
    graph->diagonal[graph->n_nodes] = true;
    return true;
}

/* Where the entries of row j stand in the twelve velocities of the two bodies. */
static void find_slots(const st_Problem *p, const sti_Net *net, const int32_t legs[2], int j, int slot[12])
{
    for (int64_t e = p->H.p[j], k = 0; e < p->H.p[j + 1]; e++, k++) {
        const int node = net->block_of[p->H.i[e]];
        slot[k] = p->H.i[e] - p->A.first[node] + (node == legs[0] ? 0 : 6);
    }
}

/* Where the twelve velocities of two bodies with diagonal L stand in a batch, and 1/L. */
typedef struct Diagonal {
    int offset[12]; /* from H[0][0][d][lane]                                                       */
    double factor[12];
} Diagonal;

static void find_diagonal(const sti_Graph *graph, const int32_t legs[2], int64_t count, const int *slot, Diagonal *out)
{
    for (int64_t k = 0; k < count; k++) {
        const int side = slot[k] >= 6, i = slot[k] - 6 * side;
        out->offset[k] = slot[k] * 3 * STI_LANES;
        out->factor[k] = graph->root[36 * (ptrdiff_t)legs[side] + 7 * (ptrdiff_t)i];
    }
}

/* Row d of a contact between such bodies, into its lane. */
static void fill_diagonal(const Diagonal *diagonal, int64_t count, const double *x, double *to)
{
    for (int64_t k = 0; k < count; k++)
        to[diagonal->offset[k]] = x[k] * diagonal->factor[k];
}

/* The same for any bodies. */
static void fill_full(const sti_Graph *graph, sti_Batch *batch, int lane, int d, int64_t count, const double *x,
                      const int *slot)
{
    double h[12] = {0};
    for (int64_t k = 0; k < count; k++)
        h[slot[k]] = x[k];
    scale_row(graph, batch->body[0][lane], h);
    scale_row(graph, batch->body[1][lane], h + 6);
    for (int k = 0; k < 12; k++)
        batch->H[k / 6][k % 6][d][lane] = h[k];
}

/* A contact into its lane. */
static void fill_lane(const sti_Graph *graph, const sti_Net *net, sti_Batch *batch, int lane)
{
    const st_Problem *p = graph->problem;
    const int c = batch->contact[lane];
    const st_ContactLaw *contact = &p->contact[c];
    const int32_t *legs = graph->legs + 2 * (ptrdiff_t)c;
    const bool diagonal = graph->diagonal[legs[0]] && graph->diagonal[legs[1]];
    int slot[12] = {0};
    Diagonal place = {0};
    batch->dim[lane] = contact->dim;
    batch->mu[lane] = contact->mu;
    batch->body[0][lane] = legs[0];
    batch->body[1][lane] = legs[1];
    for (int d = 0; d < contact->dim; d++) {
        const int row = contact->first + d;
        const int64_t count = p->H.p[row + 1] - p->H.p[row];
        const double *x = p->H.x + p->H.p[row];
        if (d == 0 || !same_row(&p->H, row - 1, row)) { /* else as the row before has them */
            find_slots(p, net, legs, row, slot);
            if (diagonal) find_diagonal(graph, legs, count, slot, &place);
        }
        if (diagonal)
            fill_diagonal(&place, count, x, &batch->H[0][0][d][lane]);
        else
            fill_full(graph, batch, lane, d, count, x, slot);
        batch->w[d][lane] = p->w[row];
    }
}

static void empty_batch(sti_Batch *batch, int32_t ground)
{
    memset(batch, 0, sizeof *batch);
    for (int l = 0; l < STI_LANES; l++) {
        batch->body[0][l] = batch->body[1][l] = ground;
        batch->contact[l] = -1;
    }
}

/* Diagonal of C by rows, 0 where it has none. */
static void spread_compliance(sti_Graph *graph)
{
    const st_Problem *p = graph->problem;
    const double *x = p->C.x;
    for (int k = 0, c = 0; k < p->C.n_blocks; k++) {
        const int size = p->C.first[k + 1] - p->C.first[k];
        for (int i = 0; i < size; i++) {
            const int row = p->C.first[k] + i;
            while (row >= p->contact[c].first + p->contact[c].dim)
                c++;
            sti_Batch *batch = &graph->batch[graph->place[c] / STI_LANES];
            batch->C[row - p->contact[c].first][graph->place[c] % STI_LANES] = x[(ptrdiff_t)i * (size + 1)];
        }
        x += (ptrdiff_t)size * size;
    }
}

/* What the lanes have computed, in the order of contacts. False where a contact's normal moves nothing. */
static bool hand_over(sti_Graph *graph, double *b, double *W_diagonal, double *rho)
{
    static const int entry[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5}; /* of the six in lanes */
    const st_Problem *p = graph->problem;
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim, lane = graph->place[c] % STI_LANES;
        const ptrdiff_t k = graph->place[c] / STI_LANES;
        const double *W = graph->W + 6 * STI_LANES * k + lane, *free = graph->r + 3 * STI_LANES * k + lane;
        for (int i = 0; i < dim; i++) {
            b[p->contact[c].first + i] = free[STI_LANES * i];
            for (int j = 0; j < dim; j++)
                *W_diagonal++ = W[STI_LANES * entry[3 * i + j]];
        }
        const double trace = W[0] + W[3 * STI_LANES] + W[5 * STI_LANES];
        rho[c] = dim / trace;
        if (!(W[0] > 0.0) || !isfinite(trace)) return false;
    }
    return true;
}

static st_Status make_room(sti_Graph *graph, st_Error *err)
{
    GROW(legs, 2 * (int64_t)graph->problem->n_contacts);
    GROW(colour, graph->problem->n_contacts);
    GROW(place, graph->problem->n_contacts);
    GROW(taken, (int64_t)graph->n_nodes + 1);
    GROW(diagonal, (int64_t)graph->n_nodes + 1);
    GROW(root, 36 * ((int64_t)graph->n_nodes + 1));
    GROW(v, STI_NODE * ((int64_t)graph->n_nodes + 1));
    GROW(v_free, STI_NODE * ((int64_t)graph->n_nodes + 1));
    return ST_OK;
}

static st_Status make_batches(sti_Graph *graph, st_Error *err)
{
    int count[MAX_COLOURS + 1] = {0};
    choose_colours(graph, count);
    place_contacts(graph, count);
    GROW(batch, graph->n_batches);
    GROW(r, 3 * STI_LANES * (int64_t)graph->n_batches);
    GROW(weight, 3 * STI_LANES * (int64_t)graph->n_batches);
    GROW(W, 6 * STI_LANES * (int64_t)graph->n_batches);
    for (int k = 0; k < graph->n_batches; k++)
        empty_batch(&graph->batch[k], graph->n_nodes);
    for (int c = 0; c < graph->problem->n_contacts; c++)
        graph->batch[graph->place[c] / STI_LANES].contact[graph->place[c] % STI_LANES] = c;
    return ST_OK;
}

st_Status sti_graph_build(sti_Graph *graph, const st_Problem *problem, const sti_Net *net, const double *v_free,
                          double *b, double *W_diagonal, double *rho, bool *fits, st_Error *err)
{
    *fits = false;
    if (problem->n_l > 0 || !problem->symmetric || problem->n_contacts == 0) return ST_OK;
    graph->problem = problem;
    graph->n_nodes = problem->A.n_blocks;
    STI_TRY(make_room(graph, err));
    if (!compliance_fits(&problem->C) || !find_legs(graph, net) || !prepare_nodes(graph, v_free)) return ST_OK;
    STI_TRY(make_batches(graph, err));
    spread_compliance(graph);
    for (int k = 0; k < graph->n_batches; k++)
        for (int lane = 0; lane < STI_LANES; lane++)
            if (graph->batch[k].contact[lane] >= 0) fill_lane(graph, net, &graph->batch[k], lane);
    graph->code = sti_graph_code();
    graph->code->prepare(graph->batch, graph->n_batches, graph->v_free, graph->W, graph->r, graph->weight);
    *fits = hand_over(graph, b, W_diagonal, rho);
    return ST_OK;
}

/* ------------------------------------------------------------------ use */

void sti_graph_take(sti_Graph *graph, const double *r)
{
    memset(graph->r, 0, 3 * STI_LANES * (size_t)graph->n_batches * sizeof *graph->r);
    for (int c = 0; c < graph->problem->n_contacts; c++) {
        const st_ContactLaw *contact = &graph->problem->contact[c];
        double *to = graph->r + 3 * (ptrdiff_t)STI_LANES * (graph->place[c] / STI_LANES) + graph->place[c] % STI_LANES;
        for (int d = 0; d < contact->dim; d++)
            to[STI_LANES * d] = r[contact->first + d];
    }
}

void sti_graph_give(const sti_Graph *graph, double *r)
{
    for (int c = 0; c < graph->problem->n_contacts; c++) {
        const st_ContactLaw *contact = &graph->problem->contact[c];
        const double *from =
            graph->r + 3 * (ptrdiff_t)STI_LANES * (graph->place[c] / STI_LANES) + graph->place[c] % STI_LANES;
        for (int d = 0; d < contact->dim; d++)
            r[contact->first + d] = from[STI_LANES * d];
    }
}

/* The widest vectors that this processor has; the bits are the same with all of them. */
const sti_GraphCode *sti_graph_code(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &sti_graph_avx512;
    if (__builtin_cpu_supports("avx2")) return &sti_graph_avx2;
#endif
    return &sti_graph_plain;
}

void sti_graph_restore(sti_Graph *graph)
{
    memcpy(graph->v, graph->v_free, STI_NODE * (size_t)(graph->n_nodes + 1) * sizeof *graph->v);
    graph->code->pass(graph->batch, graph->r, graph->v, graph->n_nodes, graph->n_batches, STI_APPLY);
}

double sti_graph_sweep(sti_Graph *graph, bool backwards)
{
    return sqrt(graph->code->pass(graph->batch, graph->r, graph->v, graph->n_nodes, graph->n_batches,
                                  backwards ? STI_BACKWARDS : STI_FORWARDS));
}
