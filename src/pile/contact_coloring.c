/* contact_coloring.c -- see pile.h: which contacts fit, their colours, their places in lanes. */
#include "pile/pile.h"

#include "base/tolerance.h"

#define GROW(name, n) STI_TRY(STI_GROW(&graph->allocator, graph->name, graph->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&graph->allocator, graph->name, graph->name##_size)

/* The colour of a contact for which no colour is free, because a body has very many contacts. It comes after all
 * colours, alone in its batch. */
enum { LATE = STI_COLOURS };

void sti_graph_release(sti_Graph *graph)
{
    RELEASE(stretch);
    RELEASE(run_first);
    RELEASE(batch);
    RELEASE(rows);
    RELEASE(points);
    RELEASE(balls);
    RELEASE(row_turns);
    RELEASE(ball_turns);
    RELEASE(v);
    RELEASE(v_free);
    RELEASE(r);
    RELEASE(weight);
    RELEASE(judged);
    RELEASE(v_judged);
    RELEASE(scale);
    RELEASE(axes);
    RELEASE(root);
    RELEASE(diagonal);
    RELEASE(mass_at);
    RELEASE(legs);
    RELEASE(kind);
    RELEASE(alone);
    RELEASE(alone_rows);
    RELEASE(jointed);
    RELEASE(taken);
    RELEASE(colour);
    RELEASE(place);
    RELEASE(part);
    sti_mobility_release(&graph->mobility);
}

/* ------------------------------------------------------------------ which contacts fit */

/* Every block of C is diagonal. */
static bool compliance_fits(const st_BlockDiag *C)
{
    const double *x = C->x;
    const bool by_rows = C->n_blocks > 0 && C->first[C->n_blocks] == C->n_blocks;
    for (int k = 0; k < C->n_blocks && !by_rows; k++) {
        const int size = C->first[k + 1] - C->first[k];
        for (int i = 0; i < size; i++, x += size)
            for (int j = 0; j < size; j++)
                if (i != j && x[j] != 0.0) return false;
    }
    return true;
}

/* The six velocities of a body, in order? */
static bool is_body(const st_Problem *p, int node, const int *index)
{
    const int first = p->A.first[node];
    bool all = p->A.first[node + 1] - first == 6;
    for (int k = 0; k < 6; k++)
        all = all && index[k] == first + k;
    return all;
}

/* Are all rows of a contact on the six velocities of one body or two bodies? These are then its legs. */
static sti_ContactKind kind_of_rows(const st_Problem *p, const sti_Net *net, const st_ContactLaw *contact,
                                    int32_t ground, int32_t legs[2])
{
    const int64_t begin = p->H.p[contact->first], count = p->H.p[contact->first + 1] - begin;
    const int *index = p->H.i + begin;
    if (count != 6 && count != 12) return STI_ANY_ROWS;
    legs[0] = net->block_of[index[0]];
    legs[1] = count == 12 ? net->block_of[index[6]] : ground;
    if (!is_body(p, legs[0], index) || legs[0] == legs[1]) return STI_ANY_ROWS;
    if (count == 12 && !is_body(p, legs[1], index + 6)) return STI_ANY_ROWS;
    for (int row = contact->first + 1; row < contact->first + contact->dim; row++)
        if (p->H.p[row + 1] - p->H.p[row] != count ||
            memcmp(index, p->H.i + p->H.p[row], (size_t)count * sizeof *index) != 0)
            return STI_ANY_ROWS;
    return count == 12 ? STI_TWO_BODIES : STI_ONE_BODY;
}

/* Work of the threads: counts contacts that do not fit and contacts that touch other bodies than in the last problem,
 * and checks whether all contacts act along normals (sti_Graph.straight). */
typedef struct Fitting {
    sti_Graph *graph;
    const sti_Net *net;
    bool fits[STI_PARTS], same[STI_PARTS], straight[STI_PARTS], turning[STI_PARTS];
} Fitting;

