/* bench/grains/yade.c -- runs the program Yade (YADE=path names another) with the script yade.py. */
#include "grains.h"
#include "math/quat.h"

#include <stdio.h>
#include <string.h>

static bool write_case(const Case *c, const Soft *soft, const char *folder)
{
    char path[200];
    snprintf(path, sizeof path, "%s/case.txt", folder);
    FILE *out = fopen(path, "w");
    if (out == NULL) return false;
    const double m = soft->effective_mass;
    fprintf(out, "contact %.12g %.12g %.12g %.12g %.12g\n", soft->kn, soft->kt, m * soft->damping, m * soft->damping_t,
            atan(c->mu));
    fprintf(out, "time %.12g %.12g %.12g\nworld %.12g %.12g\n", soft->h, FRAME, c->end, c->g, c->turn);
    for (int k = 0; k < c->n_slabs; k++) {
        const Slab *s = &c->slabs[k];
        fprintf(out, "slab %.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g %d\n", s->pose.p.x, s->pose.p.y,
                s->pose.p.z, s->pose.q.w, s->pose.q.x, s->pose.q.y, s->pose.q.z, s->half.x, s->half.y, s->half.z,
                s->turns);
    }
    for (int g = 0; g < c->n_grains; g++) {
        fprintf(out, "grain %.12g %.12g %.12g %.12g", c->grains[g].mass, c->grains[g].inertia.x, c->grains[g].inertia.y,
                c->grains[g].inertia.z);
        for (int s = c->grains[g].first; s < c->grains[g].first + c->grains[g].n; s++) {
            const st_Vec3 p = add(c->grains[g].pose.p, rotate(c->grains[g].pose.q, c->spheres[s].at));
            fprintf(out, " %.12g %.12g %.12g %.12g", p.x, p.y, p.z, c->spheres[s].r);
        }
        fputc('\n', out);
    }
    return fclose(out) == 0;
}

static bool run(const Case *c, Judge *judge, char version[40], char settings[160], char message[200])
{
    char program[200], folder[64], path[200];
    char *const arguments[] = {program, "-n", "-x", "-j1", BENCH_GRAINS "/yade.py", NULL};
    const Soft soft = soft_contacts(c);
    snprintf(program, sizeof program, "%s", program_of("YADE", "yade"));
    snprintf(settings, 160, "h %.2g s, stiffness %.3g N/m, restitution %g", soft.h, soft.kn, soft.restitution);
    if (!make_folder(folder, message)) return false;
    bool ok = write_case(c, &soft, folder);
    if (!ok) snprintf(message, 200, "files could not be written in %s", folder);
    double cpu = ok ? run_program(folder, arguments, "log.txt", message) : -1;
    snprintf(path, sizeof path, "%s/cpu.txt", folder); /* excludes the start of Python */
    FILE *in = fopen(path, "r");
    if (in == NULL || fscanf(in, "%lf %39s", &cpu, version) != 2) {
        if (cpu >= 0) snprintf(message, 200, "the script of Yade did not end");
        cpu = -1;
    }
    if (in != NULL) fclose(in);
    ok = cpu >= 0 && judge_file(c, judge, folder, "frames.txt", cpu, message);
    remove_folder(folder);
    return ok;
}

const GrainEngine grain_engine = {"yade", run};
