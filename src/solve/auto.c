/* auto.c -- the solver that chooses among solvers.
 *
 * Linear laws (frictionless, bounded, pyramid, box) give a complementarity problem. Lemke's method solves it exactly
 * and, by theorem, does not fail on velocity-level problems, but it is dense: small problems try it first. Coulomb's
 * law in the plane is linear, too; there it comes before homotopy.
 *
 * Otherwise sweeps and factorisations take turns. Each starts from the best impulses so far, and later rounds have
 * longer turns. A few sweeps of nsgs solve easy problems and problems with a good warm start. They also find most of
 * the contacts that stick, slide and open, and newton needs this as its start. Newton then takes a few steps, where
 * sweeps, whose convergence depends on the smallest eigenvalues of W, would take very many. If newton stops without a
 * solution, homotopy follows a path around the difficulty: slower, but it nearly always reaches the solution. ipm does
 * the same for the cone law, which is monotone. Problems that are still unsolved get other starts and longer turns. In
 * piles (pile.h) a step of newton costs as much as a hundred or a thousand sweeps, so sweeps get longer turns.
 *
 * With effort balanced or real-time there is a budget of work. When it is spent, the best r so far is returned; see
 * spend().
 *
 * No decision depends on the clock. Turns are counted in sweeps and steps, and work in visits of a contact by a sweep.
 */
#include "base/tolerance.h"
#include "pile/small_island.h"
#include "reduce/residual.h"
#include "solve/factored.h"
#include "solve/solver.h"

/* Unknowns of the complementarity problem up to which Lemke goes first, and up to which it is still tried
 * when the others have failed: a pivot costs the square, and there are about as many pivots as unknowns. */
enum { LEMKE_FIRST = 600, LEMKE_LAST = 2400 };
/* Rows beyond which sweeps are so much cheaper than factors that they get four times as many at first; and beyond
 * which nothing is factorised at all, for the factors' memory.                                    */
enum { LARGE_ROWS = 3000, MOST_ROWS = 30000 };
/* Limit of rows times steps for a turn with factors. A large problem that is not solved by then will not be solved. */
static const int64_t most_work = 4000000;
/* Effective masses at contacts that differ by more are very unequal. */
static const double unequal = 1e3;
/* An iteration of admm is a solve with existing factors. This many iterations cost as much as a factorisation. */
static const int64_t admm_share = 20;
/* Multiplications that a turn with factors of W may take, some minutes' worth. Where all touch all (a hundred bodies in
 * one place) W fills up, and a factorisation of its N numbers takes about N^(3/2) of them, as a dense one does. */
static const double most_products = 5e11;
/* Residual of a start from which newton is at its end within a few steps; between free bodies these steps are cheap
 * (body_space_newton.h), and it may be farther away.                                                       */
static const double near_by_contacts = 1e-5, near_by_bodies = 1e-3;
enum { STEPS_BY_CONTACTS = 5, STEPS_BY_BODIES = 12 };
/* Newton also goes first between free bodies (body_space_newton.h), up to this many bodies and from this many rows per
 * velocity on. A wall has five rows per velocity, and sweeps without a warm start lead newton to a wrong active set
 * there (7 s instead of 0.04). Spheres have one or two, and sweeping first is a fifth faster. */
enum { EVEN_BODIES = 300, EVEN_REDUNDANCY = 3 };
/* Rows up to which ipm, which forms W, goes before long sweeps. */
enum { STIFF_ROWS = 6000 };
/* Rows that newton does quickly, whatever they are. */
enum { CHEAP_ROWS = 600 };
/* Rows up to which memory for factors is taken beforehand. */
enum { RESERVE_ROWS = 3000 };

/* One turn: which solver, and for how many iterations. */
typedef struct Turn {
    int who;
    int iterations;
    int attempt;                    /* another path                                                */
    enum { BEST, ZERO, LAST } from; /* the best so far; 0; where the turn before ended, better or not */
} Turn;

enum { LEMKE, NSGS, NEWTON, IPM, HOMOTOPY, ADMM, SMALL, N_SOLVERS };
static const sti_SolverKind *const kinds[N_SOLVERS] = {&sti_lemke,    &sti_nsgs, &sti_newton,      &sti_ipm,
                                                       &sti_homotopy, &sti_admm, &sti_newton_small};

