/* bench/grains/liggghts.c -- runs the program LIGGGHTS (LIGGGHTS=path names another): linear springs and dampers
 * with history, walls as triangles, grains of more than one sphere as rigid bodies (fix rigid). */
#include "base/base.h"
#include "grains.h"
#include "math/quat.h"

#include <stdio.h>
#include <string.h>

static void write_triangle(FILE *out, st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    const st_Vec3 n = cross(sub(b, a), sub(c, a));
    const double l = norm(n);
    fprintf(out, " facet normal %.9g %.9g %.9g\n  outer loop\n", n.x / l, n.y / l, n.z / l);
    for (int k = 0; k < 3; k++) {
        const st_Vec3 p = k == 0 ? a : k == 1 ? b : c;
        fprintf(out, "   vertex %.12g %.12g %.12g\n", p.x, p.y, p.z);
    }
    fputs("  endloop\n endfacet\n", out);
}

/* Writes all six faces of a slab, or only the face that grains touch. The plates of a drum need only that face,
 * because they overlap outside the drum. */
static void write_slab(FILE *out, const Slab *slab, double across, bool face)
{
    static const int faces[6][4] = {{4, 5, 7, 6}, {0, 2, 3, 1}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    st_Vec3 p[8];
    for (int k = 0; k < 8; k++) {
        const st_Vec3 at = {(k & 1 ? 1 : -1) * across, (k & 2 ? 1 : -1) * slab->half.y,
                            (k & 4 ? 1 : -1) * slab->half.z};
        p[k] = add(slab->pose.p, rotate(slab->pose.q, at));
    }
    for (int k = 0; k < (face ? 1 : 6); k++) {
        write_triangle(out, p[faces[k][0]], p[faces[k][1]], p[faces[k][2]]);
        write_triangle(out, p[faces[k][0]], p[faces[k][2]], p[faces[k][3]]);
    }
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "w");
}

