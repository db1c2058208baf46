/* collide/volume.c -- mass, centre and inertia of constant density, from sums over a closed surface.
 *
 * Polyhedra (hulls, closed meshes) by the divergence theorem, as a sum over the tetrahedra of the origin and
 * each triangle a, b, c with signed volume V = a.(b x c)/6 (Blow & Binstock 2004; Tonon 2004):
 *
 *     int x = V (a + b + c)/4,   int x x' = V/20 ( s s' + a a' + b b' + c c' ),  s = a + b + c.
 */
#include "collide/shape.h"

void sti_mass_diagonal(sti_MassProperties *out, double m, double Sx, double Sy, double Sz)
{
    out->mass = m;
    out->inertia = (st_Mat3){{Sy + Sz, 0, 0, 0, Sx + Sz, 0, 0, 0, Sx + Sy}};
}

void sti_volume_add(sti_VolumeSum *sum, st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    double V = dot(a, cross(b, c)) / 6, p[4][3];
    st_Vec3 s = add(a, add(b, c));
    vec3_store(p[0], a), vec3_store(p[1], b), vec3_store(p[2], c), vec3_store(p[3], s);
    sum->volume += V;
    sum->first = add(sum->first, scale(V / 4, s));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                sum->S[i][j] += V / 20 * p[k][i] * p[k][j];
}

/* Inertia from second moments: tr(S) 1 - S. */
void sti_volume_mass(const sti_VolumeSum *sum, double density, sti_MassProperties *out)
{
    double S[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[i][j] = density * sum->S[i][j];
    const double trace = S[0][0] + S[1][1] + S[2][2];
    out->mass = density * sum->volume;
    out->centre = scale(1 / sum->volume, sum->first);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->inertia.m[3 * i + j] = (i == j ? trace : 0) - S[i][j];
}
