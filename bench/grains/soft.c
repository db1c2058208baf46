/* bench/grains/soft.c -- contact parameters of soft engines; programs that run as separate processes. */
#include "base/base.h"
#include "grains.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* m'' x + m' c x' + k x = 0 with the effective mass m'. Undamped, an impact at v has a depth of v sqrt(m'/k); with a
 * restitution of 0.3 it is 0.6 times as deep, and overlaps in piles at rest are far smaller. Restitution e = exp(-c
 * T/2), T = pi/sqrt(k/m' - c^2/4) the duration. The speed is that of a sphere that falls on a fixed wall. Its
 * effective mass is its whole mass: twice that of two spheres. */
Soft soft_contacts(const Case *c)
{
    const double r = c->d / 2, m = 2500 * 4.0 / 3 * STI_PI * r * r * r;
    Soft soft = {.effective_mass = m / 2, .restitution = 0.3};
    const double deep = 0.01 * c->d, loss = log(soft.restitution);
    soft.kn = m * c->speed * c->speed / (deep * deep);
    soft.kt = 2.0 / 7 * soft.kn;
    const double w = sqrt(soft.kn / soft.effective_mass), share = -loss / sqrt(STI_PI * STI_PI + loss * loss);
    soft.damping = 2 * share * w;
    soft.damping_t = soft.damping / 2;
    soft.h = STI_PI / (w * sqrt(1 - share * share)) / 25;
    soft.h = FRAME / ceil(FRAME / soft.h); /* a frame is a whole number of steps */
    return soft;
}

const char *program_of(const char *variable, const char *usual)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : usual;
}

/* Copies the last line of a program's log to message. */
static void last_line(const char *folder, const char *log, char message[200])
{
    char path[200], line[200];
    snprintf(path, sizeof path, "%s/%s", folder, log);
    FILE *in = fopen(path, "r");
    snprintf(message, 200, "failed without a word");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0') snprintf(message, 200, "%s", line);
    }
    if (in != NULL) fclose(in);
}

double run_program(const char *folder, char *const arguments[], const char *log, char message[200])
{
    struct rusage used;
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) != 0) _exit(126);
        const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("/dev/null", O_RDONLY);
        if (out < 0 || in < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || dup2(in, 0) < 0) _exit(126);
        setenv("OMP_NUM_THREADS", "1", 1);
        execvp(arguments[0], arguments);
        _exit(errno == ENOENT ? 127 : 126);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        snprintf(message, 200, "a process could not be started");
        return -1;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
            snprintf(message, 200, "skipped: there is no program \"%s\"", arguments[0]);
        else
            last_line(folder, log, message);
        return -1;
    }
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec + (double)used.ru_stime.tv_sec +
           1e-6 * (double)used.ru_stime.tv_usec;
}

bool judge_file(const Case *c, Judge *judge, const char *folder, const char *file, double cpu, char message[200])
{
    char path[200], line[400];
    double *xyz = calloc(3 * (size_t)c->n_spheres, sizeof *xyz);
    int frames = 0; /* frames begun */
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *in = fopen(path, "r");
    for (bool more = in != NULL && xyz != NULL; more;) {
        int id;
        double p[3];
        more = fgets(line, sizeof line, in) != NULL;
        if (!more || strncmp(line, "ITEM: ATOMS", 11) == 0) {
            if (frames > 1) judge_frame(judge, xyz, cpu); /* the first frame is the start */
            frames += more;
            /* spheres that are missing in the frame have fallen out of the box */
            for (int k = 0; k < c->n_spheres; k++) {
                const double out[3] = {2 * c->d * k, 0, -100};
                memcpy(&xyz[3 * (size_t)k], out, sizeof out);
            }
        } else if (frames > 0 && sscanf(line, "%d %lf %lf %lf", &id, &p[0], &p[1], &p[2]) == 4 && id >= 1 &&
                   id <= c->n_spheres) {
            memcpy(&xyz[3 * (size_t)(id - 1)], p, sizeof p);
        }
    }
    if (in != NULL) fclose(in);
    free(xyz);
    const int expected = (int)(c->end / FRAME + 0.5);
    if (frames - 1 >= expected) return true;
    snprintf(message, 200, "%d of %d frames were written", frames > 0 ? frames - 1 : 0, expected);
    return false;
}

bool make_folder(char folder[64], char message[200])
{
    const char *base = program_of("TMPDIR", "/tmp");
    if (snprintf(folder, 64, "%s/grains-XXXXXX", base) < 64 && mkdtemp(folder) != NULL) return true;
    snprintf(message, 200, "no folder could be made in %.150s", base);
    return false;
}

void remove_folder(const char *folder)
{
    DIR *in = opendir(folder);
    for (const struct dirent *entry; in != NULL && (entry = readdir(in)) != NULL;) {
        char path[400];
        if (entry->d_name[0] != '.' && snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < 400)
            (void)unlink(path);
    }
    if (in != NULL) closedir(in);
    (void)rmdir(folder);
}
