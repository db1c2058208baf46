/* step/contact/compliant.c -- distributed compliant contact.
 *
 * The method of Song, Pang & Kumar 2004 (docs/methods.md 11.5). A contact is a patch of elements at r_i in the tangent
 * plane, at distances rho: n_s elements in planar scenes, n_s x n_s in space. delta_i is the deformation of element i
 * and lambda_i its force,
 *
 *     lambda = K delta + C' d(delta)/dt,      K = inv(Xi),  C' = 2 sqrt(m K),  E = h K + C'
 *
 * where Xi_ij is the displacement of the surface at i by a unit force at j (Boussinesq and Cerruti; function
 * `influence`). Xi couples all elements of the patch. With impulses r = h lambda, the equations of the whole patch in
 * the step problem are
 *
 *     u = H' v + (inv(E)/h) r - inv(E) K delta,       delta+ = delta + h (u - H' v)
 *
 * (SPK eq. 18), and each element has a friction law of its own. So slip starts where the pressure is low.
 *
 * K, C' and E are functions of Xi and have its eigenvectors: Xi = V diag(x) V' gives inv(E) = V diag(1/(h/x + 2
 * sqrt(m/x))) V'.
 *
 * The rows of element i are those of u + w x r_i, where u belongs to the contact point and w is the angular velocity of
 * b relative to a.
 *
 * Differences from the paper: m is 1 kg there and `patch_mass` here. Both bodies may be elastic. Their influences add;
 * the coupling of normal and tangential directions has the opposite sign for a, and cancels if both bodies have the
 * same material. The tangents of a patch turn with its normal, so the frame never jumps. The model of the paper does
 * not use the gap. With drift gap, w_n contains (gap + delta_n)/h, so surfaces that separated touch again at gap 0. The
 * patch is flat: the curvature of the body over it is neglected.
 */
#include "base/tolerance.h"
#include "math/quat.h"
#include "step/contact/contact_model.h"

int sti_patch_elements(const sti_Model *model)
{
    return model->def.patch_elements * model->def.patch_elements;
}

bool sti_is_patch(const sti_ContactEntry *entry)
{
    return entry->surface->elastic[0].young > 0 || entry->surface->elastic[1].young > 0;
}

/* ---- matrices ---------------------------------------------------------------------------------- */

/* Position of element e in the tangent plane, relative to the middle, in units of rho. */
static void place_patch(const st_SystemDef *def, int n_elements, int e, double *a, double *b)
{
    int side = def->patch_elements;
    double middle = 0.5 * (side - 1);
    bool line = n_elements == side;
    *a = (line ? e : e / side) - middle;
    *b = line ? 0.0 : e % side - middle;
}

/* The displacement at i along component k by a unit force at j along component l (components: normal, t, o), for one
 * elastic half space; (a, b) is the vector from j to i. Song, Pang & Kumar, Appendix A, with the corrections of
 * docs/methods.md 11.5. */
static double influence(st_Elastic body, double rho, double a, double b, int k, int l)
{
    double nu = body.poisson, eps = 1.0 / body.young, d = hypot(a, b);
    double along[3] = {0, d > 0 ? a / d : 0, d > 0 ? b / d : 0};
    if (d == 0) {
        if (k != l) return 0;
        return k == 0 ? 0.95 * (1 - nu * nu) * eps / rho : (1 + nu) * (2 - nu) * eps / (sqrt(STI_PI) * rho);
    }
    d *= rho;
    if (k == 0 && l == 0) return (1 - nu * nu) * eps / (STI_PI * d);
    if (k == 0) return (1 - 2 * nu) * (1 + nu) * eps / (2 * STI_PI) * along[l] / d;
    if (l == 0) return -(1 - 2 * nu) * (1 + nu) * eps / (2 * STI_PI) * along[k] / d;
    return (1 + nu) * eps / (STI_PI * d) * ((k == l ? 1 - nu : 0) + nu * along[k] * along[l]);
}

