/* islands_confirm.c -- is the start of an island already its solution? An island of a pile that was solved well in the
 * last step, and that has not changed since, needs no problem of its own: rest.h computes the residual of its start
 * from the arrays of the whole problem. A start is accepted under the conditions of auto.c. In any doubt the solver
 * computes the solution. */
#include "base/tolerance.h"
#include "math/block_diag.h"
#include "math/vec3.h"
#include "pile/small_island.h"
#include "solve/islands_memory.h"

#include <float.h>

#define ROOM(name, n) STI_TRY(STI_GROW(&d->allocator, d->name, d->name##_size, (n), err))

/* The rounding of u may be this share of the tolerance without being a part of the judgement; products in the velocity
 * of a body apart from those with impulses: both as in certify.c.                                    */
static const double allowed_share = 0.1;
enum { OWN_TERMS = 32 };

/* Members of a part, or all there are. */
typedef struct Range {
    const int *member; /* NULL: 0 .. n - 1 */
    int n;
} Range;

static int member_of(Range range, int k)
{
    return range.member != NULL ? range.member[k] : k;
}

/* Are all contacts of the kind that rest.h takes, and does one of them carry something? */
static bool has_load(const st_Problem *p, Range contacts, const double *r)
{
    bool loaded = false;
    for (int k = 0; k < contacts.n; k++) {
        const st_ContactLaw *law = &p->contact[member_of(contacts, k)];
        if (law->law != ST_LAW_COULOMB || law->dim != 3) return false;
        loaded = loaded || r[law->first] > 0.0;
    }
    return loaded;
}

/* A body before the first pass. False: its mass is not the diagonal of a rigid body. */
static bool begin_body(const sti_Islands *s, int block, sti_RestBody *to)
{
    const st_BlockDiag *A = &s->problem->A;
    const double *mass = A->x + s->A.at[block], *f = s->problem->f + A->first[block];
    const st_Mat3 *R = (const st_Mat3 *)sti_pile_axes(s->pile, block);
    const double *m = R->m;
    double square = 0.0, J[6];
    if (!sti_block_marked(A, block) || A->first[block + 1] - A->first[block] != 6) return false;
    for (int i = 0; i < 6; i++) {
        if (!(mass[i] > 0.0)) return false;
        square += f[i] * f[i] / mass[i];
    }
    if (mass[0] != mass[1] || mass[0] != mass[2]) return false;
    const double a = 1.0 / mass[3], b = 1.0 / mass[4], c = 1.0 / mass[5];
    for (int e = 0; e < 6; e++) { /* xx, yy, zz, xy, xz, yz */
        const int i = e < 3 ? 3 * e : e == 5 ? 3 : 0, j = e < 3 ? 3 * e : e == 3 ? 3 : 6;
        J[e] = m[i] * a * m[j] + m[i + 1] * b * m[j + 1] + m[i + 2] * c * m[j + 2];
    }
    *to = (sti_RestBody){.pushed = {[6] = sqrt(square), [7] = OWN_TERMS}, .moving = {[7] = square}};
    vec3_store(to->place, vec3_load(sti_pile_centre(s->pile, block)));
    to->place[3] = 1.0 / mass[0];
    memcpy(to->place + 4, J, 4 * sizeof *J);
    vec3_store(to->still, vec3(f[0] / mass[0], f[1] / mass[1], f[2] / mass[2]));
    vec3_store(to->still + 3, mat3_mul(R, vec3(f[3] / mass[3], f[4] / mass[4], f[5] / mass[5])));
    memcpy(to->still + 6, J + 4, 2 * sizeof *J);
    return true;
}

/* Its velocity with all impulses, in the world for the second pass and as the problem has it in v. Returns the largest
 * velocity without impulses.                                                                        */
