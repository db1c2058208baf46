#define _XOPEN_SOURCE 700
#include "tool.h"

#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool in_path(const char *name)
{
    char file[4096];
    if (strchr(name, '/') != NULL) return access(name, X_OK) == 0;
    for (const char *path = getenv("PATH"); path != NULL && *path != '\0';) {
        size_t n = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name);
        if (access(file, X_OK) == 0) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

const char *find_tool(const char *const *names)
{
    for (int k = 0; names[k] != NULL; k++)
        if (in_path(names[k])) return names[k];
    return NULL;
}

const char *find_browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", NULL};
    const char *wanted = getenv("STICTION_BROWSER");
    if (wanted != NULL && wanted[0] != '\0') return in_path(wanted) ? wanted : NULL;
    return find_tool(names);
}

/* Set only by the signal handler. */
static volatile sig_atomic_t caught;

static void catch_signal(int number)
{
    caught = number;
}

void await_signals(void)
{
    struct sigaction action = {0};
    action.sa_handler = catch_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int ending_signal(void)
{
    return (int)caught;
}

pid_t start_tool(const char *const *argv)
{
    fflush(NULL);
    const pid_t self = getpid();
    pid_t child = fork();
    if (child != 0) return child;
    setpgid(0, 0); /* a browser has many processes, which end together */
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* and end when this program is killed */
    if (getppid() != self) _exit(127);
#endif
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

bool run_tool(const char *const *argv)
{
    const struct timespec moment = {0, 5000000};
    const int before = ending_signal(); /* tools that run after a signal are for cleaning up */
    int status = 0;
    pid_t child = start_tool(argv), done = 0;
    if (child < 0) return false;
    while ((done = waitpid(child, &status, WNOHANG)) == 0 || (done < 0 && errno == EINTR)) {
        if (ending_signal() != before) kill(-child, SIGKILL);
        nanosleep(&moment, NULL);
    }
    return done == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int browser_options(const char **argv, const char *profile)
{
    static const char *const fixed[] = {"--headless=new",
                                        "--disable-gpu-sandbox",
                                        "--use-angle=swiftshader",
                                        "--enable-unsafe-swiftshader",
                                        "--hide-scrollbars",
                                        "--mute-audio",
                                        "--no-first-run",
                                        "--disable-extensions",
                                        "--disable-background-networking"};
    int n = 0;
    for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; k++)
        argv[n++] = fixed[k];
    argv[n++] = profile;
    if (geteuid() == 0) argv[n++] = "--no-sandbox"; /* the sandbox does not work for root */
    return n;
}

bool make_scratch(char folder[SCRATCH_SIZE], const char *what)
{
    snprintf(folder, SCRATCH_SIZE, "/tmp/stiction-%s-XXXXXX", what);
    if (mkdtemp(folder) != NULL) return true;
    complain(STATUS_FAILED, "no temporary folder in /tmp: %s", strerror(errno));
    folder[0] = '\0';
    return false;
}

void remove_scratch(char folder[SCRATCH_SIZE])
{
    const char *const clean[] = {"rm", "-rf", folder, NULL};
    if (folder[0] != '\0') run_tool(clean);
    folder[0] = '\0';
}