/* The bodies of contact c, and its kind; false: the problem has no graph. */
static bool find_own_legs(sti_Graph *graph, const sti_Net *net, int c)
{
    const st_Problem *p = graph->problem;
    const st_ContactLaw *contact = &p->contact[c];
    const int32_t ground = graph->n_nodes;
    int32_t *legs = graph->legs + 2 * (ptrdiff_t)c;
    graph->kind[c] = STI_ANY_ROWS;
    if (contact->law == ST_LAW_FRICTIONLESS ? contact->dim != 1 : contact->law != ST_LAW_COULOMB) {
        graph->kind[c] = STI_ALONE;
        legs[0] = legs[1] = ground;
        return contact->law == ST_LAW_BOUNDED && graph->pile == NULL;
    }
    if (graph->pile != NULL) {
        for (int side = 0; side < 2; side++) {
            const int32_t body = graph->pile->body[2 * (ptrdiff_t)c + side];
            legs[side] = body >= 0 ? body : ground;
        }
        return true;
    }

    /* the bodies of its rows; a contact of more than two bodies is solved alone */
    graph->kind[c] = (uint8_t)kind_of_rows(p, net, contact, ground, legs);
    if (graph->kind[c] == STI_ANY_ROWS) {
        legs[0] = legs[1] = ground;
        for (int64_t e = p->H.p[contact->first]; e < p->H.p[contact->first + contact->dim]; e++) {
            const int node = net->block_of[p->H.i[e]];
            if (node == legs[0] || node == legs[1]) continue;
            if (legs[0] == ground)
                legs[0] = node;
            else if (legs[1] == ground)
                legs[1] = node;
            else
                graph->kind[c] = STI_ALONE;
        }
    }
    if (p->n_l == 0 || graph->kind[c] == STI_ALONE) return true;

    /* Bodies with joints are not legs: those with a prescribed motion are ground, and contacts of the others are not
     * in lanes. */
    bool jointed = false, moves = false;
    for (int side = 0; side < 2; side++) {
        const int k = legs[side] != ground ? graph->mobility.of_block[legs[side]] : -1;
        if (k < 0) continue;
        jointed = true;
        moves = moves || sti_mobility_freedoms(&graph->mobility, k) > 0;
        legs[side] = ground;
    }
    if (jointed) graph->kind[c] = moves || (legs[0] == ground && legs[1] == ground) ? STI_ALONE : STI_LED;
    return true;
}

static void find_legs_of_part(void *ctx, int part, int64_t first, int64_t end)
{
    Fitting *fitting = ctx;
    const st_Problem *p = fitting->graph->problem;
    const bool by_rows = p->C.n_blocks == 0 || p->C.n_blocks == p->n_r;
    bool fits = true, same = true, straight = fitting->graph->pile != NULL && by_rows, turning = false;
    for (int c = (int)first; c < (int)end && fits; c++) {
        const int32_t *legs = fitting->graph->legs + 2 * (ptrdiff_t)c, a = legs[0], b = legs[1];
        const bool alone = fitting->graph->kind[c] == STI_ALONE;
        fits = find_own_legs(fitting->graph, fitting->net, c);
        same = same && a == legs[0] && b == legs[1] && alone == (fitting->graph->kind[c] == STI_ALONE);
        const st_ContactLaw *contact = &p->contact[c];
        straight = straight && contact->dim != 2;
        for (int row = contact->first + 1; row < contact->first + contact->dim; row++)
            straight = straight && p->w[row] == 0.0 && !(p->C.n_blocks > 0 && p->C.x[row] != 0.0);
        turning = turning || contact->dim > STI_SLIDING;
    }
    fitting->fits[part] = fits;
    fitting->straight[part] = straight;
    fitting->turning[part] = turning;
    fitting->same[part] = same;
}

/* If contacts touch the same bodies as in the last problem, as they do at rest, colours and places are kept. */
static bool find_legs(sti_Graph *graph, const sti_Net *net)
{
    const st_Problem *p = graph->problem;
    bool fits = true, same = graph->n_placed == p->n_contacts && graph->placed_nodes == graph->n_nodes;
    Fitting fitting;
    fitting.graph = graph, fitting.net = net;
    for (int k = 0; k < p->A.n_blocks; k++)
        if (p->A.first[k + 1] - p->A.first[k] > 6) return false;
    const int parts = sti_team_parts(graph->threads, p->n_contacts, find_legs_of_part, &fitting);
    graph->straight = true;
    graph->turning = false;
    for (int k = 0; k < parts; k++) {
        graph->straight = graph->straight && fitting.straight[k];
        graph->turning = graph->turning || fitting.turning[k];
        fits = fits && fitting.fits[k];
        same = same && fitting.same[k];
    }
    graph->n_dirs = graph->turning ? STI_TURNING : STI_SLIDING;
    if (!same) graph->n_placed = 0;
    return fits;
}

/* ------------------------------------------------------------------ colours */

