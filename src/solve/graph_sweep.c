/* graph_sweep.c -- see graph.h: passes over all batches, colour after colour, and the judge. */
#include "solve/graph.h"

/* Contacts from which on a sweep, with a wait behind every colour, is worth a team. */
enum { TEAM = 1024 };

/* The widest vectors that this processor has; the bits are the same with all of them. */
const sti_GraphCode *sti_graph_code(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &sti_graph_avx512;
    if (__builtin_cpu_supports("avx2")) return &sti_graph_avx2;
#endif
    return &sti_graph_plain;
}

/* One pass over all batches, colour after colour. */
typedef struct Pass {
    sti_Graph *graph;
    double *r, *v;
    sti_Pass which;
} Pass;

/* Batches first .. end - 1, of one colour, by a team: chunk by chunk, so that sums do not depend on it. */
static void pass_colour(const Pass *pass, int first, int end, int chunk, int thread, int n_threads)
{
    sti_Graph *graph = pass->graph;
    const int n = sti_chunks_of(end - first);
    const int from = (int)sti_share(n, thread, n_threads), to = (int)sti_share(n, thread + 1, n_threads);
    for (int k = from; k < to; k++) {
        const int begin = first + k * STI_CHUNK, count = end - begin < STI_CHUNK ? end - begin : STI_CHUNK;
        graph->part[chunk + k].moved =
            graph->code->pass(graph->batch + begin, sti_graph_map(graph, begin),
                              pass->r + 3 * STI_LANES * (ptrdiff_t)begin, pass->v, graph->n_nodes, count, pass->which);
    }
}

static void pass_colours(void *ctx, int thread, int n_threads)
{
    const Pass *pass = ctx;
    const sti_Graph *graph = pass->graph;
    int chunk = 0;
    for (int k = 0; k < STI_COLOURS; k++) {
        const int first = graph->colour_first[k], end = graph->colour_first[k + 1];
        if (first == end) continue;
        pass_colour(pass, first, end, chunk, thread, n_threads);
        chunk += sti_chunks_of(end - first);
        sti_team_wait(n_threads);
    }
    if (thread > 0) return;
    const int late = graph->colour_first[STI_COLOURS]; /* one after another: they share bodies */
    graph->part[chunk].moved =
        graph->code->pass(graph->batch + late, sti_graph_map(graph, late), pass->r + 3 * STI_LANES * (ptrdiff_t)late,
                          pass->v, graph->n_nodes, graph->n_batches - late, pass->which);
}

/* Returns | change of r |^2. */
static double pass_over(sti_Graph *graph, double *r, double *v, sti_Pass which)
{
    Pass pass = {graph, r, v, which};
    int n_chunks = 1;
    double moved = 0.0;
    sti_team_run(graph->n_batches * STI_LANES >= TEAM ? graph->threads : 1, pass_colours, &pass);
    for (int k = 0; k < STI_COLOURS; k++)
        n_chunks += sti_chunks_of(graph->colour_first[k + 1] - graph->colour_first[k]);
    for (int k = 0; k < n_chunks; k++)
        moved += graph->part[k].moved;
    return moved;
}

/* v~ without impulses. */
static void start_velocities(const sti_Graph *graph, double *v)
{
    sti_team_copy(graph->threads, v, graph->v_free, STI_NODE * ((int64_t)graph->n_nodes + 1));
}

void sti_graph_restore(sti_Graph *graph)
{
    start_velocities(graph, graph->v);
    pass_over(graph, graph->r, graph->v, STI_RESTORE);
}

static void invert_range(void *ctx, int64_t first, int64_t end)
{
    const sti_Graph *graph = ctx;
    for (int64_t k = first; k < end; k++)
        graph->code->invert(&graph->batch[k]);
}

/* Things at rest are judged in every step, and swept in few. */
double sti_graph_sweep(sti_Graph *graph)
{
    if (!graph->inverted) sti_team_for(graph->threads, graph->n_batches, STI_LEAST / STI_LANES, invert_range, graph);
    graph->inverted = true;
    return sqrt(pass_over(graph, graph->r, graph->v, STI_SWEEP));
}

static void judge_chunks(void *ctx, int64_t first, int64_t end)
{
    sti_Graph *graph = ctx;
    for (int64_t chunk = first; chunk < end; chunk++) {
        const int begin = (int)chunk * STI_CHUNK, left = graph->n_batches - begin,
                  count = left < STI_CHUNK ? left : STI_CHUNK;
        const ptrdiff_t at = 3 * STI_LANES * (ptrdiff_t)begin;
        graph->part[chunk].judged = (sti_LaneJudgement){.contact = {-1, -1, -1, -1, -1, -1, -1, -1}};
        graph->code->judge(graph->batch + begin, sti_graph_map(graph, begin), count, graph->weight + at,
                           graph->v_judged, graph->judged + at, &graph->part[chunk].judged);
    }
}

/* NaN is the worst of all. */
static void add_judgement(sti_LaneJudgement *to, const sti_LaneJudgement *from)
{
    for (int l = 0; l < STI_LANES; l++) {
        to->error[l] += from->error[l];
        to->power[l] += from->power[l];
        to->outside[l] = fmax(to->outside[l], from->outside[l]);
        if (from->contact[l] < 0 || from->worst[l] <= to->worst[l]) continue;
        to->worst[l] = from->worst[l];
        to->contact[l] = from->contact[l];
    }
}

typedef struct Velocities {
    const sti_Graph *graph;
    double *v;
} Velocities;

static void give_velocities(void *ctx, int64_t first, int64_t end)
{
    const Velocities *velocities = ctx;
    const sti_Graph *graph = velocities->graph;
    const int *block = graph->problem->A.first;
    for (int k = (int)first; k < (int)end; k++)
        sti_graph_unscale(graph, k, graph->v_judged + STI_NODE * (ptrdiff_t)k, velocities->v + block[k]);
}

void sti_graph_judge(sti_Graph *graph, const double *r, double scale, double *v, double *u, st_Residual *out)
{
    const int n = sti_chunks_of(graph->n_batches);
    sti_LaneJudgement found = {.contact = {-1, -1, -1, -1, -1, -1, -1, -1}};
    double error = 0.0, worst = 0.0;
    sti_lanes_take(graph, r, graph->judged);
    start_velocities(graph, graph->v_judged);
    pass_over(graph, graph->judged, graph->v_judged, STI_APPLY);
    sti_team_for(graph->threads, n, STI_LEAST / (STI_CHUNK * STI_LANES), judge_chunks, graph);
    for (int k = 0; k < n; k++)
        add_judgement(&found, &graph->part[k].judged);
    sti_lanes_give(graph, graph->judged, u);
    Velocities velocities = {graph, v};
    sti_team_for(graph->threads, graph->n_nodes, STI_LEAST, give_velocities, &velocities);
    *out = (st_Residual){.worst_contact = -1};
    for (int l = 0; l < STI_LANES; l++) {
        error += found.error[l];
        out->complementarity += found.power[l];
        out->cone_violation = fmax(out->cone_violation, found.outside[l]);
        if (found.contact[l] >= 0 && (found.worst[l] > worst || !(found.worst[l] >= 0.0))) {
            worst = found.worst[l];
            out->worst_contact = found.contact[l];
        }
    }
    out->natural = scale > 0.0 ? sqrt(error) / scale : sqrt(error);
}
