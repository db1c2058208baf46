/* nsgs.c -- nonsmooth Gauss-Seidel: contact by contact, each solved exactly with the others held.
 *
 *     u_c = H_c' v + (C r)_c + w_c         where v = v_free + Y r is kept up to date
 *     b_c = u_c - W_cc r_c                 the velocity without this contact's own impulse
 *     r_c <- the solution of law_c( r_c , W_cc r_c + b_c )       (one_contact.h)
 *     v   <- v + Y_c (change of r_c)
 *
 * Moreau's and Jean's method (Jean 1999), for every law that has a local solve. Joints and soft rows are in Y
 * (reduce.h), so sweeps do not treat them. W is never formed; a visit costs the size of its H_c and Y_c.
 *
 * Differences from Jean: sweeps go forwards and backwards alternately, so a load on top of a stack reaches
 * the floor in one of the two for any order of the contacts. After each two sweeps the sequence of r is
 * accelerated (anderson.h) and projected on the sets of the laws. Measured on a wall of 55 boxes (400
 * contacts): 650 sweeps for a residual of 1e-9, and more than 20,000 without acceleration. Acceleration
 * after every single sweep needs half as many sweeps at 1e-9, but ten times as many at 1e-4.
 *
 * The iteration ends when the natural residual (residual.h) is at the tolerance. Between two computations
 * of the residual, the change of r in a sweep decides when the next one is made: it is the natural map with
 * rho = inv(W_cc), and so of the same size. The r with the smallest residual is returned.
 */
#include "pile/pile.h"
#include "problem/law.h"
#include "problem/one_contact.h"
#include "reduce/residual.h"
#include "solve/anderson.h"
#include "solve/solver.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

enum { JUDGE_EVERY, ACCELERATE };
static const st_SolverParameter nsgs_parameters[] = {
    /* a judgement costs about two sweeps */
    {"judge_every", "largest number of sweeps between two computations of the residual", 50, 1, 1e9},
    {"accelerate", "1: Anderson acceleration after every pair of sweeps; 0: plain sweeps", 1, 0, 1},
    {0},
};
/* The residual is first computed when the change of r is this many times the tolerance. */
static const double FIRST_DUE = 2.0;
/* In fewer sweeps than this the acceleration learns little, and costs as much as two of them; and its vectors need 200
 * to 300 bytes per contact, which matters if contacts are many. */
enum { FEWEST = 16, FEWEST_OF_MANY = 24, MANY = 2000 };
/* With many contacts and at most this many sweeps: a shorter window of the acceleration, with equally good results. */
enum { BRIEF = 64, BRIEF_WINDOW = 4 };

/* The vertices of one kind of polygon, shared by the contacts that have it. */
typedef struct Polygon {
    st_Law law;
    int facets;
    int64_t first; /* in vertex[]                                                                  */
} Polygon;

/* Row i of C: its entries meet the columns first .. first + count - 1. */
typedef struct ComplianceRow {
    const double *x;
    int first, count;
} ComplianceRow;

typedef struct Nsgs {
    st_Allocator allocator;
    STI_ARRAY(sti_Local, local);          /* by contact                                            */
    STI_ARRAY(Polygon, polygon);          /* the kinds seen in this problem                        */
    STI_ARRAY(double, vertex);            /* two coordinates each                                  */
    STI_ARRAY(ComplianceRow, compliance); /* by row of r; unused while C is 0                      */
    STI_ARRAY(double, v);                 /* v_free + Y r                                          */
    STI_ARRAY(double, u);                 /* of the judge                                          */
    STI_ARRAY(double, best);              /* the best r judged so far                              */
    STI_ARRAY(double, last);              /* r before the sweep                                    */
    STI_ARRAY(double, weight);            /* by row: 1/rho, so that |r| is an energy               */
    sti_Anderson anderson;
    int n_polygons;
    int64_t n_vertices;
    double scale; /* scale of impulses in the residual */
} Nsgs;

/* ------------------------------------------------------------------ preparation */