/* One rotation of Jacobi's method in the plane (p, q): A becomes J'A J, V becomes V J. */
static void jacobi_rotation(double *A, double *V, int n, int p, int q)
{
    double apq = A[p * n + q];
    if (apq == 0) return;
    double theta = (A[q * n + q] - A[p * n + p]) / (2 * apq);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(1 + theta * theta));
    double c = 1 / sqrt(1 + t * t), s = t * c;
    for (int k = 0; k < n; k++) {
        double x = A[k * n + p], y = A[k * n + q];
        A[k * n + p] = c * x - s * y, A[k * n + q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        double x = A[p * n + k], y = A[q * n + k];
        A[p * n + k] = c * x - s * y, A[q * n + k] = s * x + c * y;
        x = V[k * n + p], y = V[k * n + q];
        V[k * n + p] = c * x - s * y, V[k * n + q] = s * x + c * y;
    }
}

/* out = V diag(f) V'. */
static void compose_modes(const double *V, const double *f, int n, double *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += V[i * n + k] * f[k] * V[j * n + k];
            out[i * n + j] = out[j * n + i] = sum;
        }
}

static bool same_patch_key(const sti_PatchKey *a, const sti_PatchKey *b)
{
    for (int k = 0; k < 2; k++)
        if (a->elastic[k].young != b->elastic[k].young || a->elastic[k].poisson != b->elastic[k].poisson) return false;
    return a->dim == b->dim && a->n_elements == b->n_elements;
}

/* NULL: no patch had this key so far. */
static sti_PatchKind *find_patch_kind(const sti_StepWork *work, const sti_PatchKey *key)
{
    for (int k = 0; k < work->compliant.n_kinds; k++)
        if (same_patch_key(&work->compliant.kind[k].key, key)) return &work->compliant.kind[k];
    return NULL;
}

/* Finds the matrices for a key, or computes them if the key is new. */
static st_Status need_kind(const sti_Model *model, sti_StepWork *work, const sti_PatchKey *key, sti_PatchKind **out,
                           st_Error *err)
{
    const int n = work->compliant.n_kinds;
    *out = find_patch_kind(work, key);
    if (*out != NULL) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, work->compliant.kind, work->compliant.kind_capacity, n + 1, err));
    sti_PatchKind *kind = &work->compliant.kind[n];
    kind->key = *key;
    kind->size = key->dim * key->n_elements;
    const st_Allocator *allocator = &model->allocator;
    int64_t size = kind->size;
    STI_TRY(STI_GROW(allocator, kind->x, kind->x_capacity, size, err));
    STI_TRY(STI_GROW(allocator, kind->V, kind->V_capacity, size * size + size, err));
    STI_TRY(STI_GROW(allocator, kind->B, kind->B_capacity, size * size, err));
    STI_TRY(STI_GROW(allocator, kind->D, kind->D_capacity, size * size, err));
    const int dim = kind->key.dim;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double ai, bi, aj, bj;
            int k = i % dim, l = j % dim;
            place_patch(&model->def, kind->key.n_elements, i / dim, &ai, &bi);
            place_patch(&model->def, kind->key.n_elements, j / dim, &aj, &bj);
            double sum = 0;
            for (int side = 0; side < 2; side++) {
                if (!(kind->key.elastic[side].young > 0)) continue;
                double x = influence(kind->key.elastic[side], model->def.patch_spacing, ai - aj, bi - bj, k, l);
                sum += side == 0 && (k == 0) != (l == 0) ? -x : x;
            }
            kind->B[(int64_t)i * size + j] = sum;
        }
    /* A = V diag(x) V' by Jacobi's method, which computes small eigenvalues accurately. A is overwritten. */
    memset(kind->V, 0, (size_t)kind->size * (size_t)kind->size * sizeof *kind->V);
    for (int i = 0; i < kind->size; i++)
        kind->V[i * kind->size + i] = 1;
    for (int sweep = 0; sweep < 60; sweep++) { /* convergence is quadratic from about the fifth sweep on */
        double off = 0, diagonal = 0;
        for (int i = 0; i < kind->size; i++)
            for (int j = 0; j < kind->size; j++)
                *(i == j ? &diagonal : &off) += kind->B[i * kind->size + j] * kind->B[i * kind->size + j];
        if (off <= 1e-34 * diagonal) break;
        for (int p = 0; p < kind->size - 1; p++)
            for (int q = p + 1; q < kind->size; q++)
                jacobi_rotation(kind->B, kind->V, kind->size, p, q);
    }
    for (int i = 0; i < kind->size; i++)
        kind->x[i] = kind->B[i * kind->size + i];
    for (int i = 0; i < size; i++)
        if (!(kind->x[i] > 0))
            return sti_fail(err, ST_ERR_NUMERIC,
                            "the influence matrix of a patch of %d elements with Poisson's ratios %g and %g is not "
                            "positive definite",
                            kind->key.n_elements, kind->key.elastic[0].poisson, kind->key.elastic[1].poisson);
    kind->h = 0;
    work->compliant.n_kinds++;
    *out = kind;
    return ST_OK;
}