/* Each contact takes the first colour that is free at both its bodies; then its place in a batch of that colour. */
static st_Status find_places(sti_Graph *graph, st_Error *err)
{
    const int n_contacts = graph->problem->n_contacts, n_zones = (n_contacts + STI_ZONE - 1) / STI_ZONE;
    graph->n_zones = n_zones;
    GROW(run_first, (int64_t)STI_COLOURS * n_zones + 1);

    /* run_first: the number of contacts of each colour in each zone, and after these the number without a colour */
    int *const late_run = graph->run_first + (ptrdiff_t)STI_COLOURS * n_zones;
    memset(graph->taken, 0, (size_t)(graph->n_nodes + 1) * sizeof *graph->taken);
    memset(graph->run_first, 0, (size_t)(STI_COLOURS * n_zones + 1) * sizeof *graph->run_first);
    for (int c = 0; c < n_contacts; c++) {
        const int32_t *legs = graph->legs + 2 * (ptrdiff_t)c;
        if (graph->kind[c] == STI_ALONE) continue;
        const uint64_t taken = graph->taken[legs[0]] | graph->taken[legs[1]];
        const int colour = ~taken != 0 ? __builtin_ctzll(~taken) : LATE;
        graph->colour[c] = (uint8_t)colour;
        ++*(colour < LATE ? graph->run_first + (ptrdiff_t)STI_COLOURS * (c / STI_ZONE) + colour : late_run);
        for (int side = 0; side < 2 && colour < LATE; side++)
            if (legs[side] != graph->n_nodes) graph->taken[legs[side]] |= (uint64_t)1 << colour;
    }

    /* where they begin, instead */
    int end = 0;
    for (int *run = graph->run_first; run < late_run; run++) {
        const int batches = (*run + STI_LANES - 1) / STI_LANES;
        *run = end;
        end += batches;
    }
    graph->n_coloured = end;
    graph->n_batches = end + *late_run;
    *late_run = end;

    /* the place of every contact */
    int next[STI_COLOURS], late = STI_LANES * graph->n_coloured, alone = STI_LANES * graph->n_batches;
    for (int c = 0; c < n_contacts; c++) {
        const int *run = graph->run_first + (ptrdiff_t)STI_COLOURS * (c / STI_ZONE);
        for (int k = 0; k < STI_COLOURS && c % STI_ZONE == 0; k++)
            next[k] = STI_LANES * run[k];
        if (graph->kind[c] == STI_ALONE) {
            graph->place[c] = alone++;
        } else if (graph->colour[c] == LATE) {
            graph->place[c] = late;
            late += STI_LANES;
        } else {
            graph->place[c] = next[graph->colour[c]]++;
        }
    }
    graph->n_rooms = (alone + STI_LANES - 1) / STI_LANES;

    /* stretches: colour after colour, each in the order of memory */
    int n = 0;
    GROW(stretch, sti_chunks_of(graph->n_coloured) + (int64_t)STI_COLOURS * n_zones);
    for (int k = 0; k < STI_COLOURS; k++) {
        graph->colour_first[k] = n;
        for (int z = 0; z < n_zones; z++) {
            const int *run = graph->run_first + STI_COLOURS * (ptrdiff_t)z + k;
            for (int first = run[0]; first < run[1]; first += STI_CHUNK)
                graph->stretch[n++] = (sti_Stretch){first, run[1] - first < STI_CHUNK ? run[1] - first : STI_CHUNK};
        }
    }
    graph->colour_first[STI_COLOURS] = n;
    return ST_OK;
}

/* The contact in each lane. */
static void list_range(void *ctx, int64_t first, int64_t end)
{
    const sti_Graph *graph = ctx;
    for (int c = (int)first; c < (int)end; c++)
        if (graph->kind[c] != STI_ALONE)
            graph->batch[graph->place[c] / STI_LANES].contact[graph->place[c] % STI_LANES] = c;
}

/* ------------------------------------------------------------------ the whole of it */