/* The polygon of this law, made when it is the first of its kind. */
static st_Status find_polygon(Nsgs *s, const st_ContactLaw *contact, int64_t *first, st_Error *err)
{
    const int facets = sti_local_vertex_count(contact);
    for (int k = 0; k < s->n_polygons; k++)
        if (s->polygon[k].law == contact->law && s->polygon[k].facets == facets) {
            *first = s->polygon[k].first;
            return ST_OK;
        }
    *first = 2 * s->n_vertices;
    GROW(vertex, *first + 2 * (int64_t)facets);
    GROW(polygon, (int64_t)s->n_polygons + 1);
    sti_local_vertices(contact, s->vertex + *first);
    s->polygon[s->n_polygons++] = (Polygon){.law = contact->law, .facets = facets, .first = *first};
    s->n_vertices += facets;
    return ST_OK;
}

/* ------------------------------------------------------------------ sweeps */

/* One contact. `dim` is a constant where this is called, so that its loops unroll. Returns |change|^2. */
static inline double visit_row_contact(const Nsgs *s, const sti_Task *task, int c, const int dim)
{
    const sti_Reduction *reduction = task->reduction;
    const sti_Local *local = &s->local[c];
    const int first = local->contact->first;
    const double *W = local->W, *w = reduction->w + first;
    double *r = task->r + first, *v = s->v, b[ST_MAX_DIM], change[ST_MAX_DIM], moved = 0.0;

    const int64_t n_h = reduction->h_first[c + 1] - reduction->h_first[c];
    const int *h_index = reduction->h_index + reduction->h_first[c];
    const double *h = reduction->h_value + reduction->h_start[c];
    for (int d = 0; d < dim; d++)
        b[d] = w[d];
    for (int64_t k = 0; k < n_h; k++) {
        const double v_k = v[h_index[k]];
        for (int d = 0; d < dim; d++)
            b[d] += h[d * n_h + k] * v_k;
    }
    for (int d = 0; d < dim && task->problem->C.n_blocks > 0; d++) {
        const ComplianceRow *row = &s->compliance[first + d];
        for (int j = 0; j < row->count; j++)
            b[d] += row->x[j] * task->r[row->first + j];
    }
    for (int d = 0; d < dim; d++) {
        change[d] = -r[d];
        for (int e = 0; e < dim; e++)
            b[d] -= W[d * dim + e] * r[e];
    }
    sti_local_solve(local, b, r);
    for (int d = 0; d < dim; d++) {
        change[d] += r[d];
        moved += change[d] * change[d];
    }
    if (moved == 0.0) return 0.0; /* open contacts are many */

    const int64_t n_y = reduction->y_first[c + 1] - reduction->y_first[c];
    const int *y_index = reduction->y_index + reduction->y_first[c];
    const double *y = reduction->y_value + reduction->y_start[c];
    for (int64_t k = 0; k < n_y; k++) {
        double sum = 0.0;
        for (int d = 0; d < dim; d++)
            sum += y[d * n_y + k] * change[d];
        v[y_index[k]] += sum;
    }
    return moved;
}

/* A better r from the last ones, made to obey the laws' sets, and v = v_free + Y r again. */
static void nsgs_accelerate(Nsgs *s, const sti_Task *task)
{
    const sti_Reduction *reduction = task->reduction;
    sti_anderson_next(&s->anderson, s->last, task->r, NULL);
    if (task->problem->n_v > 0) memcpy(s->v, reduction->v_free, sizeof *s->v * (size_t)task->problem->n_v);
    for (int c = 0; c < task->problem->n_contacts; c++) {
        const int64_t n_y = reduction->y_first[c + 1] - reduction->y_first[c];
        const int *index = reduction->y_index + reduction->y_first[c];
        const st_ContactLaw *contact = &task->problem->contact[c];
        sti_law_project(contact, task->r + contact->first);
        for (int d = 0; d < contact->dim; d++) {
            const double r = task->r[contact->first + d], *y = reduction->y_value + reduction->y_start[c] + d * n_y;
            for (int64_t k = 0; k < n_y && r != 0.0; k++)
                s->v[index[k]] += y[k] * r;
        }
    }
}

