#include "command.h"

#include <string.h>

#define LONGEST 63

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1. */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int row[3][LONGEST + 1]; /* the last three rows of the table, by i modulo 3 */
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int cost = a[i - 1] != b[j - 1];
            now[j] = least(least(before[j] + 1, now[j - 1] + 1), before[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

const char *suggest(const char *word, const char *const *candidates, int count)
{
    const char *best = NULL;
    /* A third of the letters may differ: "exmaple" finds "examples", "foo" finds nothing. */
    int limit = (int)strlen(word) / 3 + 1, best_distance = limit + 1;
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, candidates[i]);
        if (distance < best_distance) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}
