/* pile/rest_lanes.h -- the kernels of rest.h, compiled once for each vector unit with sweep_lanes.h. */

/* Point and directions of contacts. */
INLINE void load_rest_frame(int at, const sti_RestPack *pack, Lanes point[3], Lanes d[3][3])
{
    Lanes x[STI_NODE], last = {0};
    load_eight(pack->frame + at, x);
    for (int k = 0; k < 3; k++) {
        point[k] = x[k];
        d[0][k] = x[3 + k];
    }
    d[1][0] = x[6];
    d[1][1] = x[7];
    for (int l = 0; l < WIDTH; l++)
        last[l] = pack->frame[at + l][8];
    d[1][2] = last;
    cross_lanes(d[0], d[1], d[2]);
}

enum { REST_PUSHED, REST_PLACE, REST_STILL, REST_MOVING };
INLINE void gather_rest(int at, const sti_RestBody *body, const int32_t *of, int row, Lanes x[STI_NODE])
{
    const double *from[WIDTH];
    for (int l = 0; l < WIDTH; l++)
        from[l] = body[of[at + l]].pushed + (ptrdiff_t)row * STI_NODE;
    load_eight(from, x);
}

/* P, T and the other impulses of eight contacts; rho. Bodies receive theirs in the order of contacts, whatever WIDTH
 * is.
 */
static void rest_push(sti_RestBody *body, sti_RestPack *packs, int n_packs)
{
    const Lanes zero = {0};
    for (sti_RestPack *pack = packs; pack < packs + n_packs; pack++)
        for (int at = 0; at < STI_LANES; at += WIDTH) {
            Lanes point[3], d[3][3], r[3], push[3], x[2][STI_NODE];
            Lanes trace = load(at, pack->C[0]) + load(at, pack->C[1]) + load(at, pack->C[2]);
            load_rest_frame(at, pack, point, d);
            for (int k = 0; k < 3; k++)
                r[k] = load(at, pack->r[k]);
            for (int k = 0; k < 3; k++)
                push[k] = r[0] * d[0][k] + r[1] * d[1][k] + r[2] * d[2][k];
            for (int side = 0; side < 2; side++) {
                Lanes place[STI_NODE], still[STI_NODE], lever[3], moment[3];
                gather_rest(at, body, pack->body[side], REST_PLACE, place);
                gather_rest(at, body, pack->body[side], REST_STILL, still);
                for (int k = 0; k < 3; k++)
                    lever[k] = point[k] - place[k];
                const Lanes xx = lever[0] * lever[0], yy = lever[1] * lever[1], zz = lever[2] * lever[2];
                const Lanes cross_terms =
                    lever[0] * lever[1] * place[7] + lever[0] * lever[2] * still[6] + lever[1] * lever[2] * still[7];
                trace += 3.0 * place[3] + ((yy + zz) * place[4] + (xx + zz) * place[5] + (xx + yy) * place[6]) -
                         2.0 * cross_terms;
                cross_lanes(lever, push, moment);
                for (int k = 0; k < 3; k++) {
                    x[side][k] = side == 0 ? zero - push[k] : push[k];
                    x[side][3 + k] = side == 0 ? zero - moment[k] : moment[k];
                }
            }
            const Lanes square = sum_of_squares(r[0], r[1], r[2]), size = square_root(square * trace);
            store(at, pack->rho, 3.0 * inverse(trace));
            for (int side = 0; side < 2; side++) {
                x[side][6] = size;
                x[side][7] = choose(square > zero, zero + 3.0, zero);
                for (int k = 0; k < STI_NODE; k += WIDTH)
                    transpose_square(x[side] + k);
            }
            for (int l = 0; l < WIDTH; l++)
                for (int side = 0; side < 2; side++) {
                    double *to = body[pack->body[side][at + l]].pushed;
                    for (int k = 0; k < STI_NODE; k += WIDTH)
                        *(Lanes *)(to + k) += x[side][k + l];
                }
        }
}

static void rest_judge(const sti_RestBody *body, sti_RestPack *packs, int n_packs, sti_RestSums *sums)
{
    const Lanes zero = {0};
    for (int n = 0; n < n_packs; n++)
        for (int at = 0; at < STI_LANES; at += WIDTH) {
            sti_RestPack *pack = &packs[n];
            const Lanes mu = load(at, pack->mu), rho = load(at, pack->rho), square = rho * rho;
            Lanes point[3], d[3][3], r[3], P[3], u[3], error = {0}, energy = {0}, b = {0};
            Lanes speed[3] = {zero, zero, zero}, free_speed[3] = {zero, zero, zero};
            load_rest_frame(at, pack, point, d);
            for (int k = 0; k < 3; k++)
                r[k] = load(at, pack->r[k]);
            for (int side = 0; side < 2; side++) {
                Lanes place[STI_NODE], still[STI_NODE], moving[STI_NODE], lever[3], turn[3], free_turn[3];
                gather_rest(at, body, pack->body[side], REST_PLACE, place);
                gather_rest(at, body, pack->body[side], REST_STILL, still);
                gather_rest(at, body, pack->body[side], REST_MOVING, moving);
                for (int k = 0; k < 3; k++)
                    lever[k] = point[k] - place[k];
                cross_lanes(moving + 3, lever, turn);
                cross_lanes(still + 3, lever, free_turn);
                for (int k = 0; k < 3; k++) {
                    const Lanes v = moving[k] + turn[k], v_free = still[k] + free_turn[k];
                    speed[k] = side == 0 ? speed[k] - v : speed[k] + v;
                    free_speed[k] = side == 0 ? free_speed[k] - v_free : free_speed[k] + v_free;
                }
                error += moving[6];
                energy += moving[7];
            }
            for (int k = 0; k < 3; k++) {
                const Lanes w = load(at, pack->w[k]), b_k = dot_lanes(d[k], free_speed) + w;
                u[k] = dot_lanes(d[k], speed) + (w + load(at, pack->C[k]) * r[k]);
                store(at, pack->u[k], u[k]);
                b += b_k * b_k;
            }
            const Lanes share = natural_share(mu, r, u, rho), worst = load(at, sums->worst);
            const Lanes shifted = u[0] + mu * square_root(u[1] * u[1] + u[2] * u[2]);
            const Lanes power = r[0] * shifted + r[1] * u[1] + r[2] * u[2];
            project(mu, r, P);
            const Lanes outside = square_root(sum_of_squares(r[0] - P[0], r[1] - P[1], r[2] - P[2]));
            error *= 1.0 + mu;
            store(at, sums->error, load(at, sums->error) + share);
            store(at, sums->b, load(at, sums->b) + square * b);
            store(at, sums->terms, load(at, sums->terms) + 3.0 * rho * energy);
            store(at, sums->rho, load(at, sums->rho) + 3.0 * square);
            store(at, sums->rounding, load(at, sums->rounding) + 3.0 * rho * error * error);
            store(at, sums->size, load(at, sums->size) + sum_of_squares(r[0], r[1], r[2]));
            store(at, sums->power, load(at, sums->power) + size_of(power));
            store(at, sums->outside, choose(outside > load(at, sums->outside), outside, load(at, sums->outside)));
            const Mask worse = (share > worst) | ~(share >= zero); /* NaN is the worst of all */
            store(at, sums->worst, choose(worse, share, worst));
            for (int l = 0; l < WIDTH; l++)
                if (worse[l] != 0) sums->worst_pack[at + l] = n;
        }
}

static const sti_RestCode rest_code = {rest_push, rest_judge};