/* A step of newton costs a factorisation: in the worst case as much as some hundred sweeps. */
static const Turn turns[] = {
    {NSGS, 24, 0, BEST},      {NEWTON, 60, 0, BEST}, /* nearly always enough */
    {NEWTON, 300, 0, ZERO},                          /* redundant contacts: sweeps had loaded the wrong ones */
    {ADMM, 25000, 0, ZERO},                          /* very unequal masses, where newton's equations lose digits */
    {HOMOTOPY, 300, 0, ZERO}, {NEWTON, 60, 1, LAST}, /* around folds; newton removes the error that rounding left */
    {IPM, 60, 0, ZERO},       {NEWTON, 60, 1, LAST}, /* cone, pyramid: no rounded form */
    {HOMOTOPY, 900, 1, ZERO}, {NEWTON, 60, 1, LAST},  {NEWTON, 150, 0, ZERO}, {NSGS, 150, 0, BEST},
    {NEWTON, 60, 1, BEST},    {IPM, 100, 1, ZERO},    {NEWTON, 100, 1, LAST}, {HOMOTOPY, 4500, 6, ZERO},
    {NEWTON, 60, 1, LAST},    {NEWTON, 200, 3, ZERO}, {NSGS, 600, 0, BEST},   {NEWTON, 150, 2, BEST},
    {NEWTON, 300, 1, ZERO},   {NEWTON, 300, 2, ZERO}, {NEWTON, 600, 5, ZERO}, {NSGS, 3000, 0, BEST},
    {NEWTON, 3000, 2, BEST},  {NSGS, 10000, 0, BEST},
};
enum { TURNS = sizeof turns / sizeof turns[0] };

/* Turns in piles before homotopy. 200 spheres in a turning drum to 1e-4: 23 ms per step by the turns above, 2 to 3 by
 * these; to 1e-9, 47 and 15. Newton has a turn in between only if sweeps are far from the solution. In large piles,
 * whose factors fill in, it has its turn only after all sweeps. */
static const double far_to_go = 100.0; /* times the tolerance */
static const Turn pile_turns[] = {
    {NSGS, 300, 0, BEST},  {NEWTON, 20, 0, BEST}, {NSGS, 1000, 0, BEST},
    {NEWTON, 30, 1, BEST}, {NSGS, 4500, 0, BEST}, {NEWTON, 60, 2, BEST},
};
enum { FIRST_TURNS = 2, PILE_TURNS = sizeof pile_turns / sizeof pile_turns[0] }; /* the turns above that they replace */
/* With many more rows than velocities, or with very unequal masses, sweeps converge slowly and newton fails from their
 * result. So ipm goes first, because its path ends inside the set of solutions, and newton continues from there. This
 * is only done without a warm start: the impulses of the last step are a better start. It is 45 times faster for 300
 * contacts with masses from 1 to 1e6, and 12 times for 30 bricks with 8 points per face (docs/solvers.md). If newton
 * stays where ipm ended, its long turns (attempts 4 and 5) leave that place: of 146 stacks they solve eleven that
 * nothing else does. If masses are very unequal and contacts redundant, ipm may end far away. Then admm approaches the
 * solution slowly, and newton tries again each time that the number of its iterations has doubled. */
static const Turn stiff_turns[] = {
    {IPM, 100, 1, ZERO},    {NEWTON, 150, 1, LAST},  {NEWTON, 600, 4, LAST},  {IPM, 100, 2, ZERO},
    {NEWTON, 150, 1, LAST}, {NEWTON, 600, 4, LAST},  {IPM, 200, 3, ZERO},     {NEWTON, 150, 1, LAST},
    {NEWTON, 600, 5, LAST}, {IPM, 60, 0, ZERO},      {NEWTON, 60, 1, LAST},   {ADMM, 2000, 0, ZERO},
    {NEWTON, 600, 0, LAST}, {ADMM, 2000, 1, BEST},   {NEWTON, 600, 0, LAST},  {ADMM, 4000, 1, BEST},
    {NEWTON, 600, 0, LAST}, {ADMM, 8000, 1, BEST},   {NEWTON, 600, 0, LAST},  {ADMM, 16000, 1, BEST},
    {NEWTON, 600, 0, LAST}, {NEWTON, 2000, 4, BEST}, {ADMM, 32000, 1, BEST},  {NEWTON, 600, 0, LAST},
    {ADMM, 64000, 1, BEST}, {NEWTON, 600, 0, LAST},  {ADMM, 128000, 1, BEST},
};
enum { STIFF_TURNS = sizeof stiff_turns / sizeof stiff_turns[0] };
/* Steps of newton if it has the first turn in a pile. */
enum { FIRST_STEPS = 30 };

typedef struct Auto {
    st_Allocator allocator;
    void *space[N_SOLVERS]; /* their workspaces                                                    */
    double *best;
    int64_t best_size;
    double least;   /* measure of best                                                            */
    int iterations; /* sweeps and steps of all turns, limited by max_iterations */
    int pivots;
    int reserved;      /* rows for which there is memory for factors                                 */
    int answered_by;   /* the solver that found best */
    int gave_up;       /* the last solver that did not reach the tolerance, -1: none yet */
    bool leaves_start; /* the best is the start, and the first sweeps replace it */
} Auto;