/* The residual of the present r, and its v (or NULL); the best r is kept. */
static double judge_sweep(const Nsgs *s, const sti_Task *task, double *v, double *least)
{
    st_Residual residual;
    sti_residual(task->reduction, task->r, v, NULL, NULL, &residual);
    sti_work_visits(task->work, task->problem->n_contacts);
    const double measure = sti_residual_measure(task->reduction, &residual);
    if (measure < *least) {
        *least = measure;
        memcpy(s->best, task->r, sizeof *s->best * (size_t)task->problem->n_r);
    }
    return measure;
}

/* Progress of the sweeps before newton's turn is checked halfway. For a problem given as W and b it is also checked at
 * a quarter of the way if steps of newton cost little, because sweeps over a dense W are usually slow. With few rows
 * the check is left out: the acceleration learns one direction in two sweeps and converges when it has learned all.  */
static bool is_on_the_way(const sti_Task *task, int k)
{
    const int rows = task->problem->n_r;
    const bool early = task->reduction->is_local && rows > task->max_iterations / 2 && rows <= STI_EVEN_ROWS;
    return task->stop_halfway && (k == task->max_iterations / 2 || (early && k == task->max_iterations / 4));
}

/* As many sweeps again square the residual, which falls at a steady pace from about 1: will that, or nearly that, do?
 */
static bool is_hopeless(const sti_Task *task, int k, double least)
{
    const double then = k == task->max_iterations / 2 ? least * least : least * least * least * least;
    return is_on_the_way(task, k) && then > 10.0 * task->tolerance;
}

/* The r of the graph is judged: the answer, if it is good enough, or if the sweeps end here (*ends) and none before was
 * better. `due` becomes the change at which the residual is to be at the tolerance, as both fall together.  */
static st_Status judge_graph(Nsgs *s, sti_Task *task, bool *ends, double *least, double *due, double change,
                             st_Error *err)
{
    const int threads = task->reduction->threads, n_r = task->problem->n_r;
    st_Residual residual;
    sti_work_visits(task->work, task->problem->n_contacts);
    sti_graph_give(task->reduction->graph, task->r);
    sti_residual_of_sweeps(task->reduction, task->r, &residual);
    const double measure = sti_residual_measure(task->reduction, &residual);
    const bool best = measure < *least || *least == INFINITY;
    *ends = *ends || measure <= task->tolerance;
    *due = fmin(0.9 * change, change * task->tolerance / measure);
    if (*ends && !best) sti_team_copy(threads, task->r, s->best, n_r);
    if (*ends || !best) return ST_OK;
    *least = measure;
    GROW(best, n_r);
    sti_team_copy(threads, s->best, task->r, n_r);
    return ST_OK;
}

/* Likewise over a graph. A sweep is so cheap that the residual is computed only when the changes are small, and at the
 * end. Sweeps go through the colours in one direction: a graph has no rows of contacts to follow, and turning back
 * would visit the last colours twice. v follows r in the acceleration; r may leave the laws' sets there, and the next
 * sweep returns it to them. 666 spheres falling, 12 sweeps: overlap 1.0 % of r instead of 1.8 %; a wall of
 * 55 boxes to 1e-8 takes as long. */