static sti_PatchKey patch_key_of(const sti_Model *model, const sti_ContactEntry *entry)
{
    const int side = model->def.patch_elements;
    return (sti_PatchKey){.elastic = {entry->surface->elastic[0], entry->surface->elastic[1]},
                          .dim = sti_contact_law(model, entry, 0).dim,
                          .n_elements = entry->dim == 2 ? side : side * side};
}

static bool is_elastic(st_Elastic body)
{
    return isfinite(body.young) && body.young >= 0 && body.poisson > -1 && body.poisson < 0.5;
}

bool sti_patch_fits(const sti_Model *model, const sti_Patch *patch)
{
    const sti_PatchKey *key = &patch->key;
    const int side = model->def.patch_elements;
    return model->def.contact == ST_CONTACT_COMPLIANT && key->dim >= 1 && key->dim <= 3 &&
           (key->n_elements == side || key->n_elements == side * side) && patch->size == key->dim * key->n_elements &&
           is_elastic(key->elastic[0]) && is_elastic(key->elastic[1]) &&
           (key->elastic[0].young > 0 || key->elastic[1].young > 0);
}

st_Status sti_patches_know(const sti_Model *model, sti_StepWork *work, const sti_Patches *patches, st_Error *err)
{
    sti_PatchKind *kind;
    for (int p = 0; p < patches->n; p++)
        STI_TRY(need_kind(model, work, &patches->patch[p].key, &kind, err));
    return ST_OK;
}

/* ---- the step problem -------------------------------------------------------------------------- */

/* The state of a patch at the start of the step: that at the end of the last step, with the tangent turned with the
 * normal. A new patch has no deformation. */
static st_Status begin_patch(const sti_Model *model, const sti_State *state, sti_StepWork *work,
                             const sti_ContactEntry *entry, const sti_PatchKey *key, sti_Patch **out, st_Error *err)
{
    sti_Patches *now = &work->compliant.next;
    /* Patches are sorted by id. */
    int lo = 0, hi = state->patches.n;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (state->patches.patch[middle].id < entry->id)
            lo = middle + 1;
        else
            hi = middle;
    }
    const sti_Patch *old =
        lo < state->patches.n && state->patches.patch[lo].id == entry->id ? &state->patches.patch[lo] : NULL;
    int size = key->dim * key->n_elements;
    STI_TRY(STI_GROW(&model->allocator, now->patch, now->patch_capacity, now->n + 1, err));
    STI_TRY(STI_GROW(&model->allocator, now->delta, now->delta_capacity, now->n_delta + size, err));
    sti_Patch *patch = &now->patch[now->n++];
    *patch = (sti_Patch){.id = entry->id,
                         .first = now->n_delta,
                         .size = size,
                         .row = work->step.H.n_rows,
                         .key = *key,
                         .tangent = entry->tangent};
    double *delta = now->delta + now->n_delta;
    bool known = old != NULL && old->size == size;
    for (int k = 0; k < size; k++)
        delta[k] = known ? state->patches.delta[old->first + k] : 0.0;
    if (known && entry->dim == 3) {
        st_Vec3 t = sub(old->tangent, scale(dot(old->tangent, entry->normal), entry->normal));
        if (norm(t) > 0.1) patch->tangent = scale(1 / norm(t), t);
    }
    now->n_delta += size;
    *out = patch;
    return ST_OK;
}

/* Appends the sum of weight[k] * row[k]. The rows are those of one contact, so they have entries at the same
 * velocities. */