/* Writes the walls, the script and the data file. */
static bool write_files(const Case *c, const Soft *soft, const char *folder)
{
    char name[40];
    int plates = 0, walls = 0, clumps = 0;
    double far = 0, high = 0, low = 0; /* bounds of the simulation box; kept small, because its cells cost memory */
    FILE *script = open_in(folder, "in.txt"), *data = open_in(folder, "data.txt"), *drum = open_in(folder, "drum.stl");
    bool ok = script != NULL && data != NULL && drum != NULL;
    for (int k = 0; k < c->n_slabs; k++)
        plates += c->slabs[k].turns;
    for (int k = 0; k < c->n_grains; k++) {
        clumps += c->grains[k].n > 1;
        high = fmax(high, c->grains[k].pose.p.z + 3 * c->d);
    }
    for (int k = 0; k < c->n_slabs; k++) {
        const Slab *slab = &c->slabs[k];
        const double reach = norm(slab->pose.p) + norm(slab->half);
        if (slab->turns) far = fmax(far, reach), high = fmax(high, reach);
        for (int corner = 0; corner < 8; corner++) {
            const st_Vec3 at = {(corner & 1 ? 1 : -1) * slab->half.x, (corner & 2 ? 1 : -1) * slab->half.y,
                                (corner & 4 ? 1 : -1) * slab->half.z};
            const st_Vec3 p = add(slab->pose.p, rotate(slab->pose.q, at));
            far = fmax(far, fmax(fabs(p.x), fabs(p.y)) + c->d);
            high = fmax(high, p.z + c->d);
            low = fmin(low, p.z - c->d);
        }
    }
    if (c->figure == FIGURE_FLOW) low -= 10 * c->d; /* grains below this are deleted */
    if (ok) fputs("solid drum\n", drum);
    for (int k = 0; ok && k < c->n_slabs; k++) {
        const Slab *slab = &c->slabs[k];
        if (slab->turns) { /* wide enough that the faces form a closed tube */
            write_slab(drum, slab, (norm(slab->pose.p) - slab->half.z) * tan(STI_PI / plates), true);
            continue;
        }
        snprintf(name, sizeof name, "wall%d.stl", ++walls);
        FILE *out = open_in(folder, name);
        if (!(ok = out != NULL)) break;
        fputs("solid wall\n", out);
        write_slab(out, slab, slab->half.x, false);
        fputs("endsolid wall\n", out);
        ok = fclose(out) == 0;
    }
    if (ok) {
        fputs("endsolid drum\n", drum);
        fprintf(data, "grains\n\n%d atoms\n1 atom types\n\n%g %g xlo xhi\n%g %g ylo yhi\n%g %g zlo zhi\n\nAtoms\n\n",
                c->n_spheres, -far, far, -far, far, low, high);
        for (int g = 0, molecule = 0; g < c->n_grains; g++) {
            const Grain *grain = &c->grains[g];
            if (grain->n > 1) molecule++;
            for (int s = grain->first; s < grain->first + grain->n; s++) {
                const st_Vec3 p = add(grain->pose.p, rotate(grain->pose.q, c->spheres[s].at));
                if (clumps > 0)
                    fprintf(data, "%d 1 %.12g %.12g %.12g %.12g 2500 %d\n", s + 1, p.x, p.y, p.z, 2 * c->spheres[s].r,
                            grain->n > 1 ? molecule : 0);
                else
                    fprintf(data, "%d 1 %.12g 2500 %.12g %.12g %.12g\n", s + 1, 2 * c->spheres[s].r, p.x, p.y, p.z);
            }
        }
        fprintf(script,
                "atom_style %s\natom_modify map array\nboundary f f f\nnewton off\ncommunicate single vel yes\n"
                "units si\nread_data data.txt\nneighbor %g bin\nneigh_modify delay 0\n"
                "fix p1 all property/global kn peratomtypepair 1 %.12g\n"
                "fix p2 all property/global kt peratomtypepair 1 %.12g\n"
                "fix p3 all property/global gamman peratomtypepair 1 %.12g\n"
                "fix p4 all property/global gammat peratomtypepair 1 %.12g\n"
                "fix p5 all property/global coefficientFriction peratomtypepair 1 %.12g\n"
                "pair_style gran model hooke/stiffness tangential history\npair_coeff * *\ntimestep %.12g\n"
                "fix weight all gravity %.12g vector 0.0 0.0 -1.0\n",
                clumps > 0 ? "hybrid granular molecular" : "granular", 0.2 * c->d, soft->kn, soft->kt, soft->damping,
                soft->damping_t, c->mu, soft->h, c->g);
        for (int k = 1; k <= walls; k++)
            fprintf(script, "fix m%d all mesh/surface file wall%d.stl type 1\n", k, k);
        if (plates > 0) fprintf(script, "fix m%d all mesh/surface file drum.stl type 1\n", ++walls);
        fprintf(script, "fix walls all wall/gran model hooke/stiffness tangential history mesh n_meshes %d meshes",
                walls);
        for (int k = 1; k <= walls; k++)
            fprintf(script, " m%d", k);
        fputc('\n', script);
        if (plates > 0)
            fprintf(script, "fix turn all move/mesh mesh m%d rotate origin 0. 0. 0. axis 0. 1. 0. period %.12g\n",
                    walls, 2 * STI_PI / c->turn);
        if (clumps > 0)
            fputs("group single molecule 0\ngroup clump subtract all single\nneigh_modify exclude molecule clump\n"
                  "fix move1 single nve/sphere\nfix move2 clump rigid molecule\n",
                  script);
        else
            fputs("fix move all nve/sphere\n", script);
        const double per_frame = floor(FRAME / soft->h + 0.5);
        fprintf(script,
                "thermo 100000\nthermo_modify lost ignore\ndump frames all custom %.0f frames.txt id x y z\nrun %.0f\n",
                per_frame, per_frame * floor(c->end / FRAME + 0.5));
    }
    if (drum != NULL && fclose(drum) != 0) ok = false;
    if (data != NULL && fclose(data) != 0) ok = false;
    if (script != NULL && fclose(script) != 0) ok = false;
    return ok;
}

static bool run(const Case *c, Judge *judge, char version[40], char settings[160], char message[200])
{
    char program[200], folder[64];
    char *const arguments[] = {program, "-log", "none", "-in", "in.txt", NULL};
    const Soft soft = soft_contacts(c);
    snprintf(program, sizeof program, "%s", program_of("LIGGGHTS", "liggghts"));
    snprintf(settings, 160, "h %.2g s, stiffness %.3g N/m, restitution %g", soft.h, soft.kn, soft.restitution);
    if (!make_folder(folder, message)) return false;
    bool ok = write_files(c, &soft, folder);
    if (!ok) snprintf(message, 200, "files could not be written in %s", folder);
    const double cpu = ok ? run_program(folder, arguments, "log.txt", message) : -1;
    ok = cpu >= 0 && judge_file(c, judge, folder, "frames.txt", cpu, message);
    char path[200], line[200];
    snprintf(path, sizeof path, "%s/log.txt", folder);
    FILE *log = fopen(path, "r");
    while (log != NULL && version[0] == '\0' && fgets(line, sizeof line, log) != NULL)
        if (sscanf(line, "LIGGGHTS (Version LIGGGHTS-PUBLIC %39[0-9.]", version) == 1) break;
    if (log != NULL) fclose(log);
    remove_folder(folder);
    return ok;
}

const GrainEngine grain_engine = {"liggghts", run};