/* Does the problem fit? If so, computes the lane of each contact. */
static st_Status sort_contacts(sti_Graph *graph, const sti_Saddle *saddle, bool *fits, st_Error *err)
{
    const st_Problem *p = graph->problem;
    *fits = p->symmetric && p->n_contacts > 0 && compliance_fits(&p->C) && !(p->n_l > 0 && graph->pile != NULL);
    if (!*fits) return ST_OK;
    if (p->n_l > 0) STI_TRY(sti_mobility_build(&graph->mobility, p, saddle, err));
    const int64_t n_contacts = p->n_contacts, n_nodes = (int64_t)graph->n_nodes + 1;
    GROW(legs, 2 * n_contacts);
    GROW(kind, n_contacts);
    GROW(colour, n_contacts);
    GROW(place, n_contacts);
    GROW(taken, n_nodes);
    GROW(diagonal, n_nodes);
    GROW(mass_at, n_nodes);
    GROW(scale, STI_NODE * n_nodes);
    const int64_t freedoms = sti_graph_freedoms(graph);
    GROW(v_judged, STI_NODE * n_nodes + freedoms);
    GROW(v, STI_NODE * n_nodes + freedoms);
    GROW(v_free, STI_NODE * n_nodes + freedoms);
    if (freedoms > 0) memset(graph->v_free + STI_NODE * n_nodes, 0, (size_t)freedoms * sizeof *graph->v_free);
    *fits = find_legs(graph, saddle->net);
    if (!*fits) return ST_OK;

    /* Contacts that are solved alone, and those on bodies with joints. Are enough left in lanes? */
    graph->n_alone = graph->n_jointed = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        graph->n_alone += graph->kind[c] == STI_ALONE;
        graph->n_jointed += graph->kind[c] >= STI_LED;
    }
    *fits = graph->n_alone == 0 || p->n_contacts - graph->n_alone >= STI_FEW_ROWS;
    GROW(jointed, graph->n_jointed);
    for (int c = 0, k = 0; c < p->n_contacts && k < graph->n_jointed; c++)
        if (graph->kind[c] >= STI_LED) graph->jointed[k++] = c;
    return ST_OK;
}

st_Status sti_graph_build(sti_Graph *graph, const st_Problem *problem, const sti_PileContacts *pile,
                          const sti_Saddle *saddle, const double *v_free, double *scale, bool *fits, st_Error *err)
{
    const sti_Net *net = saddle->net;
    double sum[STI_SUMS];
    graph->problem = problem;
    graph->pile = pile;
    graph->n_nodes = problem->A.n_blocks;
    graph->code = sti_graph_code();
    STI_TRY(sort_contacts(graph, saddle, fits, err));
    if (*fits) STI_TRY(sti_graph_masses(graph, v_free, fits, err));
    if (!*fits) return ST_OK;
    const bool anew = graph->n_placed == 0;
    graph->n_placed = 0; /* while there may be no room */
    if (anew) STI_TRY(find_places(graph, err));
    GROW(batch, graph->n_batches);
    if (graph->round)
        GROW(balls, graph->n_batches);
    else if (graph->pointed)
        GROW(points, graph->n_batches);
    else
        GROW(rows, graph->n_batches);
    if (graph->turning && graph->round)
        GROW(ball_turns, graph->n_batches);
    else if (graph->turning)
        GROW(row_turns, graph->n_batches);
    const int64_t numbers = (int64_t)graph->n_dirs * STI_LANES * graph->n_rooms;
    GROW(r, numbers);
    GROW(weight, numbers);
    GROW(judged, numbers);
    const int chunks = sti_chunks_of(graph->n_batches), stretches = graph->colour_first[STI_COLOURS] + 1;
    GROW(part, chunks > stretches ? chunks : stretches);
    for (int e = 0; e < sti_graph_open(graph) && anew; e++) {
        const int k = sti_graph_open_batch(graph, e);
        if (k >= 0) memset(graph->batch[k].contact, 0xff, sizeof graph->batch[k].contact); /* -1 */
    }
    if (anew) sti_team_for(graph->threads, graph->problem->n_contacts, 4 * STI_LEAST, list_range, graph);
    graph->n_placed = graph->problem->n_contacts;
    graph->placed_nodes = graph->n_nodes;

    if (graph->n_alone > 0) STI_TRY(sti_alone_fill(graph, saddle, v_free, fits, err));
    if (!*fits) return ST_OK;
    sti_graph_fill(graph, net, v_free, sum);
    *fits = sum[3] == 0.0; /* no contact whose normal moves no body */
    /* | rho b |, or 0 if b is rounding, but at least | rho u_scale |: see residual.c. The bound for rounding is twice
     * the largest possible sum of the velocity terms, because w may be as large and cancel them. */
    const double least = sum[2] * problem->u_scale * problem->u_scale;
    const double square = sqrt(sum[0]) > 2 * STI_NOISE * sqrt(sum[1]) ? sum[0] : 0.0;
    *scale = isfinite(sum[0]) ? sqrt(fmax(least, square)) : INFINITY;
    return ST_OK;
}

void sti_graph_take(sti_Graph *graph, const double *r)
{
    sti_lanes_take(graph, r, graph->r);
}

