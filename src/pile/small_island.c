/* small_island.c -- see small_island.h: memory, and the data taken from a graph. */
#include "pile/small_island.h"

#define GROW(name, count) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (count), err))
#define RELEASE(name)     STI_RELEASE(&s->allocator, s->name, s->name##_size)

void sti_small_release(sti_Small *s)
{
    RELEASE(body);
    RELEASE(h);
    RELEASE(visit);
    RELEASE(v_free);
    RELEASE(v);
    RELEASE(z);
    RELEASE(block);
    RELEASE(slot);
    RELEASE(order);
    RELEASE(reach_first);
    RELEASE(reach);
    RELEASE(pack);
    RELEASE(K);
    RELEASE(g);
    RELEASE(r);
    RELEASE(u);
    RELEASE(center);
    RELEASE(step);
    RELEASE(step_u);
    RELEASE(trial);
    RELEASE(trial_u);
    RELEASE(best);
}

/* Only normals have a compliance there. */
static bool tangents_are_rigid(const sti_Graph *graph)
{
    return graph->round || graph->pointed;
}

bool sti_small_fits(const sti_Graph *graph)
{
    const st_Problem *p = graph->problem;
    if (graph->n_nodes > STI_SMALL_BODIES || p->n_contacts > STI_SMALL_CONTACTS) return false;
    if (p->n_l > 0 || graph->turning || graph->n_alone > 0) return false;
    const bool rigid = tangents_are_rigid(graph);
    for (int c = 0; c < p->n_contacts; c++) {
        const st_Law law = p->contact[c].law;
        if (law != ST_LAW_COULOMB && law != ST_LAW_FRICTIONLESS) return false;
        if (p->contact[c].dim == 3 && !rigid && sti_graph_compliance(graph, c, 1) != sti_graph_compliance(graph, c, 2))
            return false;
    }
    return true;
}

/* Bodies in the order of least degree: the neighbours of an eliminated body become neighbours of each other. All
 * blocks that are not zero then get their place.                                                     */
static st_Status find_order(sti_Small *s, st_Error *err)
{
    const int n = s->n_bodies;
    uint64_t touches[STI_SMALL_BODIES] = {0}, left = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
    GROW(slot, (int64_t)n * n);
    GROW(order, n);
    GROW(reach_first, n + 1);
    GROW(reach, (int64_t)n * n);
    memset(s->slot, -1, (size_t)(n * n) * sizeof *s->slot);
    for (int c = 0; c < s->n; c++) {
        const int32_t a = s->body[2 * (ptrdiff_t)c], b = s->body[2 * (ptrdiff_t)c + 1];
        if (a == n || b == n) continue;
        touches[a] |= (uint64_t)1 << b;
        touches[b] |= (uint64_t)1 << a;
    }
    s->n_slots = s->price = s->reach_first[0] = 0;
    for (int k = 0; k < n; k++) {
        int best = -1, least = 0, at = s->reach_first[k];
        for (int p = 0; p < n; p++) {
            const int degree = __builtin_popcountll(touches[p] & left);
            if ((left >> p & 1) != 0 && (best < 0 || degree < least)) {
                best = p;
                least = degree;
            }
        }
        left &= ~((uint64_t)1 << best);
        s->order[k] = best;
        s->slot[best * n + best] = (int16_t)s->n_slots++;
        for (uint64_t rest = touches[best] & left; rest != 0; rest &= rest - 1) {
            const int q = __builtin_ctzll(rest);
            s->reach[at++] = q;
            s->slot[best * n + q] = (int16_t)s->n_slots++;
            s->slot[q * n + best] = (int16_t)s->n_slots++;
            touches[q] |= touches[best] & left & ~((uint64_t)1 << q);
        }
        s->reach_first[k + 1] = at;
        s->price += (least + 1) * (least + 1);
    }
    GROW(block, (int64_t)STI_SMALL_BLOCK * s->n_slots);
    return ST_OK;
}

