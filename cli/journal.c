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

/* Reads one line, ended by a zero byte in place of its newline. False: it is no result of this study, or a known
 * one. */
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

/* Reads the results of an earlier run of the same study. -1: continue. */
static int read_journal(const Journal *journal, const char *first, char *text, size_t size, Result *results, int n_runs,
                        int n_outputs, int *n_done)
{
    if (strncmp(text, FIRST_LINE, size < strlen(FIRST_LINE) ? size : strlen(FIRST_LINE)) != 0)
        return complain(STATUS_INPUT, "%s: exists and is not part of a parameter study: rename or remove it",
                        journal->path);
    char *newline = strchr(text, '\n');
    if (newline == NULL)
        return ftruncate(journal->fd, 0) == 0 ? -1 : damaged(journal, 1); /* cut off in its first line */
    if (strncmp(text, first, strlen(first)) != 0)
        return complain(STATUS_INPUT,
                        "%s: has results of another study: the scene, the values, the outputs or the version differ; "
                        "--fresh discards them",
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

static char *path_of(const Journal *journal, int rank)
{
    const size_t room = strlen(journal->table) + 40;
    char *path = malloc(room);
    if (path != NULL && rank == 0) snprintf(path, room, "%s.partial", journal->table);
    if (path != NULL && rank > 0) snprintf(path, room, "%s.partial-%d", journal->table, rank);
    return path;
}

/* Reads the results of another rank. False: it is still running, or unknown. */
static bool read_other(const Journal *journal, int rank, Result *results, int n_runs, int n_outputs, int *n_done)
{
    size_t size = 0;
    char *path = path_of(journal, rank);
    const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool ended = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0; /* checked before it is read */
    char *text = fd >= 0 ? read_whole(path, (size_t)1 << 32, &size) : NULL;
    if (text != NULL && size > 0 && strncmp(text, journal->first, strlen(journal->first)) == 0) {
        char *at = strchr(text, '\n') + 1, *newline;
        for (; (newline = strchr(at, '\n')) != NULL; at = newline + 1) {
            *newline = '\0';
            *n_done += read_result(at, results, n_runs, n_outputs);
        }
    }
    free(text);
    if (fd >= 0) close(fd);
    free(path);
    return ended;
}

bool journal_gather(const Journal *journal, Result *results, int n_runs, int n_outputs, int *n_done)
{
    bool ended = true;
    for (int k = 0; k < journal->ranks.size; k++)
        if (k != journal->ranks.rank) ended = read_other(journal, k, results, n_runs, n_outputs, n_done) && ended;
    return ended;
}

int journal_open(Journal *journal, const char *table, uint64_t fingerprint, Ranks ranks, Result *results, int n_runs,
                 int n_outputs, bool fresh, int *n_done)
{
    size_t size = 0;
    *n_done = 0;
    snprintf(journal->first, sizeof journal->first, FIRST_LINE "%016llx %d %d\n", (unsigned long long)fingerprint,
             n_runs, n_outputs);
    journal->ranks = ranks;
    journal->table = strdup(table);
    journal->path = journal->table != NULL ? path_of(journal, ranks.rank) : NULL;
    if (journal->path == NULL) return complain(STATUS_FAILED, "out of memory");
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0) return complain(STATUS_INPUT, "%s: cannot be written: %s", journal->path, strerror(errno));
    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0)
        return complain(STATUS_INPUT, "%s: another process works on this study", journal->path);
    char *text = read_whole(journal->path, (size_t)1 << 32, &size);
    if (text == NULL) return complain(STATUS_INPUT, "%s: cannot be read: %s", journal->path, strerror(errno));
    int status = -1;
    if (fresh && strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) == 0) size = ftruncate(journal->fd, 0) == 0 ? 0 : size;
    if (size > 0) status = read_journal(journal, journal->first, text, size, results, n_runs, n_outputs, n_done);
    free(text);
    const size_t length = strlen(journal->first);
    const bool empty = lseek(journal->fd, 0, SEEK_END) == 0;
    if (status < 0 && empty && write(journal->fd, journal->first, length) != (ssize_t)length)
        status = complain(STATUS_FAILED, "%s: cannot be written: %s", journal->path, strerror(errno));
    for (int k = 0; k < MOST_RANKS && status < 0; k++) { /* also of a study that had more ranks */
        char *path = k != ranks.rank ? path_of(journal, k) : NULL;
        const bool there = path != NULL && access(path, F_OK) == 0;
        if (there && fresh && ranks.rank == 0 && k >= ranks.size) unlink(path);
        if (there && !fresh) read_other(journal, k, results, n_runs, n_outputs, n_done);
        free(path);
        if (k >= ranks.size && !there) break;
    }
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
    for (int k = 1; done && k < MOST_RANKS; k++) { /* also those of the other ranks: the table has their results */
        char *path = path_of(journal, k);
        const bool gone = path == NULL || unlink(path) != 0;
        free(path);
        if (gone && k >= journal->ranks.size) break;
    }
    if (journal->fd >= 0) close(journal->fd);
    free(journal->path);
    free(journal->table);
    *journal = (Journal){.fd = -1};
}
