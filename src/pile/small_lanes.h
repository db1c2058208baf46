/* pile/small_lanes.h -- the kernels of small_island.h, compiled once for each vector unit with sweep_lanes.h. */

/* Eight numbers side by side in memory. */
enum { PARTS = STI_NODE / WIDTH };
typedef struct Row {
    Lanes x[PARTS];
} Row;

INLINE Row load_row(const double *from)
{
    Row row;
    for (int k = 0; k < PARTS; k++)
        row.x[k] = *(const Loose *)(from + (ptrdiff_t)k * WIDTH);
    return row;
}

INLINE void store_row(double *to, Row row)
{
    for (int k = 0; k < PARTS; k++)
        *(Loose *)(to + (ptrdiff_t)k * WIDTH) = row.x[k];
}

/* a + f b. */
INLINE Row add_multiple(Row a, double f, Row b)
{
    for (int k = 0; k < PARTS; k++)
        a.x[k] += f * b.x[k];
    return a;
}

INLINE Row multiply_row(double f, Row a)
{
    for (int k = 0; k < PARTS; k++)
        a.x[k] *= f;
    return a;
}

/* The sum of a . b, in the same order for every WIDTH: halves, quarters, two numbers. */
INLINE double sum_row(Row a)
{
#if defined(__AVX512F__)
    typedef double Four __attribute__((vector_size(32)));
    const Four low = SHUFFLE(a.x[0], a.x[0], 0, 1, 2, 3), high = SHUFFLE(a.x[0], a.x[0], 4, 5, 6, 7);
    const Four y = low + high;
    return (y[0] + y[2]) + (y[1] + y[3]);
#elif defined(__AVX__)
    const Lanes y = a.x[0] + a.x[1];
    return (y[0] + y[2]) + (y[1] + y[3]);
#else
    const Lanes y = a.x[0] + a.x[2], z = a.x[1] + a.x[3];
    return (y[0] + z[0]) + (y[1] + z[1]);
#endif
}

static double small_law(const sti_Small *s, const sti_Triple *r_of, const sti_Triple *u_of, bool slopes)
{
    const Lanes zero = {0};
    const sti_Triple *center_of = s->center;
    _Alignas(STI_ALIGN) double merit[STI_LANES] = {0};
    for (int k = 0; k < s->n_packs; k++)
        for (int at = 0; at < STI_LANES; at += WIDTH) {
            const sti_SmallPack *pack = &s->pack[k];
            const Lanes mu = load(at, pack->mu), rho_n = load(at, pack->rho_n), rho_t = load(at, pack->rho_t);
            const Lanes over_n = 1.0 / rho_n, over_t = 1.0 / rho_t, soft_n = s->alpha * over_n,
                        soft_t = s->alpha * over_t;
            Lanes r[3], u[3], center[3];
            load_three(at, r_of[k].x, r);
            load_three(at, u_of[k].x, u);
            load_three(at, center_of[k].x, center);
            u[0] += soft_n * (r[0] - center[0]);
            u[1] += soft_t * (r[1] - center[1]);
            u[2] += soft_t * (r[2] - center[2]);
            const Lanes n = r[0] - rho_n * u[0], x1 = r[1] - rho_t * u[1], x2 = r[2] - rho_t * u[2];
            const Lanes size = square_root(x1 * x1 + x2 * x2), radius = mu * n;
            const Mask closed = n > zero, slides = closed & (size > radius);
            const Lanes inverse_size = 1.0 / choose(slides, size, zero + 1.0), d1 = x1 * inverse_size,
                        d2 = x2 * inverse_size;
            const Lanes F0 = choose(closed, rho_n * u[0], r[0]);
            const Lanes F1 = choose(slides, r[1] - radius * d1, choose(closed, rho_t * u[1], r[1]));
            const Lanes F2 = choose(slides, r[2] - radius * d2, choose(closed, rho_t * u[2], r[2]));
            store(at, merit, load(at, merit) + (F0 * F0 * over_n + (F1 * F1 + F2 * F2) * over_t));
            if (!slopes) continue;
            const Lanes s_n = soft_n + load(at, pack->C[0]), s_t = soft_t + load(at, pack->C[1]);
            const Lanes k_n = 1.0 / s_n, k_t = 1.0 / s_t, g_n = u[0] * k_n;
            const Lanes q = radius * inverse_size, over_m = 1.0 / (1.0 - q * (1.0 - rho_t * s_t));
            const Lanes across = choose(slides, rho_t * q * over_m, zero), pushed = choose(slides, mu * k_n, zero);
            const Lanes along = F1 * d1 + F2 * d2 + mu * (1.0 - rho_n * s_n) * g_n;
            const Lanes aside = (F2 * d1 - F1 * d2) * over_m;
            const Lanes stuck = choose(closed & ~slides, k_t, zero);
            double(*K)[STI_LANES] = s->K[k].x, (*g)[STI_LANES] = s->g[k].x;
            store(at, K[0], choose(closed, k_n, zero));
            store(at, K[1], pushed * d1);
            store(at, K[2], pushed * d2);
            store(at, K[3], stuck + across * d2 * d2);
            store(at, K[4], zero - across * d1 * d2);
            store(at, K[5], stuck + across * d1 * d1);
            store(at, g[0], choose(closed, g_n, r[0]));
            store(at, g[1], choose(slides, d1 * along - d2 * aside, choose(closed, u[1] * k_t, r[1])));
            store(at, g[2], choose(slides, d2 * along + d1 * aside, choose(closed, u[2] * k_t, r[2])));
        }
    return sum_of_lanes(merit);
}

