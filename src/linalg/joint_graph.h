/* linalg/joint_graph.h -- which joint rows touch which blocks of A, and which blocks they connect.
 *
 * Columns of G that touch the same blocks of A form a group of at most six (a hinge has five, and six with a spring,
 * at any place in G). A link is a group and a block of A that it touches. Numbers are stored elsewhere, as small
 * dense blocks, one per link. Rows are numbered group by group; `row` has their numbers in the problem:
 *
 *     group J:  rows row_first[J] .. row_first[J+1]-1, the problem's row[row_first[J]] ...
 *               links link_first[J] .. link_first[J+1]-1;  link e goes to block link_block[e], its values,
 *               rows(J) x size(block) row-major, start at link_start[e]
 *
 * A mechanism is a set of blocks of A that groups (or off-diagonal entries of Cb) connect. A free
 * body is a mechanism without groups.
 *
 * From step to step only numbers change: the net is kept as long as the shape of A and the entries of G stay. */
#ifndef STI_NET_H
#define STI_NET_H

#include "base/base.h"

#include <stiction/problem.h>

typedef struct sti_Net {
    st_Allocator allocator;
    const st_Problem *problem;
    int64_t version; /* counts the nets that were built: the same number, the same net   */
    int n_groups, n_mechanisms;
    STI_ARRAY(int, block_of);        /* n_v: the block of A a velocity belongs to               */
    bool in_order;                   /* all rows are numbered as in the problem                 */
    STI_ARRAY(int, row);             /* n_l: the problem's number of a row ...                  */
    STI_ARRAY(int, place);           /* n_l: ... and back                                       */
    STI_ARRAY(int, group_of);        /* n_l: by row                                             */
    STI_ARRAY(int, row_first);       /* n_groups + 1                                            */
    STI_ARRAY(int64_t, link_first);  /* n_groups + 1                                            */
    STI_ARRAY(int, link_block);      /* by link; ascending within a group                       */
    STI_ARRAY(int64_t, link_start);  /* by link, and the end of all                             */
    STI_ARRAY(int64_t, user_first);  /* n_blocks + 1: the groups that touch a block, ascending  */
    STI_ARRAY(int, user_group);      /*                                                         */
    STI_ARRAY(int64_t, user_link);   /* and the link by which they do                           */
    STI_ARRAY(int64_t, cb_first);    /* n_l + 1: the nonzeros of Cb by the problem's rows       */
    STI_ARRAY(int, cb_column);       /* (columns in the numbering of the net) */
    STI_ARRAY(double, cb_value);     /*                                                         */
    STI_ARRAY(int, mechanism_of);    /* by block of A, then by group                            */
    STI_ARRAY(int, mechanism_first); /* n_mechanisms + 1: its blocks of A ...                   */
    STI_ARRAY(int, mechanism_block); /* ... ascending                                           */
    STI_ARRAY(int, group_first);     /* n_mechanisms + 1: its groups ...                        */
    STI_ARRAY(int, mechanism_group); /* ... ascending                                           */
    STI_ARRAY(int, all);             /* 0, 1, 2 ...: the blocks, or groups, of the whole system */
    STI_ARRAY(int, above);           /* union-find over blocks of A, then groups                */
    STI_ARRAY(int64_t, slot);        /* work, by block of A or group                            */
    STI_ARRAY(int, bucket);          /* work: groups by the hash of their blocks, counted from 1 */
    bool known, coupled;             /* there is a net; Cb has entries beside its diagonal      */
    int n_blocks;                    /* the shape that it was built for: A.n_blocks, n_l, A.first, G.p, G.i */
    int n_l;
    STI_ARRAY(int, first);
    STI_ARRAY(int64_t, p);
    STI_ARRAY(int, i);
} sti_Net;

/* Starts as {.allocator = ...}. The problem must stay alive. */
st_Status sti_net_build(sti_Net *net, const st_Problem *problem, st_Error *err);
void sti_net_release(sti_Net *net);

/* Union-find: the leader of the set of a node, and the union of two sets. The smaller number leads, so the result does
 * not depend on the order. */
static inline int sti_leader(int *above, int node)
{
    while (above[node] != node)
        node = above[node] = above[above[node]]; /* halve the path on the way */
    return node;
}

static inline void sti_join(int *above, int a, int b)
{
    a = sti_leader(above, a), b = sti_leader(above, b);
    if (a < b) above[b] = a;
    if (b < a) above[a] = b;
}

static inline int sti_net_block_size(const sti_Net *net, int block)
{
    return net->problem->A.first[block + 1] - net->problem->A.first[block];
}

static inline int sti_net_group_rows(const sti_Net *net, int group)
{
    return net->row_first[group + 1] - net->row_first[group];
}

/* The nonzeros of Cb in a row: entries from the number returned to *end - 1. */
static inline int64_t sti_net_compliance(const sti_Net *net, int row, int64_t *end)
{
    *end = net->cb_first[net->row[row] + 1];
    return net->cb_first[net->row[row]];
}

/* Does the mechanism of this block of A have joints at all? */
static inline bool sti_net_is_free(const sti_Net *net, int block)
{
    const int mechanism = net->mechanism_of[block];
    return net->group_first[mechanism + 1] == net->group_first[mechanism];
}

#endif