/* If task->r is the best so far, stores it and its solver. The first sweeps may replace the start in any case: while an
 * impact spreads through a pile, the residual rises. If the start were kept, the impact would not spread, neither in
 * this step nor in the next ones, and bodies would pass through each other. */
static void weigh(Auto *a, const sti_Task *task, int who)
{
    st_Residual residual;
    sti_residual(task->reduction, task->r, NULL, NULL, NULL, &residual);
    sti_work_visits(task->work, task->problem->n_contacts);
    const double measure = sti_residual_measure(task->reduction, &residual);
    const bool spreads = a->leaves_start && who == NSGS && measure < INFINITY;
    if (!(measure < a->least) && !spreads) return;
    a->leaves_start = false;
    a->least = measure;
    a->answered_by = who;
    memcpy(a->best, task->r, sizeof(double) * (size_t)task->problem->n_r);
}

/* One turn from the best r so far; it is replaced when the answer is better. */
static st_Status take_turn(Auto *a, sti_Task *task, Turn turn, st_Error *err)
{
    const size_t bytes = sizeof(double) * (size_t)task->problem->n_r;
    sti_Task part = *task;
    part.max_iterations = turn.iterations;
    part.iterations = 0;
    part.start = -1.0;
    part.attempt = turn.attempt;
    part.solver = kinds[turn.who]->name;
    part.before = a->iterations;
    /* newton is next and needs no good start; for a large problem its step is expensive */
    part.stop_halfway = a->gave_up < 0 && task->problem->n_r <= LARGE_ROWS;
    if (turn.from == ZERO) memset(task->r, 0, bytes);
    if (turn.from == BEST) memcpy(task->r, a->best, bytes);
    STI_TRY(sti_task_end(&part, kinds[turn.who]->solve(a->space[turn.who], &part, err)));
    *(turn.who == LEMKE ? &a->pivots : &a->iterations) += part.iterations;
    if (a->gave_up < 0 && task->start < 0.0) task->start = part.start; /* the first turn */
    weigh(a, task, turn.who);
    if (!(a->least <= task->tolerance)) a->gave_up = turn.who;
    return ST_OK;
}

/* Is there a budget? Lemke's problems have their own. */
static bool is_bounded(const sti_Task *task)
{
    int refused;
    return (task->effort == ST_EFFORT_BALANCED || task->effort == ST_EFFORT_REAL_TIME) &&
           !sti_solver_takes(&sti_lemke, task->problem, &refused);
}

/* Newton may be needed after a thousand steps that did without it. Its memory is taken when a size is first seen, so
 * that steady steps allocate nothing; large problems take it when they need it. It is not counted as work: a clone,
 * which reserves again, would else come to the end of a budget sooner. */
static st_Status reserve(Auto *a, const sti_Task *task, st_Error *err)
{
    const int n = task->problem->n_r;
    const sti_Graph *graph = task->reduction->graph;
    const bool swept = is_bounded(task) && graph != NULL;
    int refused;
    if (n <= a->reserved || n > (swept ? CHEAP_ROWS : RESERVE_ROWS)) return ST_OK;
    const double spent = task->work->spent;
    sti_Task none = *task;
    none.max_iterations = 0;
    none.r = a->best;
    if (sti_solver_takes(&sti_newton, task->problem, &refused))
        STI_TRY(sti_task_end(&none, sti_newton.solve(a->space[NEWTON], &none, err)));
    if (swept && sti_small_fits(graph))
        STI_TRY(sti_task_end(&none, sti_newton_small.solve(a->space[SMALL], &none, err)));
    task->work->spent = spent;
    a->reserved = n;
    return ST_OK;
}

/* If bodies are at rest, the start from the last step is a solution or close to one. Newton then needs a step or two
 * and ends far below the tolerance, so that the next steps need no solve. Sweeps would end just below the tolerance,
 * and would be needed again in the next step. */
static st_Status take_up_start(Auto *a, sti_Task *task, st_Error *err)
{
    int refused;
    const st_Problem *problem = task->problem;
    bool starts = false;
    if (problem->n_r <= STI_EVEN_ROWS || sti_solver_takes(&sti_lemke, problem, &refused)) return ST_OK;
    for (int j = 0; j < problem->n_r && !starts; j++)
        starts = task->r[j] != 0.0;
    if (!starts) return ST_OK;
    weigh(a, task, NSGS);
    task->start = a->least;
    const bool by_bodies = task->reduction->graph != NULL;
    const double near = by_bodies ? near_by_bodies : near_by_contacts;
    if (a->least <= task->tolerance || a->least > near || problem->n_r > MOST_ROWS) return ST_OK;
    const int steps = by_bodies ? STEPS_BY_BODIES : STEPS_BY_CONTACTS;
    const int most = task->max_iterations < steps ? task->max_iterations : steps;
    if (!sti_solver_takes(&sti_newton, problem, &refused)) return ST_OK;
    return take_turn(a, task, (Turn){NEWTON, most, 0, BEST}, err);
}

