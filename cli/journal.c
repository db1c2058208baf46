#define _DEFAULT_SOURCE 1 /* flock */
#include "journal.h"

#include "command.h"
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FIRST_LINE "stiction sweep 1 "

uint64_t fingerprint_add(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < size; k++)
        hash = (hash ^ b[k]) * 0x100000001b3u;
    return hash;
}

static int damaged(const Journal *journal, int line)
{
    return complain(STATUS_INPUT, "%s:%d: is damaged; --fresh starts over", journal->path, line);
}

/* One line, ended by a zero byte in place of its newline. False: it is no result of this study. */
static bool read_result(char *line, Result *results, int n_runs, int n_outputs)
{
    char *end = NULL;
    const long run = strtol(line, &end, 10);
    if (end == line || *end != '\t' || run < 1 || run > n_runs) return false;
    Result *r = &results[run - 1];
    char *status = end + 1, *at = strchr(status, '\t');
    if (r->status[0] != '\0' || at == NULL || at == status || at - status >= (long)sizeof r->status) return false;
    for (int k = 0; k < n_outputs; k++) {
        r->value[k] = strtod(at + 1, &end);
        if (end == at + 1 || *end != '\t') return false;
        at = end;
    }
    r->message = strdup(at + 1);
    *at = '\0';
    memcpy(r->status, status, strcspn(status, "\t"));
    return r->message != NULL;
}

/* What an earlier run of the same study left. -1: go on. */
static int read_journal(const Journal *journal, const char *first, char *text, size_t size, Result *results, int n_runs,
                        int n_outputs, int *n_done)
{
    if (strncmp(text, FIRST_LINE, size < strlen(FIRST_LINE) ? size : strlen(FIRST_LINE)) != 0)
        return complain(STATUS_INPUT, "%s: is in the way, it is no part of a parameter study", journal->path);
    char *newline = strchr(text, '\n');
    if (newline == NULL)
        return ftruncate(journal->fd, 0) == 0 ? -1 : damaged(journal, 1); /* cut off in its first line */
    if (strncmp(text, first, strlen(first)) != 0)
        return complain(STATUS_INPUT,
                        "%s: has results of another study: the scene, the values, the outputs or the version differ; "
                        "--fresh drops them",
                        journal->path);
    int line = 2;
    char *at = newline + 1;
    for (; (newline = strchr(at, '\n')) != NULL; at = newline + 1, line++) {
        *newline = '\0';
        if (!read_result(at, results, n_runs, n_outputs)) return damaged(journal, line);
        ++*n_done;
    }
    return *at == '\0' || ftruncate(journal->fd, at - text) == 0 ? -1 : damaged(journal, line);
}

int journal_open(Journal *journal, const char *table, uint64_t fingerprint, Result *results, int n_runs, int n_outputs,
                 bool fresh, int *n_done)
{
    char first[100];
    size_t size = 0;
    *n_done = 0;
    snprintf(first, sizeof first, FIRST_LINE "%016llx %d %d\n", (unsigned long long)fingerprint, n_runs, n_outputs);
    journal->path = malloc(strlen(table) + sizeof ".partial");
    if (journal->path == NULL) return complain(STATUS_FAILED, "out of memory");
    sprintf(journal->path, "%s.partial", table);
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0) return complain(STATUS_INPUT, "%s: cannot be written: %s", journal->path, strerror(errno));
    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0)
        return complain(STATUS_INPUT, "%s: another process is at work on this study", journal->path);
    char *text = read_whole(journal->path, (size_t)1 << 32, &size);
    if (text == NULL) return complain(STATUS_INPUT, "%s: cannot be read: %s", journal->path, strerror(errno));
    int status = -1;
    if (fresh && strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) == 0) size = ftruncate(journal->fd, 0) == 0 ? 0 : size;
    if (size > 0) status = read_journal(journal, first, text, size, results, n_runs, n_outputs, n_done);
    free(text);
    const bool empty = lseek(journal->fd, 0, SEEK_END) == 0;
    if (status < 0 && empty && write(journal->fd, first, strlen(first)) != (ssize_t)strlen(first))
        status = complain(STATUS_FAILED, "%s: cannot be written: %s", journal->path, strerror(errno));
    return status;
}

bool journal_add(Journal *journal, int run, const Result *result, int n_outputs)
{
    char *line = NULL;
    size_t size = 0;
    if (journal->fd < 0) return true;
    FILE *memory = open_memstream(&line, &size);
    if (memory == NULL) return complain(STATUS_FAILED, "out of memory"), false;
    fprintf(memory, "%d\t%s", run + 1, result->status);
    for (int k = 0; k < n_outputs; k++)
        fprintf(memory, "\t%.17g", result->value[k]);
    fprintf(memory, "\t%s\n", result->message != NULL ? result->message : "");
    const bool made = fclose(memory) == 0, ok = made && write(journal->fd, line, size) == (ssize_t)size;
    if (!ok) complain(STATUS_FAILED, "%s: cannot be written: %s", journal->path, strerror(errno));
    free(line);
    return ok;
}

void journal_close(Journal *journal, bool done)
{
    if (done && journal->fd >= 0) unlink(journal->path);
    if (journal->fd >= 0) close(journal->fd);
    free(journal->path);
    *journal = (Journal){.fd = -1};
}
