/* model/spring.c -- springs and dampers between two points, about an axis or in all six directions, as
 * soft rows: elongation phi and its gradient a; the force is -(k phi + d a'v) a.
 */
#include "model/time_factor.h"
#include "model/world.h"

void sti_spring_compile(sti_World *world, int index)
{
    const st_SpringDef *def = &world->scene->spring[index];
    sti_Spring *out = &world->spring[index];
    st_Pose a = world->scene->body[def->a.index1].pose, b = world->scene->body[def->b.index1].pose;
    st_Vec3 point_b = def->type == ST_SPRING_BUSHING ? def->point_a : def->point_b;
    *out = (sti_Spring){.type = def->type, .a = def->a.index1, .b = def->b.index1, .angle = -1};
    out->anchor_a = rotate_back(a.q, sub(def->point_a, a.p));
    out->anchor_b = rotate_back(b.q, sub(point_b, b.p));
    out->relative = quat_product(quat_conjugate(a.q), b.q);
    out->rest = isnan(def->rest) ? 0.0 : def->rest; /* angular; that of a linear spring is set in the scene */
    sti_SpringValues *values = &world->values.spring[index];
    /* that of a table is computed at each elongation */
    values->stiffness[0] = def->table.n_table > 0 ? 1 : def->stiffness;
    values->damping[0] = def->damping;
    if (def->type == ST_SPRING_ANGULAR) out->angle = sti_angle_add(world, out->a, out->b, def->axis, def->axis);
    if (def->type != ST_SPRING_BUSHING) return;
    for (int k = 0; k < 3; k++)
        out->frame_a[k] = rotate_back(a.q, rotate(def->frame, vec3_axis(k)));
    vec3_store(values->stiffness, def->stiffness_along);
    vec3_store(values->stiffness + 3, def->stiffness_about);
    vec3_store(values->damping, def->damping_along);
    vec3_store(values->damping + 3, def->damping_about);
    (void)sti_matrix_modes(def->stiffness_matrix, values->stiffness + 6, out->mode);
    (void)sti_matrix_modes(def->damping_matrix, values->damping + 12, out->mode + 6);
}

/* Writes a symmetric 6 x 6 matrix as the sum of d_k m_k m_k', by L D L'. Returns false if it is not positive
 * semi-definite. */
bool sti_matrix_modes(const double A[36], double d[6], double mode[][6])
{
    double rest[36], largest = 0;
    for (int e = 0; e < 36; e++) {
        rest[e] = 0.5 * (A[e] + A[e % 6 * 6 + e / 6]);
        largest = fmax(largest, fabs(rest[e]));
    }
    for (int k = 0; k < 6; k++) {
        const double pivot = rest[7 * k];
        if (pivot < -1e-12 * largest) return false;
        d[k] = pivot > 1e-12 * largest ? pivot : 0;
        for (int i = 0; i < 6; i++) {
            if (d[k] == 0 && fabs(rest[6 * i + k]) > 1e-6 * largest) return false;
            mode[k][i] = d[k] > 0 ? rest[6 * i + k] / pivot : 0;
        }
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                rest[6 * i + j] -= d[k] * mode[k][i] * mode[k][j];
    }
    return true;
}

static void add_half(sti_Half *sum, double factor, sti_Half half)
{
    sum->linear = add(sum->linear, scale(factor, half.linear));
    sum->angular = add(sum->angular, scale(factor, half.angular));
}

/* Force and slope at an elongation, from a table; and the energy from 0 to there. */
static double table_energy(const st_Profile *table, double x)
{
    /* trapezoids between 0, the entries on the way, and x */
    const double end = fabs(x), sign = x < 0 ? -1 : 1;
    double at = 0, sum = 0;
    while (at < end) {
        double next = end;
        for (int k = 0; k < table->n_table; k++) {
            const double entry = sign * table->times[k];
            if (entry > at && entry < next) next = entry;
        }
        sum += 0.5 * sign * (next - at) * (sti_profile_value(table, sign * at) + sti_profile_value(table, sign * next));
        at = next;
    }
    return sum;
}

static bool translates(const sti_Body *body, int axis)
{
    for (int k = 0; k < body->n_dofs; k++)
        if (body->dof[k] == axis) return true;
    return false;
}

/* The ends of a spring with a rest length coincide: it pushes them apart in any direction. The first world axis
 * along which they can move is used. */
static st_Vec3 any_direction(const sti_World *world, const sti_Spring *spring)
{
    const sti_Body *a = &world->body[spring->a], *b = &world->body[spring->b];
    int axis = 0;
    while (axis < 2 && !translates(a, axis) && !translates(b, axis))
        axis++;
    return vec3_axis(axis);
}