void sti_graph_give(const sti_Graph *graph, double *r)
{
    sti_lanes_give(graph, graph->r, r);
}

/* n, t, n x t of one lane. */
static void directions(double normal[3][STI_LANES], double tangent[3][STI_LANES], int lane, double d[3][3])
{
    for (int k = 0; k < 3; k++) {
        d[0][k] = normal[k][lane];
        d[1][k] = tangent[k][lane];
    }
    for (int k = 0; k < 3; k++)
        d[2][k] = d[0][(k + 1) % 3] * d[1][(k + 2) % 3] - d[0][(k + 2) % 3] * d[1][(k + 1) % 3];
}

void sti_graph_rows(const sti_Graph *graph, int c, double rows[2][3][6])
{
    const sti_LaneMap map = sti_graph_map(graph, graph->place[c] / STI_LANES);
    const int lane = graph->place[c] % STI_LANES;
    if (graph->pointed) {
        double d[3][3];
        directions(map.points->normal, map.points->tangent, lane, d);
        for (int side = 0; side < 2; side++)
            for (int e = 0; e < 3; e++)
                for (int k = 0; k < 3; k++) {
                    rows[side][e][k] = map.points->mass[side][lane] * d[e][k];
                    rows[side][e][3 + k] = map.points->turn[side][e][k][lane];
                }
        return;
    }
    if (graph->round) {
        /* Rows of balls: d and l x d, on a with the other sign. */
        double d[3][3];
        directions(map.balls->normal, map.balls->tangent, lane, d);
        for (int side = 0; side < 2; side++)
            for (int e = 0; e < 3; e++)
                for (int k = 0; k < 3; k++) {
                    const int i = (k + 1) % 3, j = (k + 2) % 3;
                    const double turn =
                        map.balls->lever[side][i][lane] * d[e][j] - map.balls->lever[side][j][lane] * d[e][i];
                    rows[side][e][k] = (side == 0 ? -1 : 1) * map.balls->mass[side][lane] * d[e][k];
                    rows[side][e][3 + k] = side == 0 ? -turn : turn;
                }
        return;
    }
    for (int side = 0; side < 2; side++)
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 6; k++)
                rows[side][d][k] = map.rows->H[side][k][d][lane];
}

void sti_graph_turn_rows(const sti_Graph *graph, int c, double rows[2][3][6])
{
    const sti_LaneMap map = sti_graph_map(graph, graph->place[c] / STI_LANES);
    const int lane = graph->place[c] % STI_LANES, dim = graph->problem->contact[c].dim;
    const bool round = graph->round && !graph->pointed;
    double d[3][3];
    memset(rows, 0, 2 * sizeof rows[0]);
    if (round) directions(map.balls->normal, map.balls->tangent, lane, d);
    for (int k = STI_SLIDING; k < dim && graph->turning && !graph->pointed; k++) {
        const int direction = sti_direction_of(dim, k) - STI_SLIDING; /* about t, n x t, n */
        for (int e = 0; e < 12; e++) {
            const int side = e / 6, i = e % 6;
            double *to = &rows[side][k - STI_SLIDING][i];
            if (!round)
                *to = map.row_turns->H[side][i][direction][lane];
            else if (i >= 3)
                *to = (side == 0 ? -1 : 1) * map.ball_turns->scale[side][lane] * d[(direction + 1) % 3][i - 3];
        }
    }
}

double sti_graph_compliance(const sti_Graph *graph, int c, int row)
{
    const int direction = sti_direction_of(graph->problem->contact[c].dim, row);
    if (graph->kind[c] == STI_ALONE) return sti_graph_alone(graph, c)->C[row];
    const sti_LaneMap map = sti_graph_map(graph, graph->place[c] / STI_LANES);
    const int lane = graph->place[c] % STI_LANES;
    if (graph->pointed) return direction == 0 ? map.points->C[lane] : 0.0;
    if (graph->round) return direction == 0 ? map.balls->C[lane] : 0.0;
    return direction < STI_SLIDING || !graph->turning ? map.rows->C[direction][lane]
                                                      : map.row_turns->C[direction - STI_SLIDING][lane];
}

double sti_graph_rho(const sti_Graph *graph, int c)
{
    return 1.0 / graph->weight[sti_lane_at(graph, c)];
}

void sti_graph_give_b(const sti_Graph *graph, double *b, double *rho)
{
    sti_lanes_give(graph, graph->judged, b);
    for (int c = 0; c < graph->problem->n_contacts; c++)
        rho[c] = sti_graph_rho(graph, c);
}
