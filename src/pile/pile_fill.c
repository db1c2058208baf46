/* pile_fill.c -- see pile.h: masses, and the numbers of contacts in their lanes. */
#include "pile/pile.h"

#include "math/block_diag.h"

#define GROW(name, n) STI_TRY(STI_GROW(&graph->allocator, graph->name, graph->name##_size, (n), err))

/* ------------------------------------------------------------------ masses */

static bool is_diagonal(int n, const double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (A[i * n + j] != 0.0) return false;
    return true;
}

/* inv(L) of A_k = L L' for a diagonal A_k. False if it is not positive definite; the general factorisation reports
 * this error. */
static bool invert_diagonal(int n, const double *A, int64_t apart, double *scale)
{
    for (int i = 0; i < n; i++) {
        if (!(A[i * apart] > 0.0)) return false;
        scale[i] = i > 0 && A[i * apart] == A[(i - 1) * apart] ? scale[i - 1] : 1.0 / sqrt(A[i * apart]);
    }
    return true;
}

/* The same for any A_k, row-major 6 x 6. */
static bool invert_root(int n, const double *A, double inverse[36])
{
    double L[6][6];
    memset(inverse, 0, 36 * sizeof *inverse);
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

/* h <- inv(L) h for a body whose L is not diagonal. */
static void multiply_row(const sti_Graph *graph, int node, double h[6])
{
    const double *inverse = graph->root + 36 * (ptrdiff_t)node;
    for (int i = 5; i >= 0; i--) {
        h[i] *= inverse[7 * i];
        for (int j = 0; j < i; j++)
            h[i] += inverse[6 * i + j] * h[j];
    }
}

void sti_graph_scale_row(const sti_Graph *graph, int node, double *h)
{
    if (!graph->diagonal[node]) {
        multiply_row(graph, node, h);
        return;
    }
    for (int i = 0; i < 6; i++)
        h[i] *= graph->scale[STI_NODE * (ptrdiff_t)node + i];
}

void sti_graph_unscale(const sti_Graph *graph, int node, const double *v, double *out)
{
    const double *inverse = graph->root + 36 * (ptrdiff_t)node, *scale = graph->scale + STI_NODE * (ptrdiff_t)node;
    const int *first = graph->problem->A.first, n = first[node + 1] - first[node];
    if (graph->round) {
        const double *R = sti_pile_axes(graph->pile, node);
        for (int i = 0; i < 3; i++) {
            out[i] = scale[i] * v[i];
            out[3 + i] = scale[3] * (R[i] * v[3] + R[3 + i] * v[4] + R[6 + i] * v[5]);
        }
        return;
    }
    for (int i = 0; i < n; i++) { /* inv(L)'v~ */
        out[i] = (graph->diagonal[node] ? scale[i] : inverse[7 * i]) * v[i];
        for (int k = i + 1; k < n && !graph->diagonal[node]; k++)
            out[i] += inverse[6 * k + i] * v[k];
    }
}

/* Bodies in parts. */
typedef struct Masses {
    sti_Graph *graph;
    const double *v_free;
    bool diagonal[STI_PARTS], round[STI_PARTS], even[STI_PARTS], definite[STI_PARTS]; /* all of them are   */
} Masses;

static void look_at_part(void *ctx, int part, int64_t first, int64_t end)
{
    Masses *masses = ctx;
    const sti_Graph *graph = masses->graph;
    const st_BlockDiag *A = &graph->problem->A;
    bool diagonal = true, round = true, even = true;
    for (int k = (int)first; k < (int)end; k++) {
        const int n = A->first[k + 1] - A->first[k];
        const double *x = A->x + graph->mass_at[k];
        graph->diagonal[k] = sti_block_marked(A, k) || is_diagonal(n, x);
        /* even: the mass is the same in all directions; round: so is the inertia */
        const int64_t apart = sti_block_stride(A, k);
        const bool is_even = graph->diagonal[k] && n == 6 && x[0] == x[apart] && x[0] == x[2 * apart];
        diagonal = diagonal && graph->diagonal[k];
        even = even && is_even;
        round = round && is_even && x[3 * apart] == x[4 * apart] && x[3 * apart] == x[5 * apart];
    }
    masses->diagonal[part] = diagonal;
    masses->round[part] = round;
    masses->even[part] = even;
}

static bool take_mass(const sti_Graph *graph, int k, const double *v_free)
{
    const st_Problem *p = graph->problem;
    const int first = p->A.first[k], n = p->A.first[k + 1] - first;
    const double *A = p->A.x + graph->mass_at[k];
    double *v = graph->v_free + STI_NODE * (ptrdiff_t)k, *scale = graph->scale + STI_NODE * (ptrdiff_t)k;
    memset(v, 0, STI_NODE * sizeof *v);
    memset(scale, 0, STI_NODE * sizeof *scale);
    const bool definite = graph->diagonal[k] ? invert_diagonal(n, A, sti_block_stride(&p->A, k), scale)
                                             : invert_root(n, A, graph->root + 36 * (ptrdiff_t)k);
    if (definite) {
        /* v~ = L'v: the transposed of inv(L), solved backwards. */
        const double *inverse = graph->root + 36 * (ptrdiff_t)k;
        for (int i = n - 1; i >= 0; i--) {
            double sum = (v_free + first)[i];
            for (int j = i + 1; j < n && !graph->diagonal[k]; j++)
                sum -= inverse[6 * j + i] * v[j];
            v[i] = sum / (graph->diagonal[k] ? scale[i] : inverse[7 * i]);
        }
    }
    if (definite && graph->round) {
        /* The turning part of v~ in world axes: the same numbers for a round body. */
        const double *R = sti_pile_axes(graph->pile, k);
        const double x = v[3], y = v[4], z = v[5];
        for (int i = 0; i < 3; i++)
            v[3 + i] = R[3 * i] * x + R[3 * i + 1] * y + R[3 * i + 2] * z;
    }
    if (definite && graph->pointed) {
        const double *R = sti_pile_axes(graph->pile, k);
        double *to = graph->axes + STI_FRAME * (ptrdiff_t)k;
        for (int e = 0; e < 9; e++)
            to[e] = R[e] * scale[3 + e % 3];
        to[9] = scale[0];
    }
    return definite;
}

static void take_masses(void *ctx, int part, int64_t first, int64_t end)
{
    Masses *masses = ctx;
    masses->definite[part] = true;
    for (int k = (int)first; k < (int)end && masses->definite[part]; k++)
        masses->definite[part] = take_mass(masses->graph, k, masses->v_free);
}

st_Status sti_graph_masses(sti_Graph *graph, const double *v_free, bool *definite, st_Error *err)
{
    const ptrdiff_t ground = STI_NODE * (ptrdiff_t)graph->n_nodes;
    const int64_t n_rooms = (int64_t)graph->n_nodes + 1;
    Masses masses;
    masses.graph = graph, masses.v_free = v_free;

    /* Which bodies have diagonal masses? Others need memory for inv(L). Are all round, or have they at least axes? */
    bool all = true;
    int64_t at = 0;
    for (int k = 0; k < graph->n_nodes; k++) {
        graph->mass_at[k] = at;
        at += sti_block_numbers(&graph->problem->A, k);
    }
    int parts = sti_team_parts(graph->threads, graph->n_nodes, look_at_part, &masses);
    graph->round = graph->straight;
    graph->pointed = graph->straight && !graph->turning;
    for (int k = 0; k < parts; k++) {
        all = all && masses.diagonal[k];
        graph->round = graph->round && masses.round[k];
        graph->pointed = graph->pointed && masses.even[k];
    }
    graph->diagonal[graph->n_nodes] = true;
    graph->pointed = graph->pointed && !graph->round;
    if (!all) GROW(root, 36 * n_rooms);
    if (graph->pointed) GROW(axes, STI_FRAME * n_rooms);

    memset(graph->v_free + ground, 0, STI_NODE * sizeof *graph->v_free);
    memset(graph->scale + ground, 0, STI_NODE * sizeof *graph->scale);
    parts = sti_team_parts(graph->threads, graph->n_nodes, take_masses, &masses);
    *definite = true;
    for (int k = 0; k < parts; k++)
        *definite = *definite && masses.definite[k];
    if (graph->pointed) memset(graph->axes + STI_FRAME * (ptrdiff_t)graph->n_nodes, 0, STI_FRAME * sizeof(double));
    return ST_OK;
}

/* ------------------------------------------------------------------ contacts */

/* Copies rows of H. Rows on whole bodies, which are the most frequent ones, have their entries in order. */
static void copy_rows(const sti_Graph *graph, const sti_Net *net, int c, double row[STI_TURNING][2][STI_NODE])
{
    const st_Problem *p = graph->problem;
    for (int k = 0; k < p->contact[c].dim; k++) {
        const int64_t begin = p->H.p[p->contact[c].first + k], end = p->H.p[p->contact[c].first + k + 1];
        const int d = sti_direction_of(p->contact[c].dim, k);
        const double *h = p->H.x + begin;
        if (graph->kind[c] == STI_ONE_BODY || graph->kind[c] == STI_TWO_BODIES) {
            memcpy(row[d][0], h, 6 * sizeof *h);
            if (graph->kind[c] == STI_TWO_BODIES) memcpy(row[d][1], h + 6, 6 * sizeof *h);
            continue;
        }
        for (int64_t e = begin; e < end; e++) {
            const int node = net->block_of[p->H.i[e]];
            if (graph->kind[c] == STI_LED && graph->mobility.of_block[node] >= 0) continue;
            row[d][node == graph->legs[2 * (ptrdiff_t)c] ? 0 : 1][p->H.i[e] - p->A.first[node]] = p->H.x[e];
        }
    }
}

/* H~ of a batch by its rows. Where L is not diagonal they are scaled here, else in their lanes. */
static void fill_rows(const sti_Graph *graph, const sti_Net *net, const double *v_free, const sti_Batch *batch,
                      sti_LaneMap to)
{
    static const _Alignas(STI_ALIGN) double one[STI_NODE] = {1, 1, 1, 1, 1, 1, 1, 1};
    const st_Problem *p = graph->problem;
    sti_LaneRows rows;
    memset(to.rows->w, 0, sizeof to.rows->w);
    memset(to.rows->C, 0, sizeof to.rows->C);
    if (graph->turning) memset(to.row_turns, 0, sizeof *to.row_turns);
    for (int l = 0; l < STI_LANES; l++) {
        const int c = batch->contact[l], dim = c >= 0 ? p->contact[c].dim : 0;
        memset(rows.h[l], 0, (size_t)graph->n_dirs * sizeof rows.h[l][0]);
        if (c >= 0 && graph->pile != NULL)
            sti_pile_rows(graph->pile, c, dim, rows.h[l]);
        else if (c >= 0)
            copy_rows(graph, net, c, rows.h[l]);
        for (int side = 0; side < 2; side++) {
            const int32_t node = batch->body[side][l];
            rows.scale[side][l] = graph->diagonal[node] ? graph->scale + STI_NODE * (ptrdiff_t)node : one;
            for (int d = 0; d < graph->n_dirs && !graph->diagonal[node]; d++)
                multiply_row(graph, node, rows.h[l][d][side]);
        }
        for (int k = 0; k < dim; k++) {
            const int d = sti_direction_of(dim, k), row = p->contact[c].first + k;
            double *w = d < STI_SLIDING ? to.rows->w[d] : to.row_turns->w[d - STI_SLIDING];
            w[l] = p->w[row];
            if (graph->kind[c] == STI_LED) {
                /* The contribution of prescribed velocities to a row. */
                const st_Sparse *H = &graph->problem->H;
                double sum = 0.0;
                for (int64_t e = H->p[row]; e < H->p[row + 1]; e++)
                    if (graph->mobility.of_block[net->block_of[H->i[e]]] >= 0) sum += H->x[e] * v_free[H->i[e]];
                w[l] += sum;
            }
        }
        if (!graph->turning) continue;
        to.row_turns->mu[0][l] = dim >= 5 ? p->contact[c].mu_roll : 0.0;
        to.row_turns->mu[1][l] = dim == 4 || dim == 6 ? p->contact[c].mu_spin : 0.0;
    }
    graph->code->fill(to, &rows);
}

/* Point, normal and tangent of contact c, and the centres of its bodies. Zeros for a lane without a contact, and for
 * the centre of the ground, whose levers are not used. */
static const double *frame_of(const sti_PileContacts *pile, int c, const double *centre[2])
{
    static const double nowhere[9] = {0};
    for (int side = 0; side < 2; side++) {
        const int32_t body = c >= 0 ? pile->body[2 * (ptrdiff_t)c + side] : -1;
        centre[side] = body >= 0 ? sti_pile_centre(pile, body) : nowhere;
    }
    return c >= 0 ? sti_pile_frame(pile, c) : nowhere;
}

/* The same from the frames of the contacts, where bodies have principal axes. */
static void fill_points(const sti_Graph *graph, const sti_Batch *batch, sti_PointLanes *to)
{
    const st_Problem *p = graph->problem;
    sti_LaneFrames frames;
    for (int l = 0; l < STI_LANES; l++) {
        const int c = batch->contact[l];
        const double *centre[2], *point = frames.frame[l] = frame_of(graph->pile, c, centre);
        for (int side = 0; side < 2; side++) {
            frames.axes[side][l] = graph->axes + STI_FRAME * (ptrdiff_t)batch->body[side][l];
            for (int k = 0; k < 3; k++)
                frames.lever[side][k][l] = sti_pile_lever(graph->pile, k, point[k], centre[side][k]);
        }
        frames.slides[l] = batch->dim[l] > 1 ? -1 : 0;
        to->w[l] = c >= 0 ? p->w[p->contact[c].first] : 0.0;
        to->C[l] = c >= 0 && p->C.n_blocks > 0 ? p->C.x[p->contact[c].first] : 0.0;
    }
    graph->code->fill_points(to, &frames);
}

/* Law and bodies of contact c in its lane; c < 0: of a lane without one. */
static void fill_law(const sti_Graph *graph, sti_Batch *batch, int lane, int c)
{
    const st_ContactLaw *contact = &graph->problem->contact[c >= 0 ? c : 0];
    batch->dim[lane] = c >= 0 ? contact->dim : 0;
    batch->mu[lane] = c >= 0 ? contact->mu : 0.0;
    for (int side = 0; side < 2; side++)
        batch->body[side][lane] = c >= 0 ? graph->legs[2 * (ptrdiff_t)c + side] : graph->n_nodes;
}

/* The same for balls, one of them. */
static void fill_ball(const sti_Graph *graph, const sti_Batch *batch, int l)
{
    const ptrdiff_t at = batch - graph->batch;
    sti_BallLanes *to = graph->balls + at;
    sti_BallTurns *turns = graph->turning ? graph->ball_turns + at : NULL;
    const st_Problem *p = graph->problem;
    const int c = batch->contact[l];
    const double *centre[2], *frame = frame_of(graph->pile, c, centre);
    for (int k = 0; k < 3; k++) {
        to->normal[k][l] = frame[3 + k];
        to->tangent[k][l] = batch->dim[l] > 1 ? frame[6 + k] : 0.0;
    }
    for (int side = 0; side < 2; side++) {
        const double *scale = graph->scale + STI_NODE * (ptrdiff_t)batch->body[side][l];
        to->mass[side][l] = scale[0];
        for (int k = 0; k < 3; k++)
            to->lever[side][k][l] = scale[3] * sti_pile_lever(graph->pile, k, frame[k], centre[side][k]);
        if (turns != NULL) turns->scale[side][l] = scale[3] * graph->pile->arm;
    }
    if (turns != NULL) {
        turns->mu[0][l] = batch->dim[l] >= 5 ? p->contact[c].mu_roll : 0.0;
        turns->mu[1][l] = batch->dim[l] == 4 || batch->dim[l] == 6 ? p->contact[c].mu_spin : 0.0;
    }
    to->w[l] = c >= 0 ? p->w[p->contact[c].first] : 0.0;
    to->C[l] = c >= 0 && p->C.n_blocks > 0 ? p->C.x[p->contact[c].first] : 0.0;
}

typedef struct Preparation {
    sti_Graph *graph;
    const sti_Net *net;
    const double *v_free;
} Preparation;

static void fill_range(void *ctx, int64_t first, int64_t end)
{
    const Preparation *of = ctx;
    sti_Graph *graph = of->graph;
    for (int64_t k = first; k < end; k++) {
        for (int l = 0; l < STI_LANES; l++)
            fill_law(graph, &graph->batch[k], l, graph->batch[k].contact[l]);
        if (graph->pointed)
            fill_points(graph, &graph->batch[k], &graph->points[k]);
        else
            fill_rows(graph, of->net, of->v_free, &graph->batch[k], sti_graph_map(graph, k));
    }
}

/* Contacts in the order of the problem, in which their data are in memory. The lanes of each colour are then filled
 * one after another, and large piles wait less for memory than if each lane fetched its contact. */
static void fill_ball_range(void *ctx, int64_t first, int64_t end)
{
    const sti_Graph *graph = ctx;
    for (int c = (int)first; c < (int)end; c++) {
        const int batch = graph->place[c] / STI_LANES, lane = graph->place[c] % STI_LANES;
        fill_law(graph, &graph->batch[batch], lane, c);
        fill_ball(graph, &graph->batch[batch], lane);
    }
}

static void prepare_chunks(void *ctx, int64_t first, int64_t end)
{
    sti_Graph *graph = ctx;
    for (int64_t chunk = first; chunk < end; chunk++) {
        double *sum = graph->part[chunk].sum;
        memset(sum, 0, STI_SUMS * sizeof *sum);
        for (ptrdiff_t k = chunk * STI_CHUNK; k < (chunk + 1) * STI_CHUNK && k < graph->n_batches; k++) {
            const ptrdiff_t at = (ptrdiff_t)graph->n_dirs * STI_LANES * k;
            graph->code->prepare(&graph->batch[k], sti_graph_map(graph, k), graph->v_free, graph->judged + at,
                                 graph->weight + at, sum);
        }
    }
}

void sti_graph_fill(sti_Graph *graph, const sti_Net *net, const double *v_free, double sum[STI_SUMS])
{
    Preparation preparation = {graph, net, v_free};
    const int n = sti_chunks_of(graph->n_batches);
    if (graph->round) {
        sti_team_for(graph->threads, graph->problem->n_contacts, STI_LEAST, fill_ball_range, graph);
        for (int e = 0; e < sti_graph_open(graph); e++) {
            const int batch = sti_graph_open_batch(graph, e);
            for (int l = 0; batch >= 0 && l < STI_LANES; l++) {
                if (graph->batch[batch].contact[l] >= 0) continue;
                fill_law(graph, &graph->batch[batch], l, -1);
                fill_ball(graph, &graph->batch[batch], l);
            }
        }
    } else
        sti_team_for(graph->threads, graph->n_batches, STI_LEAST / STI_LANES, fill_range, &preparation);
    /* Diagonal of C by rows, 0 where it has none. */
    const st_Problem *p = graph->problem;
    const double *x = p->C.x;
    for (int b = 0, c = 0; b < p->C.n_blocks && !graph->round && !graph->pointed; b++) {
        const int size = p->C.first[b + 1] - p->C.first[b];
        for (int i = 0; i < size; i++) {
            const int row = p->C.first[b] + i;
            while (row >= p->contact[c].first + p->contact[c].dim)
                c++;
            const int k = row - p->contact[c].first, d = sti_direction_of(p->contact[c].dim, k);
            const int batch = graph->place[c] / STI_LANES, lane = graph->place[c] % STI_LANES;
            double *to = batch >= graph->n_batches ? &sti_graph_alone(graph, c)->C[k]
                         : d < STI_SLIDING         ? &graph->rows[batch].C[d][lane]
                                                   : &graph->row_turns[batch].C[d - STI_SLIDING][lane];
            *to = x[(ptrdiff_t)i * (size + 1)];
        }
        x += (ptrdiff_t)size * size;
    }
    sti_team_for(graph->threads, n, STI_LEAST / (STI_CHUNK * STI_LANES), prepare_chunks, graph);
    graph->inverted = false;
    memset(sum, 0, STI_SUMS * sizeof *sum);
    for (int k = 0; k < n; k++)
        for (int e = 0; e < STI_SUMS; e++)
            sum[e] += graph->part[k].sum[e];
    if (graph->n_alone > 0) sti_alone_prepare(graph, v_free, sum);
}

/* ------------------------------------------------------------------ orders */

/* Data for the threads: an array by lanes and one in the order of the problem. */
typedef struct Order {
    const sti_Graph *graph;
    double *lanes, *rows;
    const double *from;
} Order;

static void give_range(void *ctx, int64_t first, int64_t end)
{
    const Order *order = ctx;
    const st_ContactLaw *contact = order->graph->problem->contact;
    for (int c = (int)first; c < (int)end; c++) {
        const double *from = order->from + sti_lane_at(order->graph, c);
        for (int k = 0; k < contact[c].dim; k++)
            order->rows[contact[c].first + k] = from[STI_LANES * sti_direction_of(contact[c].dim, k)];
    }
}

void sti_lanes_give(const sti_Graph *graph, const double *lanes, double *out)
{
    Order order = {.graph = graph, .from = lanes, .rows = out};
    sti_team_for(graph->threads, graph->problem->n_contacts, STI_LEAST, give_range, &order);
}

/* Directions that a contact does not have are set to 0. */
static void take_range(void *ctx, int64_t first, int64_t end)
{
    const Order *order = ctx;
    const st_ContactLaw *contact = order->graph->problem->contact;
    for (int c = (int)first; c < (int)end; c++) {
        double *to = order->lanes + sti_lane_at(order->graph, c);
        for (int d = contact[c].dim == 4 ? 3 : contact[c].dim; d < order->graph->n_dirs; d++)
            to[STI_LANES * d] = 0.0;
        for (int k = 0; k < contact[c].dim; k++)
            to[STI_LANES * sti_direction_of(contact[c].dim, k)] = order->from[contact[c].first + k];
    }
}

/* Also fills lanes without a contact. */
void sti_lanes_take(const sti_Graph *graph, const double *from, double *lanes)
{
    Order order = {.graph = graph, .from = from, .lanes = lanes};
    const ptrdiff_t room = (ptrdiff_t)graph->n_dirs * STI_LANES;
    sti_team_for(graph->threads, graph->problem->n_contacts, STI_LEAST, take_range, &order);
    for (int e = 0; e < sti_graph_open(graph); e++) {
        const int batch = sti_graph_open_batch(graph, e);
        double *to = lanes + room * batch;
        for (int l = 0; batch >= 0 && l < STI_LANES; l++)
            for (int d = 0; graph->batch[batch].contact[l] < 0 && d < graph->n_dirs; d++)
                to[STI_LANES * d + l] = 0.0;
    }
    for (int l = graph->n_alone; l < STI_LANES * (graph->n_rooms - graph->n_batches); l++)
        for (int d = 0; d < graph->n_dirs; d++)
            lanes[room * (graph->n_batches + l / STI_LANES) + (ptrdiff_t)STI_LANES * d + l % STI_LANES] = 0.0;
}