/* Six rows of a block. */
INLINE void load_block(const double *block, Row x[6])
{
    for (int k = 0; k < 6; k++)
        x[k] = load_row(block + (ptrdiff_t)k * STI_NODE);
}

INLINE void store_block(double *block, const Row x[6])
{
    for (int k = 0; k < 6; k++)
        store_row(block + (ptrdiff_t)k * STI_NODE, x[k]);
}

/* Block (a, b) += sum_i h_i' T_i. */
INLINE void add_small_block(double *block, const double *h, const Row T[3])
{
    for (int k = 0; k < 6; k++, block += STI_NODE) {
        Row row = load_row(block);
        for (int i = 0; i < 3; i++)
            row = add_multiple(row, h[i * STI_NODE + k], T[i]);
        store_row(block, row);
    }
}

static void small_matrix(sti_Small *s)
{
    memset(s->block, 0, (size_t)(STI_SMALL_BLOCK * s->n_slots) * sizeof *s->block);
    memset(s->z, 0, (size_t)(STI_NODE * (s->n_bodies + 1)) * sizeof *s->z);
    for (int k = 0; k < s->n_bodies; k++)
        for (int i = 0; i < 6; i++)
            sti_small_block(s, k, k)[i * (STI_NODE + 1)] = 1.0;
    for (int c = 0; c < s->n; c++) {
        const int32_t *body = s->body + 2 * (ptrdiff_t)c;
        const int pack = c / STI_LANES, lane = c % STI_LANES;
        double K[6], g[3];
        for (int k = 0; k < 6; k++)
            K[k] = s->K[pack].x[k][lane];
        for (int k = 0; k < 3; k++)
            g[k] = s->g[pack].x[k][lane];
        if (K[0] == 0.0 && g[0] == 0.0 && g[1] == 0.0 && g[2] == 0.0) continue;
        Row T[2][3];
        for (int side = 0; side < 2; side++) {
            const double *h = s->h + STI_NODE * 3 * (2 * (ptrdiff_t)c + side);
            if (body[side] == s->n_bodies) continue;
            const Row h0 = load_row(h), h1 = load_row(h + STI_NODE), h2 = load_row(h + (ptrdiff_t)2 * STI_NODE);
            double *z = s->z + STI_NODE * (ptrdiff_t)body[side];
            store_row(z, add_multiple(add_multiple(add_multiple(load_row(z), -g[0], h0), -g[1], h1), -g[2], h2));
            T[side][0] = multiply_row(K[0], h0);
            T[side][1] = add_multiple(add_multiple(multiply_row(K[1], h0), K[3], h1), K[4], h2);
            T[side][2] = add_multiple(add_multiple(multiply_row(K[2], h0), K[4], h1), K[5], h2);
        }
        if (K[0] == 0.0) continue;
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                if (body[a] != s->n_bodies && body[b] != s->n_bodies)
                    add_small_block(sti_small_block(s, body[a], body[b]), s->h + STI_NODE * 3 * (2 * (ptrdiff_t)c + a),
                                    T[b]);
    }
}