/* Limits a turn that factorises W to most_products: to fewer steps, or to none. The decision depends on the pattern of
 * W and not on the last factorisation, so that a restored run decides in the same way. */
static st_Status afford(const sti_Task *task, Turn *turn, st_Error *err)
{
    bool formed;
    const double n = task->problem->n_r;
    if (turn->who == NSGS || turn->who == LEMKE || (turn->who == NEWTON && task->reduction->graph != NULL))
        return ST_OK;
    if (n * n * (turn->who == ADMM ? 1.0 : n) * turn->iterations <= most_products) return ST_OK; /* even if full */
    STI_TRY(sti_factored_begin(task->factored, task, &formed, err));
    if (!formed) return ST_OK;
    STI_TRY(sti_sparse_lu_reserve(task->factored->lu, &task->factored->W.rows, err));
    const double size = (double)sti_sparse_lu_size(task->factored->lu),
                 most = most_products / (turn->who == ADMM ? size : size * sqrt(size));
    if (turn->iterations > most) turn->iterations = (int)most;
    return ST_OK;
}

/* The k-th turn of all; newton comes before the sweeps where loads are to be even. False: there are no more. */
static bool find_turn(const Auto *a, const sti_Task *task, int k, bool is_stiff, Turn *turn)
{
    const st_Problem *problem = task->problem;
    const sti_Graph *graph = task->reduction->graph;
    const int64_t n = problem->n_r;
    const bool no_sweeps =
        graph == NULL && task->effort == ST_EFFORT_EXACT && problem->n_contacts > 1 && n <= LARGE_ROWS;
    if (graph == NULL && is_stiff) { /* after the turns that are nearly always enough */
        const int begin = no_sweeps ? FIRST_TURNS - 1 : FIRST_TURNS;
        if (k >= begin && k < begin + STIFF_TURNS) {
            *turn = stiff_turns[k - begin];
            return true;
        }
        if (k >= begin) k -= STIFF_TURNS;
    }
    if (no_sweeps) {
        if (k < TURNS - 1) *turn = turns[k + 1]; /* no sweeps that newton can do without */
        return k < TURNS - 1;
    }
    if (graph == NULL) {
        const bool even = n <= STI_EVEN_ROWS && problem->n_contacts > 1 && !task->reduction->is_local;
        if (k < TURNS) *turn = turns[k < FIRST_TURNS && even ? FIRST_TURNS - 1 - k : k];
        if (k == 0 && n > LARGE_ROWS) turn->iterations *= 4;
        return k < TURNS;
    }
    const bool exact = task->effort == ST_EFFORT_EXACT;
    if (exact ? n <= CHEAP_ROWS || n > EVEN_REDUNDANCY * problem->n_v
              : graph->n_nodes <= EVEN_BODIES && n > EVEN_REDUNDANCY * problem->n_v) {
        *turn = (Turn){NEWTON, FIRST_STEPS, 0, BEST};
        if (k-- == 0) return true;
    }
    if (is_stiff && k < STIFF_TURNS) {
        *turn = stiff_turns[k];
        return true;
    }
    if (is_stiff) k -= STIFF_TURNS;
    if (k < PILE_TURNS) {
        *turn = pile_turns[k];
        const bool waits = n > LARGE_ROWS || a->least <= far_to_go * task->tolerance;
        if (turn->who == NEWTON && waits && k + 1 < PILE_TURNS) turn->iterations = 0;
        return true;
    }
    k += FIRST_TURNS - PILE_TURNS;
    if (k < TURNS) *turn = turns[k];
    return k < TURNS;
}

/* Do the bodies at the contacts differ so much in mass that newton's equations lose the light ones? */
static bool has_unequal_masses(const sti_Task *task)
{
    const sti_Reduction *reduction = task->reduction;
    double least = INFINITY, most = 0.0;
    for (int c = 0; c < task->problem->n_contacts; c++) {
        const double rho = reduction->graph != NULL ? sti_graph_rho(reduction->graph, c) : reduction->rho[c];
        least = fmin(least, rho);
        most = fmax(most, rho);
    }
    return most > unequal * least;
}

/* ------------------------------------------------------------------ a budget */

/* Residuals. good: accepted if an exact solution is expensive. fair: accepted if newton, although cheap, did not get
 * below it. enough: sweeps of a pile may leave this to the next step. Errors accumulate in sheared grains: with 0.05
 * the friction of a sheared bed is 0.26, with 0.01 it is 0.33, the same as with a residual of 1e-3; a pile of spheres
 * then takes 16 % longer (docs/performance.md). rough: the first sweeps replace such a start. */
static const double good = 1e-4, fair = 1e-3, enough = 0.01, rough = 0.05;
/* Work is counted in sweeps. The visit of a contact by a sweep takes as long as this many multiplications of a
 * factorisation, and a step of newton without its factorisation as long as ten sweeps. */