static st_Status append_combination(const sti_Model *model, sti_StepWork *work, const sti_RowList *rows, int n,
                                    const int *row, const double *weight, st_Error *err)
{
    int64_t start = rows->p[row[0]], count = rows->p[row[0] + 1] - start;
    double *sum = work->stages.row_sum;
    for (int64_t e = 0; e < count; e++) {
        sum[e] = 0;
        for (int k = 0; k < n; k++)
            sum[e] += weight[k] * rows->x[rows->p[row[k]] + e];
    }
    return sti_rows_append(&model->allocator, &work->step.H, (int)count, rows->i + start, sum, err);
}

/* Rows of the element at (a, b) [m] from the middle, along the patch's tangents t = c t1 + s t2, o = -s t1 + c t2:
 *     u_n + b w_t - a w_o,    u_t - b w_n,    u_o + a w_n                                          */
static st_Status element_rows(const sti_Model *model, sti_StepWork *work, const sti_RowList *rows,
                              const sti_ContactEntry *entry, int dim, double c, double s, double a, double b,
                              st_Error *err)
{
    int N = entry->first_row, T1 = N + 1, T2 = N + 2, W = sti_turning_row(entry);
    const int normal[] = {N, W + 1, W + 2}, tangent[] = {T1, W, T2};
    const double n[] = {1, b * c + a * s, b * s - a * c}, t[] = {c, -b, s}, o[] = {-s, a, c};
    STI_TRY(append_combination(model, work, rows, 3, normal, n, err));
    if (dim == 2) return append_combination(model, work, rows, 1, tangent, t, err);
    for (int k = 1; k < dim; k++)
        STI_TRY(append_combination(model, work, rows, 3, tangent, k == 1 ? t : o, err));
    return ST_OK;
}

/* Adds the velocity of a belt at element e to w. (c, s) are cosine and sine of the angle of the patch's tangents, as in
 * element_rows. */
static void add_belt(const sti_Model *model, sti_StepWork *work, const sti_Patch *patch, const sti_Belt *belt, int e,
                     double c, double s)
{
    const int dim = patch->key.dim;
    double *w = work->step.w + patch->row + e * dim, a, b;
    place_patch(&model->def, patch->key.n_elements, e, &a, &b);
    const double rho = model->def.patch_spacing, turn = dim == 3 ? rho * belt->turn[0] : 0;
    if (dim > 1) w[1] += c * belt->slide[0] + s * belt->slide[1] - b * turn;
    if (dim > 2) w[2] += c * belt->slide[1] - s * belt->slide[0] + a * turn;
}

st_Status sti_patch_add(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                        const sti_ContactEntry *entry, int *n, st_Error *err)
{
    sti_Assembly *out = &work->step;
    const sti_PatchKey key = patch_key_of(model, entry);
    sti_PatchKind *kind;
    sti_Patch *patch;
    if (sti_turning_row(entry) < 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's contact %llu is elastic and has no rows `turning`",
                        (unsigned long long)entry->id);
    STI_TRY(need_kind(model, work, &key, &kind, err));
    /* B = inv(E) and D = inv(E) K for this h. */
    int size = kind->size;
    double *f = kind->V + (int64_t)size * size; /* eigenvalues of B and D, in the space after V */
    if (kind->h != stage->eta) {
        for (int i = 0; i < size; i++)
            f[i] = 1 / (stage->eta / kind->x[i] + 2 * sqrt(model->def.patch_mass / kind->x[i]));
        compose_modes(kind->V, f, size, kind->B);
        for (int i = 0; i < size; i++)
            f[i] /= kind->x[i];
        compose_modes(kind->V, f, size, kind->D);
        kind->h = stage->eta;
    }
    STI_TRY(begin_patch(model, state, work, entry, &key, &patch, err));
    st_Vec3 second = cross(entry->normal, entry->tangent);
    double rho = model->def.patch_spacing, a, b;
    double c = entry->dim == 3 ? dot(patch->tangent, entry->tangent) : 1;
    double s = entry->dim == 3 ? dot(patch->tangent, second) : 0;
    for (int e = 0; e < key.n_elements; e++, ++*n) {
        out->law[*n] = sti_contact_law(model, entry, out->H.n_rows);
        out->entry[*n] = *entry;
        out->chosen[*n] = (sti_Chosen){.entry = &out->entry[*n], .element = e};
        place_patch(&model->def, key.n_elements, e, &a, &b);
        a *= rho, b *= rho;
        STI_TRY(element_rows(model, work, &stage->rows->contact_rows, entry, key.dim, c, s, a, b, err));
        st_Vec3 offset = add(scale(a * c - b * s, entry->tangent), scale(a * s + b * c, second));
        out->entry[*n].point = add(entry->point, offset);
        out->entry[*n].tangent = patch->tangent;
    }
    /* w = -D delta. With drift gap, w_n also contains the gap between the surfaces divided by h. */
    const double *delta = work->compliant.next.delta + patch->first;
    double *w = work->step.w + patch->row, cap = model->def.correction_speed;
    for (int i = 0; i < kind->size; i++) {
        w[i] = 0;
        for (int j = 0; j < kind->size; j++)
            w[i] -= kind->D[i * kind->size + j] * delta[j];
        if (i % kind->key.dim == 0 && model->def.drift == ST_DRIFT_GAP)
            w[i] += fmax((entry->gap + delta[i]) / stage->eta, -cap);
    }
    const sti_Belt belt = entry->surface->moves ? sti_contact_belt(model->world, stage->q_star, entry) : (sti_Belt){0};
    for (int e = 0; entry->surface->moves && e < key.n_elements; e++)
        add_belt(model, work, patch, &belt, e, c, s);
    double *C = sti_compliance_block(&work->step, patch->row, kind->size);
    for (int64_t k = 0; k < (int64_t)kind->size * kind->size; k++)
        C[k] = kind->B[k] / stage->eta;
    work->step.compliant = true;
    return ST_OK;
}