static st_Status solve_graph(Nsgs *s, sti_Task *task, st_Error *err)
{
    sti_Graph *graph = task->reduction->graph;
    const int n_r = graph->n_dirs * STI_LANES * graph->n_rooms;
    const int n_v = STI_NODE * (graph->n_nodes + 1) + (int)sti_graph_freedoms(graph);
    const double scale = sti_residual_scale(task->reduction);
    const double *parameter = task->parameters[STI_SOLVER_nsgs];
    const int judge_every = (int)parameter[JUDGE_EVERY];
    const bool accelerated = parameter[ACCELERATE] >= 0.5 &&
                             task->max_iterations >= (task->problem->n_contacts > MANY ? FEWEST_OF_MANY : FEWEST);
    double due = FIRST_DUE * task->tolerance, least = INFINITY;
    if (accelerated) {
        GROW(last, n_r);
        s->anderson.threads = graph->threads;
        const bool brief = task->problem->n_contacts > MANY && task->max_iterations <= BRIEF;
        STI_TRY(
            sti_anderson_begin(&s->anderson, n_r, n_v, brief ? BRIEF_WINDOW : STI_ANDERSON_WINDOW, graph->weight, err));
    }
    sti_graph_take(graph, task->r);
    sti_graph_restore(graph);
    for (int k = 1; k <= task->max_iterations && !sti_work_ends(task->work); k++) {
        const bool second = k % 2 == 0; /* of a pair */
        if (accelerated && !second) sti_team_copy(graph->threads, s->last, graph->r, n_r);
        const double change = sti_graph_sweep(graph) / (scale > 0.0 ? scale : 1.0);
        sti_work_visits(task->work, task->problem->n_contacts);
        task->iterations = k;
        if (task->def->progress != NULL) {
            sti_graph_give(graph, task->r);
            sti_task_report(task, task->r);
        }
        if (change <= due || k % judge_every == 0 || k == task->max_iterations || !(change > 0.0)) {
            bool ends = k == task->max_iterations || !(change > 0.0);
            STI_TRY(judge_graph(s, task, &ends, &least, &due, change, err));
            if (ends) return ST_OK;
            /* the judge has computed v from r: no rounding of the acceleration remains */
            sti_team_copy(graph->threads, graph->v, graph->v_judged, n_v);
        }
        if (accelerated && second) sti_anderson_next(&s->anderson, s->last, graph->r, graph->v);
    }
    if (least < INFINITY) memcpy(task->r, s->best, sizeof(double) * (size_t)task->problem->n_r);
    return ST_OK;
}