static const double products_per_visit = 60.0, sweeps_per_step = 10.0, sweeps_per_small_step = 5.0;
/* Limit of a solve: this many sweeps, plus this many visits, so that small problems can be solved exactly. */
static const double most_sweeps = 1000.0, visits_on_top = 20000.0;
/* Steps of newton are cheap if they cost no more than this many sweeps; newton then continues to the tolerance. */
static const double cheap_price = 40.0;
/* Heaps of more rows than CHEAP_ROWS are swept, whatever newton costs, so the cost is not computed: this takes an
 * analysis of the pattern, as long as a sweep or two. Up to this many bodies newton helps if the load is heavy. */
enum { PRICED_BODIES = 300 };
/* Free bodies that are few, whatever rows they have: newton_small.c. */
enum { EXACT_BODIES = 12 };
/* Sweeps that bodies in motion get before newton, and large stacks that fall. */
enum { MOVING_SWEEPS = 36, FALLING_SWEEPS = 24 };
/* Steps of newton_small.c that polish what is nearly at rest: it takes two to five of them, or fails. */
enum { POLISH_STEPS = 6 };
/* A load is heavy if impulses are this many times those of the free velocities: a plate on a pile, for example. A pile
 * by itself has 1 to 12. The energy that errors add grows with the load, so the residual must be smaller, and this
 * many accelerated sweeps are needed until the load has reached the ground. Newton often fails there, but with this
 * many rows per velocity sweeps converge so slowly that newton is better. */
static const double heavy_load = 20.0, loaded_enough = 0.05;
/* Bodies in a jam, into which they were hammered, press against each other by far more than any weight. Sweeps neither
 * keep this balance nor leave it, so a start is dropped there if it is worse than r = 0, which has a residual of at
 * most 1. */
static const double jammed = 1e4, worse_than_none = 1.0;
enum { LOADED_SWEEPS = 200, CRAWLING = 2 };
/* A start is accepted as the solution if its residual is at most this many times that of the last solve, or at most
 * this part of the tolerance. */
static const double jump = 10.0, below = 1e-2;
/* From this load on, the start of a stack that falls is scaled (scale_start). Walls that are hit have loads of 1 to 7.
 * Scaling would reduce their static load as well, and many sweeps are needed to build it up again. */
static const double strained = 10.0;
/* The cost of a step of newton, in sweeps. */
static st_Status price_of_newton(sti_Task *task, double *price, st_Error *err)
{
    bool formed;
    const sti_Graph *graph = task->reduction->graph;
    const double n = task->problem->n_contacts, rows = task->problem->n_r;
    *price = sweeps_per_step + rows * rows * rows / (3.0 * products_per_visit * n); /* of a dense W */
    if (graph == NULL) return ST_OK;
    STI_TRY(sti_factored_begin_bodies(task->factored, task, &formed, err));
    *price = sweeps_per_step + sti_sparse_lu_work(task->factored->bodies.lu) / (products_per_visit * n);
    return ST_OK;
}

static bool is_cold(const sti_Task *task)
{
    for (int j = 0; j < task->problem->n_r; j++)
        if (task->r[j] != 0.0) return false;
    return true;
}

/* The rest of a budget, and costs. */
typedef struct Budget {
    double left, price; /* in sweeps: the rest, a step of newton */
    double enough;      /* residual at which no more is spent                                       */
} Budget;

/* One turn, as far as the budget goes. */
static st_Status pay(Auto *a, sti_Task *task, Budget *budget, Turn turn, st_Error *err)
{
    int refused;
    const int before = a->iterations, most = task->max_iterations - before;
    const double price = turn.who == NSGS                          ? 1.0
                         : turn.who == NEWTON || turn.who == SMALL ? budget->price
                                                                   : 3.0 * budget->price;
    if (a->least <= budget->enough || sti_work_ends(task->work)) return ST_OK;
    if (turn.iterations > budget->left / price) turn.iterations = (int)(budget->left / price);
    if (turn.iterations > most) turn.iterations = most;
    if (turn.iterations < 1 || !sti_solver_takes(kinds[turn.who], task->problem, &refused)) return ST_OK;
    STI_TRY(take_turn(a, task, turn, err));
    budget->left -= price * (a->iterations - before);
    return ST_OK;
}

/* The start of a stack that falls may be wrong by a factor, for example the impulses of an impact that is over. Then
 * its multiple with the least energy 1/2 r'W r + b'r replaces it: with u = W r + b, r times 1 - r'u/r'W r. Its energy
 * is at most that of no impulses, 0, so sweeps that end early add no energy with it. The factor is at most 1, because
 * r'u < 0 is the work of friction. */
