/* pile_sweep.c -- see pile.h: passes over all batches, colour after colour, and the judge. */
#include "pile/pile.h"

/* Number of contacts from which on several threads share a sweep, although they wait after every colour. */
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
    sti_WorkQueue queue[2][STI_MOST_THREADS]; /* of stretches: of this colour, and of the next               */
} Pass;

static double pass_batches(const Pass *pass, int first, int count)
{
    const sti_Graph *graph = pass->graph;
    return graph->code->pass(graph->batch + first, sti_graph_map(graph, first),
                             pass->r + (ptrdiff_t)graph->n_dirs * STI_LANES * first, pass->v, graph->n_nodes, count,
                             pass->which);
}

/* The first stretch of a colour in the share of a thread, which is one of memory. */
static int first_in_share(const sti_Graph *graph, int colour, int thread, int n_threads)
{
    const int64_t border = sti_share(graph->n_coloured, thread, n_threads);
    int low = graph->colour_first[colour], high = graph->colour_first[colour + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (graph->stretch[middle].first < border)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void deal(Pass *pass, int colour, int thread, int n_threads)
{
    if (colour < STI_COLOURS)
        sti_queue_fill(&pass->queue[colour % 2][thread], first_in_share(pass->graph, colour, thread, n_threads),
                       first_in_share(pass->graph, colour, thread + 1, n_threads));
}

static void pass_stretch(const Pass *pass, int k)
{
    const sti_Stretch *stretch = &pass->graph->stretch[k];
    pass->graph->part[k].moved = pass_batches(pass, stretch->first, stretch->count);
}

/* By stretches, each with a sum of its own, so that the result does not depend on which thread took which. One thread
 * takes them in order, without queues: the colours of a small island have one batch each. */
static void pass_colours(void *ctx, int thread, int n_threads)
{
    Pass *pass = ctx;
    const sti_Graph *graph = pass->graph;
    int n_colours = STI_COLOURS;
    while (n_colours > 0 && graph->colour_first[n_colours - 1] == graph->colour_first[n_colours])
        n_colours--;
    const int n_stretches = graph->colour_first[STI_COLOURS];
    for (int k = 0; k < n_stretches && n_threads == 1; k++)
        pass_stretch(pass, k);
    for (int colour = 0; colour < n_colours && n_threads > 1; colour++) {
        if (colour == 0) deal(pass, 0, thread, n_threads);
        sti_team_wait(n_threads);
        deal(pass, colour + 1, thread, n_threads);
        for (int k; (k = sti_queue_take(pass->queue[colour % 2], thread, n_threads)) >= 0;)
            pass_stretch(pass, k);
    }
    sti_team_wait(n_threads);
    if (thread > 0) return;
    const int late = graph->n_coloured; /* one after another: they share bodies */
    graph->part[n_stretches].moved = pass_batches(pass, late, graph->n_batches - late);
    if (graph->n_alone > 0) graph->part[n_stretches].moved += sti_alone_pass(graph, pass->r, pass->v, pass->which);
}

/* Returns | change of r |^2. */
static double pass_over(sti_Graph *graph, double *r, double *v, sti_Pass which)
{
    Pass pass;
    double moved = 0.0;
    pass.graph = graph, pass.r = r, pass.v = v, pass.which = which;
    sti_team_run(graph->n_batches * STI_LANES >= TEAM ? graph->threads : 1, pass_colours, &pass);
    for (int k = 0; k <= graph->colour_first[STI_COLOURS]; k++)
        moved += graph->part[k].moved;
    return moved;
}

/* v~ without impulses. */
static void start_velocities(const sti_Graph *graph, double *v)
{
    sti_team_copy(graph->threads, v, graph->v_free,
                  STI_NODE * ((int64_t)graph->n_nodes + 1) + sti_graph_freedoms(graph));
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
void sti_graph_invert(sti_Graph *graph)
{
    if (!graph->inverted) sti_team_for(graph->threads, graph->n_batches, STI_LEAST / STI_LANES, invert_range, graph);
    graph->inverted = true;
}

double sti_graph_sweep(sti_Graph *graph)
{
    sti_graph_invert(graph);
    return sqrt(pass_over(graph, graph->r, graph->v, STI_SWEEP));
}

static void judge_chunks(void *ctx, int64_t first, int64_t end)
{
    sti_Graph *graph = ctx;
    for (int64_t chunk = first; chunk < end; chunk++) {
        const int begin = (int)chunk * STI_CHUNK, left = graph->n_batches - begin,
                  count = left < STI_CHUNK ? left : STI_CHUNK;
        const ptrdiff_t at = (ptrdiff_t)graph->n_dirs * STI_LANES * begin;
        graph->part[chunk].judged = (sti_LaneJudgement){.contact = {-1, -1, -1, -1, -1, -1, -1, -1}};
        graph->code->judge(graph->batch + begin, sti_graph_map(graph, begin), count, graph->weight + at,
                           graph->v_judged, graph->judged + at, &graph->part[chunk].judged);
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

void sti_graph_give_judged(const sti_Graph *graph, double *v, double *u)
{
    Velocities velocities = {graph, v};
    sti_lanes_give(graph, graph->judged, u);
    sti_team_for(graph->threads, graph->n_nodes, STI_LEAST, give_velocities, &velocities);
}

sti_GraphError sti_graph_judge(sti_Graph *graph, const double *r, st_Residual *out)
{
    const int n = sti_chunks_of(graph->n_batches);
    sti_LaneJudgement found = {.contact = {-1, -1, -1, -1, -1, -1, -1, -1}};
    sti_GraphError error = {0};
    if (r != NULL)
        sti_lanes_take(graph, r, graph->judged);
    else
        sti_team_copy(graph->threads, graph->judged, graph->r, (int64_t)graph->n_dirs * STI_LANES * graph->n_rooms);
    start_velocities(graph, graph->v_judged);
    pass_over(graph, graph->judged, graph->v_judged, STI_APPLY);
    sti_team_for(graph->threads, n, STI_LEAST / (STI_CHUNK * STI_LANES), judge_chunks, graph);
    for (int k = 0; k < n; k++) {
        /* NaN is the worst of all. */
        const sti_LaneJudgement *from = &graph->part[k].judged;
        for (int l = 0; l < STI_LANES; l++) {
            found.error[l] += from->error[l];
            found.power[l] += from->power[l];
            found.outside[l] = fmax(found.outside[l], from->outside[l]);
            if (from->contact[l] < 0 || from->worst[l] <= found.worst[l]) continue;
            found.worst[l] = from->worst[l];
            found.contact[l] = from->contact[l];
        }
    }
    *out = (st_Residual){.worst_contact = -1};
    for (int l = 0; l < STI_LANES; l++) {
        error.sum += found.error[l];
        out->complementarity += found.power[l];
        out->cone_violation = fmax(out->cone_violation, found.outside[l]);
        if (found.contact[l] >= 0 && (found.worst[l] > error.worst || !(found.worst[l] >= 0.0))) {
            error.worst = found.worst[l];
            out->worst_contact = found.contact[l];
        }
    }
    return error;
}