st_Status sti_small_take(sti_Small *s, sti_Graph *graph, st_Error *err)
{
    const st_Problem *p = graph->problem;
    const int n = p->n_contacts, packs = (n + STI_LANES - 1) / STI_LANES, bodies = graph->n_nodes;
    s->code = graph->code;
    s->n = n;
    s->n_packs = packs;
    s->n_bodies = bodies;
    GROW(body, 2 * (int64_t)n);
    GROW(h, (int64_t)2 * 3 * STI_NODE * n);
    GROW(visit, (int64_t)STI_SMALL_VISIT * n);
    GROW(v_free, (int64_t)STI_NODE * (bodies + 1));
    GROW(v, (int64_t)STI_NODE * (bodies + 1));
    GROW(z, (int64_t)STI_NODE * (bodies + 1));
    GROW(pack, packs);
    GROW(K, packs);
    GROW(g, packs);
    GROW(r, packs);
    GROW(u, packs);
    GROW(center, packs);
    GROW(step, packs);
    GROW(step_u, packs);
    GROW(trial, packs);
    GROW(trial_u, packs);
    GROW(best, packs);
    const bool rigid = tangents_are_rigid(graph);
    sti_graph_invert(graph);
    memcpy(s->v_free, graph->v_free, (size_t)(STI_NODE * (bodies + 1)) * sizeof *s->v_free);
    memset(s->u, 0, (size_t)packs * sizeof *s->u); /* lanes without a contact are never written */
    memset(s->step_u, 0, (size_t)packs * sizeof *s->step_u);
    for (int k = 0; k < packs; k++) /* lanes without a contact have zeros, and no division by them */
        s->pack[k] = (sti_SmallPack){
            .rho = {1, 1, 1, 1, 1, 1, 1, 1}, .rho_n = {1, 1, 1, 1, 1, 1, 1, 1}, .rho_t = {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int c = 0; c < n; c++) {
        const int dim = p->contact[c].dim, first = p->contact[c].first, lane = c % STI_LANES;
        const sti_Batch *batch = &graph->batch[graph->place[c] / STI_LANES];
        const int from = graph->place[c] % STI_LANES;
        sti_SmallPack *pack = &s->pack[c / STI_LANES];
        double rows[2][3][6], *h = s->h + (ptrdiff_t)2 * 3 * STI_NODE * c;
        sti_graph_rows(graph, c, rows);
        for (int k = 0; k < 6; k++) {
            memcpy(h + (ptrdiff_t)k * STI_NODE, rows[k / 3][k % 3], 6 * sizeof *h);
            h[k * STI_NODE + 6] = h[k * STI_NODE + 7] = 0.0;
        }
        s->body[2 * (ptrdiff_t)c] = graph->legs[2 * (ptrdiff_t)c];
        s->body[2 * (ptrdiff_t)c + 1] = graph->legs[2 * (ptrdiff_t)c + 1];
        const double mu = dim > 1 ? p->contact[c].mu : 0.0;
        const double visit[STI_SMALL_VISIT] = {
            batch->inverse_n[from],    batch->W_tn[0][from],      batch->W_tn[1][from], batch->inverse_T[0][from],
            batch->inverse_T[1][from], batch->inverse_T[2][from], batch->slip[from],    mu};
        memcpy(s->visit + (ptrdiff_t)STI_SMALL_VISIT * c, visit, sizeof visit);
        pack->mu[lane] = mu;
        pack->rho[lane] = sti_graph_rho(graph, c);
        pack->C[0][lane] = sti_graph_compliance(graph, c, 0);
        pack->C[1][lane] = dim > 1 && !rigid ? sti_graph_compliance(graph, c, 1) : 0.0;
        /* rho of the normal and of the tangents, each by its own part of W_cc: sti_slope_rho. */
        const double rho = pack->rho[lane];
        double W[3] = {pack->C[0][lane], dim > 1 ? pack->C[1][lane] : 0.0, dim > 2 ? pack->C[1][lane] : 0.0};
        for (int side = 0; side < 2; side++)
            for (int d = 0; d < 3; d++, h += STI_NODE)
                for (int k = 0; k < 6; k++)
                    W[d] += h[k] * h[k];
        const double trace = W[1] + W[2];
        pack->rho_n[lane] = W[0] > 1e-6 / rho ? 1.0 / W[0] : rho;
        pack->rho_t[lane] = trace > 1e-6 / rho ? (dim - 1) / trace : rho;
        for (int d = 0; d < dim; d++)
            pack->w[d][lane] = p->w[first + d];
    }
    return find_order(s, err);
}

void sti_small_set(const sti_Small *s, const st_Problem *problem, const double *r, sti_Triple *to)
{
    memset(to, 0, (size_t)s->n_packs * sizeof *to);
    for (int c = 0; c < s->n; c++)
        for (int d = 0; d < problem->contact[c].dim; d++)
            to[c / STI_LANES].x[d][c % STI_LANES] = r[problem->contact[c].first + d];
}

void sti_small_get(const sti_Small *s, const st_Problem *problem, const sti_Triple *from, double *r)
{
    for (int c = 0; c < s->n; c++)
        for (int d = 0; d < problem->contact[c].dim; d++)
            r[problem->contact[c].first + d] = from[c / STI_LANES].x[d][c % STI_LANES];
}