static double move_body(const sti_Islands *s, int block, sti_RestBody *body, double *v)
{
    const st_BlockDiag *A = &s->problem->A;
    const double *mass = A->x + s->A.at[block], *f = s->problem->f + A->first[block];
    const st_Mat3 *R = (const st_Mat3 *)sti_pile_axes(s->pile, block);
    double push[6], fastest = 0.0;
    vec3_store(push, vec3_load(body->pushed));
    vec3_store(push + 3, mat3_mul_back(R, vec3_load(body->pushed + 3)));
    for (int i = 0; i < 6; i++) {
        v[i] = (f[i] + push[i]) / mass[i];
        fastest = fmax(fastest, fabs(f[i]) / mass[i]);
    }
    vec3_store(body->moving, vec3_load(v));
    vec3_store(body->moving + 3, mat3_mul(R, vec3_load(v + 3)));
    body->moving[6] = body->pushed[6] * body->pushed[7];
    return fastest;
}

static double sum_of(const double x[STI_LANES])
{
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/* Packs at a time: larger islands fill them again for the second pass, since that takes less memory. */
enum { PACKS = 512 };

/* The contacts of packs `from` to from + n - 1, and their r. */
static void fill_packs(Worker *d, Range contacts, int ground, int from, int n, const double *r)
{
    const sti_Islands *s = d->islands;
    const st_Problem *p = s->problem;
    const sti_PileContacts *pile = s->pile;
    const double *w = p->w, *C = p->C.n_blocks > 0 ? p->C.x : NULL;
    if (STI_LANES * (from + n) > contacts.n) memset(&d->pack[n - 1], 0, sizeof *d->pack); /* lanes without a contact */
    for (int k = 0; k < STI_LANES * n; k++) {
        sti_RestPack *pack = &d->pack[k / STI_LANES];
        const int lane = k % STI_LANES, member = STI_LANES * from + k;
        pack->frame[lane] = pile->frame;
        pack->body[0][lane] = pack->body[1][lane] = ground;
        if (member >= contacts.n) continue;
        const ptrdiff_t c = member_of(contacts, member), row = p->contact[c].first;
        const int32_t *body = pile->body + 2 * c;
        pack->frame[lane] = sti_pile_frame(pile, (int)c);
        if (body[0] >= 0) pack->body[0][lane] = s->v_first[body[0]] / 6;
        if (body[1] >= 0) pack->body[1][lane] = s->v_first[body[1]] / 6;
        pack->mu[lane] = p->contact[c].mu;
        for (int i = 0; i < 3; i++) {
            pack->r[i][lane] = r[row + i];
            pack->w[i][lane] = w[row + i];
            pack->C[i][lane] = C != NULL ? C[row + i] : 0.0;
        }
    }
}

st_Status sti_part_confirm(Worker *d, int part, double left, st_Solution *solution, bool *confirmed, st_Error *err)
{
    sti_Islands *s = d->islands;
    const st_Problem *p = s->problem;
    const bool whole = part == NONE;
    const Range blocks = {whole ? NULL : s->blocks.member + s->blocks.first[part],
                          whole ? p->A.n_blocks : sti_members(&s->blocks, part)};
    const Range contacts = {whole ? NULL : s->contacts.member + s->contacts.first[part],
                            whole ? p->n_contacts : sti_members(&s->contacts, part)};
    const bool small = blocks.n <= STI_SMALL_BODIES && contacts.n <= STI_SMALL_CONTACTS;
    const sti_StartRule rule = sti_auto_start_rule(3 * contacts.n, small, blocks.n, left, s->def.tolerance);
    const sti_RestCode *code = sti_graph_code()->rest;
    *confirmed = false;
    if (contacts.n == 0 || !(left <= rule.limit) || !has_load(p, contacts, solution->r)) return ST_OK;

    const int n_packs = (contacts.n + STI_LANES - 1) / STI_LANES, ground = blocks.n;
    ROOM(rest, blocks.n + 1);
    const bool again = n_packs > PACKS;
    ROOM(pack, again ? PACKS : n_packs);
    ROOM(rho, again ? (int64_t)STI_LANES * n_packs : 0);
    for (int k = 0; k < blocks.n; k++) {
        s->v_first[member_of(blocks, k)] = 6 * k;
        if (!begin_body(s, member_of(blocks, k), &d->rest[k])) return ST_OK;
    }
    d->rest[ground] = (sti_RestBody){0};
    for (int from = 0; from < n_packs; from += PACKS) {
        const int n = n_packs - from < PACKS ? n_packs - from : PACKS;
        fill_packs(d, contacts, ground, from, n, solution->r);
        code->push(d->rest, d->pack, n);
        for (int k = 0; k < n && again; k++)
            memcpy(d->rho + (ptrdiff_t)STI_LANES * (from + k), d->pack[k].rho, sizeof d->pack[k].rho);
    }
    d->rest[ground] = (sti_RestBody){0};
    double fastest = 0.0;
    for (int k = 0; k < blocks.n; k++) {
        const int block = member_of(blocks, k);
        double v[6];
        fastest = fmax(fastest, move_body(s, block, &d->rest[k], v));
        if (solution->v != NULL) memcpy(solution->v + p->A.first[block], v, sizeof v);
    }
    sti_RestSums sums = {.error = {0}};
    int worst_pack[STI_LANES] = {0};
    for (int from = 0; from < n_packs; from += PACKS) {
        const int n = n_packs - from < PACKS ? n_packs - from : PACKS;
        if (again) fill_packs(d, contacts, ground, from, n, solution->r);
        for (int k = 0; k < n && again; k++)
            memcpy(d->pack[k].rho, d->rho + (ptrdiff_t)STI_LANES * (from + k), sizeof d->pack[k].rho);
        memset(sums.worst_pack, 0xff, sizeof sums.worst_pack); /* -1 */
        code->judge(d->rest, d->pack, n, &sums);
        for (int l = 0; l < STI_LANES; l++)
            if (sums.worst_pack[l] >= 0) worst_pack[l] = from + sums.worst_pack[l];
        for (int k = 0; k < STI_LANES * n && STI_LANES * from + k < contacts.n && solution->u != NULL; k++)
            for (int i = 0; i < 3; i++)
                solution->u[p->contact[member_of(contacts, STI_LANES * from + k)].first + i] =
                    d->pack[k / STI_LANES].u[i][k % STI_LANES];
    }

    const double u_scale = !whole && fastest > 0.0 ? fmin(p->u_scale, STI_IDLE_SPEED * fastest) : p->u_scale;
    const double b = sum_of(sums.b), least = sum_of(sums.rho) * u_scale * u_scale;
    const bool is_noise = !(sqrt(b) > 2 * STI_NOISE * sqrt(sum_of(sums.terms)));
    const double scale = sqrt(fmax(least, is_noise ? 0.0 : b));
    const double rounding = 0.5 * DBL_EPSILON * (sqrt(sum_of(sums.rounding)) + 8.0 * sqrt(sum_of(sums.size))) / scale;
    st_Residual found = {
        .natural = sqrt(sum_of(sums.error)) / scale, .complementarity = sum_of(sums.power), .worst_contact = -1};
    if (!(scale > 0.0) || !sti_auto_accepts_start(&rule, found.natural)) return ST_OK;
    const double tolerance = found.natural <= rule.exact ? rule.exact : rule.aim;
    if (!(rounding <= allowed_share * tolerance)) found.rounding = rounding;
    if (!(found.natural + found.rounding <= tolerance)) return ST_OK;

    double worst = 0.0;
    for (int l = 0; l < STI_LANES; l++) {
        found.cone_violation = fmax(found.cone_violation, sums.outside[l]);
        if (!(sums.worst[l] > worst)) continue;
        worst = sums.worst[l];
        found.worst_contact = STI_LANES * worst_pack[l] + l;
    }
    s->island[whole ? 1 : part] = (sti_Island){
        .n_blocks = blocks.n,
        .n_contacts = contacts.n,
        .confirmed = true,
        .info = {.solver = sti_nsgs.name, .converged = true, .start = found.natural, .work = 1.0, .residual = found}};
    *confirmed = true;
    return ST_OK;
}