/* ---- after the solution ------------------------------------------------------------------------ */

/* delta+ = delta + h (C r - D delta) = delta + B r - h D delta. */
void sti_patches_follow(sti_StepWork *work)
{
    const sti_Patches *now = &work->compliant.next;
    double change[3 * STI_MAX_PATCH_SIDE * STI_MAX_PATCH_SIDE];
    for (int p = 0; p < now->n; p++) {
        const sti_Patch *patch = &now->patch[p];
        const sti_PatchKind *kind = find_patch_kind(work, &patch->key);
        double *delta = now->delta + patch->first;
        const double *r = work->step.r + patch->row;
        int n = kind->size;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++)
                sum += kind->B[i * n + j] * r[j] - kind->h * kind->D[i * n + j] * delta[j];
            change[i] = sum;
        }
        for (int i = 0; i < n; i++)
            delta[i] += change[i];
    }
}

/* The sum of delta'K delta/2 over patches. In the eigenvectors of Xi a patch has sum (V'delta)_i^2/x_i /2. */
double sti_patches_energy(const sti_State *state, const sti_StepWork *work)
{
    const sti_Patches *patches = &state->patches;
    double sum = 0;
    for (int p = 0; p < patches->n; p++) {
        const sti_Patch *patch = &patches->patch[p];
        const sti_PatchKind *kind = find_patch_kind(work, &patch->key);
        const double *delta = patches->delta + patch->first;
        for (int i = 0; i < kind->size; i++) {
            double along = 0;
            for (int j = 0; j < kind->size; j++)
                along += kind->V[j * kind->size + i] * delta[j];
            sum += 0.5 * along * along / kind->x[i];
        }
    }
    return sum;
}

static void free_patches(const st_Allocator *allocator, sti_Patches *patches)
{
    STI_RELEASE(allocator, patches->patch, patches->patch_capacity);
    STI_RELEASE(allocator, patches->delta, patches->delta_capacity);
}

void sti_patches_free(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    const st_Allocator *allocator = &model->allocator;
    free_patches(allocator, &state->patches);
    free_patches(allocator, &work->compliant.next);
    for (int k = 0; k < (int)work->compliant.kind_capacity;
         k++) { /* including a kind whose allocation failed half way */
        sti_PatchKind *kind = &work->compliant.kind[k];
        STI_RELEASE(allocator, kind->x, kind->x_capacity);
        STI_RELEASE(allocator, kind->V, kind->V_capacity);
        STI_RELEASE(allocator, kind->B, kind->B_capacity);
        STI_RELEASE(allocator, kind->D, kind->D_capacity);
    }
    STI_RELEASE(allocator, work->compliant.kind, work->compliant.kind_capacity);
}