/* With rest length 0 the force -k (p_b - p_a) is smooth through coincidence as three rows along the world axes;
 * along the line it would have no direction there. A component of a bushing without stiffness and damping has no
 * row. */
int sti_spring_measures(const sti_World *world, int index, const double *q, sti_Measure out[STI_SPRING_ROWS],
                        int component[STI_SPRING_ROWS])
{
    const sti_Spring *s = &world->spring[index];
    const sti_SpringValues *values = &world->values.spring[index];
    const st_Pose a = sti_pose(q, s->a), b = sti_pose(q, s->b);
    const st_Vec3 p_a = pose_point(a, s->anchor_a), p_b = pose_point(b, s->anchor_b), d = sub(p_b, p_a);
    int n = 0;
    for (int k = 0; component != NULL && k < STI_SPRING_ROWS; k++)
        component[k] = 0;
    if (s->type != ST_SPRING_BUSHING && values->stiffness[0] == 0 && values->damping[0] == 0) return 0;
    if (s->type == ST_SPRING_ANGULAR) {
        out[0] = sti_measure_angle(world, s->angle, q);
        out[0].value -= s->rest;
        return 1;
    }
    if (s->type == ST_SPRING_LINEAR && s->rest == 0) {
        for (int k = 0; k < 3; k++)
            out[k] = sti_measure_along(a, b, p_b, vec3_axis(k), p_a, dot(vec3_axis(k), d));
        return 3;
    }
    if (s->type == ST_SPRING_LINEAR) {
        const double length = norm(d);
        const st_Vec3 n_ab = length > 0 ? scale(1 / length, d) : any_direction(world, s);
        out[0] = sti_measure_along(a, b, p_b, n_ab, p_a, length - s->rest);
        return 1;
    }
    sti_Measure direction[6];
    for (int k = 0; k < 6; k++) {
        const st_Vec3 axis = k < 3 ? rotate(a.q, s->frame_a[k]) : s->frame_a[k - 3];
        direction[k] = k < 3 ? sti_measure_along(a, b, p_b, axis, p_b, dot(axis, d))
                             : sti_measure_rotation(a.q, b.q, s->relative, axis);
    }
    for (int k = 0; k < STI_SPRING_ROWS; k++) {
        if (values->stiffness[k] == 0 && values->damping[k] == 0) continue;
        if (component != NULL) component[n] = k;
        out[n] = direction[k < 6 ? k : 0];
        if (k >= 3 && k < 6 && values->stiffness[k] == 0) /* a damper alone acts on the angular velocity */
            out[n] = sti_measure_turning(a.q, out[n].value, s->frame_a[k - 3]);
        if (k >= 6) out[n] = (sti_Measure){.value = 0};
        for (int i = 0; k >= 6 && i < 6; i++) {
            const double factor = s->mode[k - 6][i];
            out[n].value += factor * direction[i].value;
            out[n].rate += factor * direction[i].rate;
            add_half(&out[n].on_a, factor, direction[i].on_a);
            add_half(&out[n].on_b, factor, direction[i].on_b);
        }
        n++;
    }
    return n;
}

st_Status sti_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err)
{
    for (int index = 0; index < world->n_springs; index++) {
        const sti_Spring *spring = &world->spring[index];
        sti_Measure measure[STI_SPRING_ROWS];
        int component[STI_SPRING_ROWS];
        const int n = sti_spring_measures(world, index, q, measure, component);
        for (int k = 0; k < n; k++) {
            sti_Rows rows;
            sti_rows_measure(world, q, spring->a, spring->b, &measure[k], &rows);
            st_SoftRow row = {.value = measure[k].value,
                              .stiffness = world->values.spring[index].stiffness[component[k]],
                              .damping = world->values.spring[index].damping[component[k]],
                              .count = rows.count,
                              .index = rows.index,
                              .gradient = rows.gradient};
            if (world->scene->spring[index].table.n_table > 0) {
                /* F(x + dx) = F + F' dx as a spring of stiffness F' at an elongation of F/F'. If the force does not
                 * rise with the elongation, the stiffness is nearly 0 and the force explicit. */
                const st_Profile *table = &world->scene->spring[index].table;
                const double x = row.value, force = sti_profile_value(table, x);
                double steepest = 0, least;
                for (int j = 0; j + 1 < table->n_table; j++)
                    steepest = fmax(steepest, (table->values[j + 1] - table->values[j]) /
                                                  (table->times[j + 1] - table->times[j]));
                least = 1e-6 * (steepest > 0 ? steepest : fmax(fabs(force), 1));
                row.stiffness = fmax(sti_profile_rate(table, x), least);
                row.value = force / row.stiffness;
                row.energy = table_energy(table, x) - 0.5 * row.stiffness * row.value * row.value;
            }
            STI_TRY(sti_push_soft(sink, &row, err));
        }
    }
    return ST_OK;
}