static void scale_start(sti_Task *task)
{
    const sti_Graph *graph = task->reduction->graph;
    const st_BlockDiag *C = &task->problem->C; /* diagonal in its blocks */
    const double *x = C->x;
    double power = 0.0, square = 0.0;
    sti_residual_give(task->reduction);
    for (int j = 0; j < task->problem->n_r; j++)
        power += task->r[j] * task->reduction->judged->u[j];
    for (int k = 0; k < C->n_blocks; k++) {
        const int size = C->first[k + 1] - C->first[k];
        for (int i = 0; i < size; i++)
            square += x[i * (size + 1)] * task->r[C->first[k] + i] * task->r[C->first[k] + i];
        x += (ptrdiff_t)size * size;
    }
    for (int j = 0; j < STI_NODE * graph->n_nodes; j++) {
        const double change = graph->v_judged[j] - graph->v_free[j]; /* of unit masses */
        square += change * change;
    }
    if (!(power > 0.0) || !(square > 0.0)) return;
    const double part = fmax(0.0, 1.0 - power / square);
    for (int j = 0; j < task->problem->n_r; j++)
        task->r[j] *= part;
}

/* Is a start good enough? An island that was solved exactly is kept so: things at rest then stay at rest for hundreds
 * of steps. */
sti_StartRule sti_auto_start_rule(int rows, bool small, int bodies, double left, double exact)
{
    const bool was_exact = left <= STI_EXACT;
    sti_StartRule rule = {.left = left, .exact = exact};
    rule.few = rows <= STI_EVEN_ROWS || (small && bodies <= EXACT_BODIES);
    rule.aim = rows <= STI_EVEN_ROWS ? exact : fmax(exact, good);
    rule.limit = rule.few || (was_exact && rows <= CHEAP_ROWS) ? exact : was_exact ? fmax(exact, STI_EXACT) : rule.aim;
    return rule;
}

/* A start with a much larger residual than the last solve left is not accepted, even if the residual is small: the
 * last solve has stopped something, and its impulses are larger than the forces at rest. */
bool sti_auto_accepts_start(const sti_StartRule *rule, double residual)
{
    return residual <= rule->limit && (residual <= jump * rule->left || residual <= below * rule->exact);
}

/* Problems of few rows or few free bodies are solved exactly by newton, within the budget. So are larger ones if the
 * analysis shows that their factors cost little, and stacks (many more rows than velocities) that were solved exactly
 * before or have just been built: the number of sweeps for a stack grows with the square of its courses. Contacts of
 * moving bodies change from step to step, and newton would need ten steps to find the active set, so sweeps reach a
 * good residual faster; newton then improves solutions that are close. Piles are swept, and the error after a dozen
 * sweeps is left to the start of the next step. Heaps that rest are solved exactly like smaller problems if they were
 * before or have just been built: towers, whose factors cost little. Problems with a large residual after that get more
 * turns of every kind within the budget. */
