#if defined(__linux__)
#define _GNU_SOURCE 1 /* strsignal, prctl */
#include <sys/prctl.h>
#endif
#include "reader_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* sanitizers reserve more address space than there is memory */
#endif

/* Share of the memory of the machine. */
#define SHARE 0.75

static volatile sig_atomic_t child_process; /* used only by the signal handler */

/* Passes a signal to the child process. */
static void forward(int number)
{
    if (child_process > 0) kill((pid_t)child_process, number);
}

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_FORWARDED = sizeof forwarded / sizeof forwarded[0] };

static void forward_signals(void)
{
    for (size_t k = 0; k < N_FORWARDED; k++) {
        struct sigaction action = {0}, old = {0};
        action.sa_handler = forward;
        sigemptyset(&action.sa_mask);
        sigaction(forwarded[k], NULL, &old);
        if (old.sa_handler != SIG_IGN) sigaction(forwarded[k], &action, NULL);
    }
}

static void lower(struct rlimit *limit, rlim_t most)
{
    if (limit->rlim_cur == RLIM_INFINITY || limit->rlim_cur > most) limit->rlim_cur = most;
}

static void limit_memory(void)
{
    struct rlimit limit;
#if !defined(SANITIZED)
    const double pages = (double)sysconf(_SC_PHYS_PAGES), page = (double)sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0 && getrlimit(RLIMIT_AS, &limit) == 0) {
        lower(&limit, (rlim_t)(SHARE * pages * page));
        (void)!setrlimit(RLIMIT_AS, &limit);
    }
#endif
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
    lower(&limit, 0);
    (void)!setrlimit(RLIMIT_CORE, &limit);
}

int run_in_reader_process(const Command *command, int argc, char *const *argv, int (*finish)(int status))
{
    fflush(NULL);
    /* Signals wait until they can be forwarded: the child may be at work before this process continues. */
    sigset_t signals, before;
    sigemptyset(&signals);
    for (size_t k = 0; k < N_FORWARDED; k++)
        sigaddset(&signals, forwarded[k]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    const pid_t parent = getpid(), child = fork();
    if (child > 0) {
        child_process = (sig_atomic_t)child;
        forward_signals();
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0) return finish(command->main(argc, argv)); /* fork failed: run in this process */
    if (child == 0) {
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(STATUS_FAILED);
#else
        (void)parent;
#endif
        limit_memory();
        exit(finish(command->main(argc, argv)));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) return 128 + number;
    return complain(STATUS_INPUT,
                    "%s: the process that reads the file was ended (%s): the file is damaged or malicious",
                    command->name, strsignal(number));
}