/* Gauss-Jordan elimination of the six rows of a body, as operations on them: rows k are exchanged with `with`; then
 * each is divided, and multiples of it are added to the others.                                              */
typedef struct Elimination {
    int with[6];
    double over[6], factor[6][6];
} Elimination;

INLINE bool eliminate_body(double *D, Elimination *e)
{
    for (int k = 0; k < 6; k++) {
        int best = k;
        for (int i = k + 1; i < 6; i++)
            if (fabs(D[i * STI_NODE + k]) > fabs(D[best * STI_NODE + k])) best = i;
        const Row row = load_row(D + (ptrdiff_t)best * STI_NODE);
        if (best != k) store_row(D + (ptrdiff_t)best * STI_NODE, load_row(D + (ptrdiff_t)k * STI_NODE));
        for (int i = 0; i < k && best != k; i++) { /* as if all exchanges had been made first */
            const double x = e->factor[i][k];
            e->factor[i][k] = e->factor[i][best];
            e->factor[i][best] = x;
        }
        _Alignas(STI_ALIGN) double numbers[STI_NODE];
        store_row(numbers, row);
        e->with[k] = best;
        e->over[k] = 1.0 / numbers[k];
        if (!(e->over[k] * 0.0 == 0.0)) return false;
        const Row scaled = multiply_row(e->over[k], row);
        store_row(D + (ptrdiff_t)k * STI_NODE, scaled);
        for (int i = 0; i < 6; i++) {
            e->factor[k][i] = -D[i * STI_NODE + k];
            if (i == k) continue;
            store_row(D + (ptrdiff_t)i * STI_NODE,
                      add_multiple(load_row(D + (ptrdiff_t)i * STI_NODE), e->factor[k][i], scaled));
        }
    }
    return true;
}

/* The same done to another block of these rows, and to their right-hand side. */
INLINE void follow_block(double *block, const Elimination *e)
{
    Row x[6];
    for (int k = 0; k < 6; k++)
        if (e->with[k] != k) { /* rare */
            const Row low = load_row(block + (ptrdiff_t)k * STI_NODE);
            store_row(block + (ptrdiff_t)k * STI_NODE, load_row(block + (ptrdiff_t)e->with[k] * STI_NODE));
            store_row(block + (ptrdiff_t)e->with[k] * STI_NODE, low);
        }
    load_block(block, x);
    for (int k = 0; k < 6; k++) {
        x[k] = multiply_row(e->over[k], x[k]);
        for (int i = 0; i < 6; i++)
            if (i != k) x[i] = add_multiple(x[i], e->factor[k][i], x[k]);
    }
    store_block(block, x);
}

INLINE void follow_side(double *z, const Elimination *e)
{
    for (int k = 0; k < 6; k++) {
        const double x = z[e->with[k]];
        z[e->with[k]] = z[k];
        z[k] = x;
    }
    for (int k = 0; k < 6; k++) {
        const double x = z[k] *= e->over[k];
        for (int i = 0; i < 6; i++)
            if (i != k) z[i] += e->factor[k][i] * x;
    }
}