static st_Status spend(Auto *a, sti_Task *task, st_Error *err)
{
    const double exact = task->tolerance;
    const int rows = task->problem->n_r;
    const bool small = task->reduction->graph != NULL && sti_small_fits(task->reduction->graph);
    const sti_StartRule rule = sti_auto_start_rule(
        rows, small, task->reduction->graph != NULL ? task->reduction->graph->n_nodes : 0, task->left, exact);
    const bool few = rule.few, cold = is_cold(task), brief = task->effort == ST_EFFORT_REAL_TIME;
    const bool stack = task->reduction->graph != NULL && rows > EVEN_REDUNDANCY * task->problem->n_v;
    const bool was_exact = task->left <= STI_EXACT;
    Budget budget = {.left = (brief ? 0.1 : 1.0) * (most_sweeps + visits_on_top / task->problem->n_contacts),
                     .price = INFINITY};
    weigh(a, task, NSGS);
    double square = 0.0;
    for (int j = 0; j < rows; j++)
        square += task->r[j] * task->r[j];
    const double scale = sti_residual_scale(task->reduction), load = scale > 0.0 ? sqrt(square) / scale : 0.0;
    const bool dropped = load > jammed && a->least > worse_than_none;
    if (dropped) {
        memset(task->r, 0, sizeof *task->r * (size_t)rows);
        a->least = INFINITY;
        weigh(a, task, NSGS);
    }
    task->start = a->least;
    task->aim = rule.aim;
    if (sti_auto_accepts_start(&rule, a->least)) return ST_OK;
    const int bodies = task->reduction->graph != NULL ? task->reduction->graph->n_nodes : 0;
    const bool rests = cold || (was_exact && task->start <= fair);
    const bool heap =
        task->reduction->graph != NULL && !stack && rows > CHEAP_ROWS && !(rests && bodies <= PRICED_BODIES);
    const bool large_stack = stack && !few && rows > CHEAP_ROWS;
    const bool tumbles = large_stack && !rests && task->start > fair; /* falls, whatever a step of newton costs */
    if (tumbles && task->start > rough && load > strained && task->problem->n_l == 0) {
        scale_start(task);
        a->least = INFINITY;
        weigh(a, task, NSGS);
    }
    a->leaves_start = task->start > rough && load <= heavy_load;
    if (small)
        budget.price = sweeps_per_small_step;
    else if (!heap && !tumbles)
        STI_TRY(price_of_newton(task, &budget.price, err));
    const bool cheap = few || (!heap && !large_stack && budget.price <= cheap_price);
    const bool strives = few || ((cheap || stack) && rests);
    const bool falls =
        stack && !cheap && !strives && task->start > fair; /* newton is lost there: docs/performance.md */
    const bool moves = falls || (cheap && !stack && !strives);
    if (task->problem->n_contacts == 1) {
        budget.enough = exact;
        STI_TRY(pay(a, task, &budget, (Turn){NSGS, 2, 0, BEST}, err));
    }
    const bool loaded = !cheap && !strives && load > heavy_load && !dropped;
    const double left_over = loaded ? loaded_enough * heavy_load / load : enough;
    if (small && !strives && task->start <= STI_QUIET) {
        task->tolerance = budget.enough = STI_POLISHED;
        STI_TRY(pay(a, task, &budget, (Turn){SMALL, POLISH_STEPS, 0, BEST}, err));
    }
    task->tolerance = budget.enough = task->aim;
    if (loaded) {
        task->tolerance = budget.enough = fmax(task->aim, left_over);
        STI_TRY(pay(a, task, &budget, (Turn){NSGS, LOADED_SWEEPS, 0, BEST}, err));
        if (tumbles || rows <= CRAWLING * task->problem->n_v) return ST_OK;
        if (heap && !small && task->reduction->graph->n_nodes <= PRICED_BODIES)
            STI_TRY(price_of_newton(task, &budget.price, err));
        return pay(a, task, &budget, (Turn){small ? SMALL : NEWTON, 20, 1, BEST}, err);
    }
    if (moves) {
        STI_TRY(pay(a, task, &budget, (Turn){NSGS, falls ? FALLING_SWEEPS : MOVING_SWEEPS, 0, BEST}, err));
        budget.enough = cheap ? fair : enough;
    }
    if (strives) task->tolerance = budget.enough = fmin(exact, 0.05 * task->start);
    if ((cheap || stack) && !falls)
        STI_TRY(pay(a, task, &budget, (Turn){small ? SMALL : NEWTON, few ? 30 : cold ? 60 : 12, 0, BEST}, err));
    task->tolerance = task->aim;
    budget.enough = few ? exact : cheap ? fair : falls ? enough : good;
    STI_TRY(pay(a, task, &budget, (Turn){NSGS, 12, 0, BEST}, err));
    if (few) STI_TRY(pay(a, task, &budget, (Turn){small ? SMALL : NEWTON, 30, 1, ZERO}, err)); /* another path */
    budget.enough = few ? good : cheap ? fair : enough;
    STI_TRY(pay(a, task, &budget, (Turn){NSGS, 24, 0, BEST}, err));
    STI_TRY(
        pay(a, task, &budget, falls ? (Turn){NSGS, 100, 0, BEST} : (Turn){small ? SMALL : NEWTON, 20, 1, BEST}, err));
    if (few && small) /* the third path costs a tenth of homotopy and suffices in most cases */
        STI_TRY(pay(a, task, &budget, (Turn){SMALL, 40, 2, ZERO}, err));
    if (task->reduction->graph == NULL || few) { /* it forms W */
        STI_TRY(pay(a, task, &budget, (Turn){HOMOTOPY, 100, 0, ZERO}, err));
        STI_TRY(pay(a, task, &budget, (Turn){NEWTON, 20, 1, LAST}, err));
    }
    task->tolerance = exact;
    return ST_OK;
}