static st_Status nsgs_solve(void *workspace, sti_Task *task, st_Error *err)
{
    Nsgs *s = workspace;
    const size_t bytes = sizeof(double) * (size_t)task->problem->n_r;
    task->iterations = 0;
    if (task->problem->n_contacts == 0) return ST_OK;
    if (task->reduction->graph != NULL) return solve_graph(s, task, err);
    const st_Problem *p = task->problem;
    GROW(local, p->n_contacts);
    GROW(v, p->n_v);
    GROW(u, p->n_r);
    GROW(best, p->n_r);
    GROW(last, p->n_r);
    GROW(weight, p->n_r);
    if (p->C.n_blocks > 0) GROW(compliance, p->n_r);
    const sti_Reduction *reduction = task->reduction;
    s->n_polygons = 0;
    s->n_vertices = 0;
    for (int c = 0; c < p->n_contacts; c++) { /* all polygons first: the table may move while it grows */
        int64_t first;
        if (sti_local_vertex_count(&p->contact[c]) > 0) STI_TRY(find_polygon(s, &p->contact[c], &first, err));
    }
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        int64_t first = 0;
        if (sti_local_vertex_count(contact) > 0) STI_TRY(find_polygon(s, contact, &first, err));
        sti_local_prepare(&s->local[c], contact, reduction->W_diagonal + reduction->W_start[c],
                          s->vertex != NULL ? s->vertex + first : NULL);
        for (int d = 0; d < contact->dim; d++)
            s->weight[contact->first + d] = 1.0 / reduction->rho[c];
    }
    const double scale = sti_residual_scale(reduction);
    s->scale = scale > 0.0 ? scale : 1.0;
    const double *x = p->C.x;
    for (int k = 0; k < p->C.n_blocks; k++) {
        const int first = p->C.first[k], count = p->C.first[k + 1] - first;
        for (int i = 0; i < count; i++, x += count)
            s->compliance[first + i] = (ComplianceRow){.x = x, .first = first, .count = count};
    }
    STI_TRY(sti_anderson_begin(&s->anderson, p->n_r, 0, STI_ANDERSON_WINDOW, s->weight, err));

    const double *parameter = task->parameters[STI_SOLVER_nsgs];
    const int judge_every = (int)parameter[JUDGE_EVERY];
    const bool accelerated = parameter[ACCELERATE] >= 0.5;
    double due = task->tolerance, least = INFINITY; /* a change as small as `due` calls for the judge */
    bool is_cold = task->reduction->is_local;
    for (int j = 0; j < task->problem->n_r && is_cold; j++)
        is_cold = task->r[j] == 0.0;
    memcpy(s->best, task->r, bytes);
    /* One sweep is the answer for one contact, exact, and to be judged once. Nothing is known of W and b that come
     * without a start, either, and often one sweep is enough. */
    if (is_cold)
        memcpy(s->v, task->reduction->v_free, sizeof *s->v * (size_t)task->problem->n_v);
    else if (task->problem->n_contacts == 1)
        sti_reduction_apply(task->reduction, task->r, s->v, s->u);
    else
        judge_sweep(s, task, s->v, &least); /* a warm start may be the answer already; v is set, too */
    for (int k = 1; k <= task->max_iterations && least > task->tolerance && !sti_work_ends(task->work); k++) {
        const bool backwards = k % 2 == 0;
        if (!backwards) memcpy(s->last, task->r, bytes);
        /* All contacts once; `change` is | change of r | in the judge's scale. */
        const int n = task->problem->n_contacts;
        double sum = 0.0;
        for (int e = 0; e < n; e++) {
            const int c = backwards ? n - 1 - e : e;
            switch (s->local[c].contact->dim) {
            case 1:
                sum += visit_row_contact(s, task, c, 1);
                break;
            case 2:
                sum += visit_row_contact(s, task, c, 2);
                break;
            case 3:
                sum += visit_row_contact(s, task, c, 3);
                break;
            default:
                sum += visit_row_contact(s, task, c, s->local[c].contact->dim);
                break;
            }
        }
        const double change = sqrt(sum) / s->scale;
        sti_work_visits(task->work, task->problem->n_contacts);
        task->iterations = k;
        sti_task_report(task, task->r);
        if (change <= due || k <= 2 || k % judge_every == 0 || k == task->max_iterations || is_on_the_way(task, k)) {
            if (judge_sweep(s, task, s->v, &least) <= task->tolerance) break;
            if (!(change > 0.0)) break; /* nothing moves any more (or NaN): sweeps have no more to give */
            if (is_hopeless(task, k, least)) break;
            if (change <= due) due = 0.5 * change;
        }
        if (backwards && accelerated) nsgs_accelerate(s, task);
    }
    memcpy(task->r, s->best, bytes);
    return ST_OK;
}

/* ------------------------------------------------------------------ the row of the solver table */

static st_Status nsgs_create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Nsgs *s = sti_alloc(allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver nsgs");
    s->allocator = *allocator;
    s->anderson.allocator = *allocator;
    *workspace = s;
    return ST_OK;
}

static void nsgs_destroy(void *workspace)
{
    Nsgs *s = workspace;
    if (s == NULL) return;
    RELEASE(local);
    RELEASE(polygon);
    RELEASE(vertex);
    RELEASE(compliance);
    RELEASE(v);
    RELEASE(u);
    RELEASE(best);
    RELEASE(last);
    RELEASE(weight);
    sti_anderson_release(&s->anderson);
    const st_Allocator allocator = s->allocator;
    sti_free(&allocator, s, 1, sizeof *s);
}

const sti_SolverKind sti_nsgs = {
    .name = "nsgs",
    .parameters = nsgs_parameters,
    .help = "Gauss-Seidel over contacts, each solved exactly; for all laws; the baseline",
    .property = STI_LAW_ANY,
    .create = nsgs_create,
    .solve = nsgs_solve,
    .destroy = nsgs_destroy,
};