/* Body by body in the order of least degree, with exchange of rows within a body. */
static bool small_solve(sti_Small *s)
{
    small_matrix(s);
    for (int k = 0; k < s->n_bodies; k++) {
        const int p = s->order[k], *next = s->reach + s->reach_first[k], n = s->reach_first[k + 1] - s->reach_first[k];
        double *z = s->z + STI_NODE * (ptrdiff_t)p;
        Elimination e;
        if (!eliminate_body(sti_small_block(s, p, p), &e)) return false;
        follow_side(z, &e);
        for (int j = 0; j < n; j++)
            follow_block(sti_small_block(s, p, next[j]), &e);
        for (int i = 0; i < n; i++) {
            const double *L = sti_small_block(s, next[i], p);
            double *z_i = s->z + STI_NODE * (ptrdiff_t)next[i];
            for (int r = 0; r < 6; r++) {
                double sum = 0.0;
                for (int q = 0; q < 6; q++)
                    sum += L[r * STI_NODE + q] * z[q];
                z_i[r] -= sum;
            }
            for (int j = 0; j < n; j++) {
                double *to = sti_small_block(s, next[i], next[j]);
                const double *U = sti_small_block(s, p, next[j]);
                for (int at = 0; at < STI_NODE; at += WIDTH) {
                    Lanes u[6];
                    for (int q = 0; q < 6; q++)
                        u[q] = *(const Lanes *)(U + q * STI_NODE + at);
                    for (int r = 0; r < 6; r++) {
                        Lanes x = *(const Lanes *)(to + r * STI_NODE + at);
                        for (int q = 0; q < 6; q++)
                            x -= L[r * STI_NODE + q] * u[q];
                        *(Lanes *)(to + r * STI_NODE + at) = x;
                    }
                }
            }
        }
    }
    double sum = 0.0;
    for (int k = s->n_bodies - 1; k >= 0; k--) {
        const int p = s->order[k], *next = s->reach + s->reach_first[k], n = s->reach_first[k + 1] - s->reach_first[k];
        double *z = s->z + STI_NODE * (ptrdiff_t)p;
        for (int r = 0; r < 6 && n > 0; r++) {
            Row x = {{{0}}};
            for (int j = 0; j < n; j++) {
                const Row u = load_row(sti_small_block(s, p, next[j]) + (ptrdiff_t)r * STI_NODE),
                          v = load_row(s->z + STI_NODE * (ptrdiff_t)next[j]);
                for (int part = 0; part < PARTS; part++)
                    x.x[part] += u.x[part] * v.x[part];
            }
            z[r] -= sum_row(x);
        }
        for (int r = 0; r < 6; r++)
            sum += z[r];
    }
    return sum * 0.0 == 0.0;
}

/* Velocities at contact c: H~'v. */
INLINE void small_velocity(const sti_Small *s, int c, const double *v, double u[3])
{
    const int32_t *body = s->body + 2 * (ptrdiff_t)c;
    const double *h = s->h + (ptrdiff_t)STI_NODE * 6 * c;
    const Row a = load_row(v + STI_NODE * (ptrdiff_t)body[0]), b = load_row(v + STI_NODE * (ptrdiff_t)body[1]);
    for (int i = 0; i < 3; i++) {
        const Row x = load_row(h + (ptrdiff_t)i * STI_NODE), y = load_row(h + (ptrdiff_t)(3 + i) * STI_NODE);
        Row sum;
        for (int p = 0; p < PARTS; p++)
            sum.x[p] = x.x[p] * a.x[p] + y.x[p] * b.x[p];
        u[i] = sum_row(sum);
    }
}

static void small_step(sti_Small *s)
{
    for (int c = 0; c < s->n; c++) {
        double u[3];
        small_velocity(s, c, s->z, u);
        for (int d = 0; d < 3; d++)
            s->step_u[c / STI_LANES].x[d][c % STI_LANES] = u[d];
    }
    for (int k = 0; k < s->n_packs; k++)
        for (int at = 0; at < STI_LANES; at += WIDTH) {
            Lanes u[3], g[3], K[6], d[3];
            for (int e = 0; e < 3; e++) {
                u[e] = load(at, s->step_u[k].x[e]);
                g[e] = load(at, s->g[k].x[e]);
            }
            for (int e = 0; e < 6; e++)
                K[e] = load(at, s->K[k].x[e]);
            d[0] = -(g[0] + K[0] * u[0]);
            d[1] = -(g[1] + ((K[1] * u[0] + K[3] * u[1]) + K[4] * u[2]));
            d[2] = -(g[2] + ((K[2] * u[0] + K[4] * u[1]) + K[5] * u[2]));
            for (int e = 0; e < 3; e++) {
                store(at, s->step[k].x[e], d[e]);
                store(at, s->step_u[k].x[e], u[e] + load(at, s->pack[k].C[e > 0]) * d[e]);
            }
        }
}