static st_Status auto_solve(void *workspace, sti_Task *task, st_Error *err)
{
    Auto *a = workspace;
    const st_Problem *problem = task->problem;
    const size_t bytes = sizeof(double) * (size_t)problem->n_r;
    task->solver = sti_nsgs.name;
    if (problem->n_contacts == 0) return ST_OK;
    STI_TRY(STI_GROW(&a->allocator, a->best, a->best_size, problem->n_r, err));
    memcpy(a->best, task->r, bytes); /* also to play with, in reserve() */
    a->least = INFINITY;
    a->iterations = a->pivots = 0;
    a->answered_by = NSGS;
    a->gave_up = -1;
    a->leaves_start = false;
    STI_TRY(reserve(a, task, err));
    memcpy(a->best, task->r, bytes);
    if (is_bounded(task)) {
        STI_TRY(spend(a, task, err));
    } else {
        const bool cold = is_cold(task);
        STI_TRY(take_up_start(a, task, err));
        int refused;
        const bool pivots = sti_solver_takes(&sti_lemke, problem, &refused);
        bool linear = pivots, pivoted = false; /* Coulomb's law in the plane is linear, but the others are faster */
        const int64_t n = problem->n_r;
        const bool conic = sti_solver_takes(&sti_ipm, problem, &refused);
        const bool smooth = sti_solver_takes(&sti_homotopy, problem, &refused);
        const bool alternates = problem->symmetric && sti_solver_takes(&sti_admm, problem, &refused);
        const bool unequal_masses = alternates && has_unequal_masses(task);
        const bool is_stiff = (unequal_masses || n > EVEN_REDUNDANCY * problem->n_v) && n <= STIFF_ROWS &&
                              task->effort == ST_EFFORT_THOROUGH && cold;
        int64_t unknowns = 0; /* that Lemke would have; law by law as in lemke.c */
        for (int c = 0; c < problem->n_contacts && pivots; c++) {
            const st_ContactLaw *contact = &problem->contact[c];
            switch (contact->law) {
            case ST_LAW_FRICTIONLESS:
                unknowns += 1;
                break;
            case ST_LAW_PYRAMID:
                unknowns += (int64_t)contact->facets + 2;
                break;
            case ST_LAW_COULOMB:
                unknowns += 4;
                linear = false;
                break;
            default: /* bounded: z and a multiplier; box: a normal and, for each tangent, two facets and a multiplier */
                unknowns += 3 * (int64_t)contact->dim;
                break;
            }
        }
        const Turn by_pivots = {LEMKE, task->max_iterations, 0, BEST};
        if (linear && unknowns <= LEMKE_FIRST) {
            STI_TRY(take_turn(a, task, by_pivots, err));
            pivoted = true;
        }
        Turn turn = {0};
        bool no_admm = false;
        for (int k = 0;
             find_turn(a, task, k, is_stiff, &turn) && !(a->least <= task->tolerance) && !sti_work_ends(task->work);
             k++) {
            const int left = task->max_iterations - a->iterations;
            const bool factors = turn.who != NSGS;
            const bool after_none = no_admm && turn.from == LAST; /* where admm would have ended */
            no_admm = turn.who == ADMM && !unequal_masses && !(is_stiff && alternates);
            if ((turn.who == IPM && !conic) || (turn.who == HOMOTOPY && !smooth) || no_admm || after_none ||
                (factors && n > MOST_ROWS))
                continue;
            if (turn.who == HOMOTOPY && pivots && !pivoted && unknowns <= LEMKE_FIRST) {
                STI_TRY(take_turn(a, task, by_pivots, err));
                pivoted = true;
                if (a->least <= task->tolerance) break;
            }
            const int64_t most = (turn.who == ADMM ? admm_share : 1) * most_work / n;
            if (factors && turn.iterations > most) turn.iterations = (int)most;
            if (turn.iterations > left) turn.iterations = left;
            if (left <= 0) break;
            STI_TRY(afford(task, &turn, err));
            if (turn.iterations > 0) STI_TRY(take_turn(a, task, turn, err));
        }
        if (!(a->least <= task->tolerance) && pivots && !pivoted && unknowns <= LEMKE_LAST)
            STI_TRY(take_turn(a, task, by_pivots, err));
    }
    memcpy(task->r, a->best, bytes);
    task->iterations = a->answered_by == LEMKE ? a->pivots : a->iterations;
    task->solver = kinds[a->answered_by]->name;
    if (a->gave_up >= 0 && a->gave_up != a->answered_by) task->fallback = kinds[a->gave_up]->name;
    return ST_OK;
}

static void auto_destroy(void *workspace)
{
    Auto *a = workspace;
    if (a == NULL) return;
    for (int k = 0; k < N_SOLVERS; k++)
        sti_solver_close(kinds[k], a->space[k]);
    STI_RELEASE(&a->allocator, a->best, a->best_size);
    const st_Allocator allocator = a->allocator;
    sti_free(&allocator, a, 1, sizeof *a);
}

static st_Status auto_create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Auto *a = sti_alloc(allocator, 1, sizeof *a);
    if (a == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver auto");
    a->allocator = *allocator;
    for (int k = 0; k < N_SOLVERS; k++) {
        const st_Status status = sti_solver_open(kinds[k], allocator, &a->space[k], err);
        if (status != ST_OK) {
            auto_destroy(a);
            return status;
        }
    }
    *workspace = a;
    return ST_OK;
}

const sti_SolverKind sti_auto = {
    .name = "auto",
    .help =
        "chooses by law and size: lemke for small problems with linear laws, else nsgs, newton and homotopy in turn; "
        "reports the solver that found the solution",
    .property = STI_LAW_ANY,
    .create = auto_create,
    .solve = auto_solve,
    .destroy = auto_destroy,
};