/* v~ of contact c's bodies += H~ r. */
INLINE void small_push(const sti_Small *s, int c, const double r[3])
{
    const int32_t *body = s->body + 2 * (ptrdiff_t)c;
    for (int side = 0; side < 2; side++) {
        const double *h = s->h + STI_NODE * 3 * (2 * (ptrdiff_t)c + side);
        double *v = s->v + STI_NODE * (ptrdiff_t)body[side];
        if (body[side] == s->n_bodies) continue;
        Row x = load_row(v);
        for (int i = 0; i < 3; i++)
            x = add_multiple(x, r[i], load_row(h + (ptrdiff_t)i * STI_NODE));
        store_row(v, x);
    }
}

static double small_judge(sti_Small *s, const sti_Triple *r_of, sti_Triple *u_of)
{
    _Alignas(STI_ALIGN) double error[STI_LANES] = {0};
    memcpy(s->v, s->v_free, (size_t)(STI_NODE * (s->n_bodies + 1)) * sizeof *s->v);
    for (int c = 0; c < s->n; c++) {
        const double(*x)[STI_LANES] = r_of[c / STI_LANES].x;
        const double r[3] = {x[0][c % STI_LANES], x[1][c % STI_LANES], x[2][c % STI_LANES]};
        if (r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0) small_push(s, c, r);
    }
    for (int c = 0; c < s->n; c++) {
        double u[3];
        small_velocity(s, c, s->v, u);
        for (int d = 0; d < 3; d++)
            u_of[c / STI_LANES].x[d][c % STI_LANES] = u[d];
    }
    for (int k = 0; k < s->n_packs; k++)
        for (int at = 0; at < STI_LANES; at += WIDTH) {
            const sti_SmallPack *pack = &s->pack[k];
            Lanes r[3], u[3];
            load_three(at, r_of[k].x, r);
            for (int d = 0; d < 3; d++) {
                u[d] = load(at, u_of[k].x[d]) + (load(at, pack->w[d]) + load(at, pack->C[d > 0]) * r[d]);
                store(at, u_of[k].x[d], u[d]);
            }
            store(at, error, load(at, error) + natural_share(load(at, pack->mu), r, u, load(at, pack->rho)));
        }
    return sum_of_lanes(error);
}

static double small_sweep(sti_Small *s, sti_Triple *r_of)
{
    double moved = 0.0;
    for (int c = 0; c < s->n; c++) {
        const int pack = c / STI_LANES, lane = c % STI_LANES;
        const double *of = s->visit + (ptrdiff_t)STI_SMALL_VISIT * c;
        double(*x)[STI_LANES] = r_of[pack].x;
        const double r[3] = {x[0][lane], x[1][lane], x[2][lane]};
        double u[3], next[3], change[3];
        small_velocity(s, c, s->v, u);
        for (int d = 0; d < 3; d++)
            u[d] += s->pack[pack].w[d][lane] + s->pack[pack].C[d > 0][lane] * r[d];
        next[0] = r[0] - u[0] * of[0];
        next[0] = next[0] > 0.0 ? next[0] : 0.0;
        const double dn = next[0] - r[0], limit = of[7] * next[0];
        const double u1 = u[1] + of[1] * dn, u2 = u[2] + of[2] * dn;
        const double s1 = r[1] - (of[3] * u1 + of[4] * u2), s2 = r[2] - (of[4] * u1 + of[5] * u2);
        const bool sticks = s1 * s1 + s2 * s2 <= limit * limit;
        next[1] = sticks ? s1 : r[1] - of[6] * u1;
        next[2] = sticks ? s2 : r[2] - of[6] * u2;
        const double square = next[1] * next[1] + next[2] * next[2];
        if (square > limit * limit) {
            const double part = limit / sqrt(square);
            next[1] *= part;
            next[2] *= part;
        }
        for (int d = 0; d < 3; d++) {
            change[d] = next[d] - r[d];
            moved += change[d] * change[d];
            x[d][lane] = next[d];
        }
        if (change[0] != 0.0 || change[1] != 0.0 || change[2] != 0.0) small_push(s, c, change);
    }
    return moved;
}

static const sti_SmallCode small_code = {small_law, small_solve, small_step, small_judge, small_sweep};
