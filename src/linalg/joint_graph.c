/* joint_graph.c -- grouping of joint rows and the mechanisms they form; no numbers but those of Cb. */
#include "linalg/joint_graph.h"

#define MAX_GROUP_ROWS 6

#define GROW(name, n) STI_TRY(STI_GROW(&net->allocator, net->name, net->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&net->allocator, net->name, net->name##_size)

void sti_net_release(sti_Net *net)
{
    RELEASE(block_of);
    RELEASE(row);
    RELEASE(place);
    RELEASE(group_of);
    RELEASE(row_first);
    RELEASE(link_first);
    RELEASE(link_block);
    RELEASE(link_start);
    RELEASE(user_first);
    RELEASE(user_group);
    RELEASE(user_link);
    RELEASE(cb_first);
    RELEASE(cb_column);
    RELEASE(cb_value);
    RELEASE(above);
    RELEASE(mechanism_of);
    RELEASE(mechanism_first);
    RELEASE(mechanism_block);
    RELEASE(group_first);
    RELEASE(mechanism_group);
    RELEASE(all);
    RELEASE(slot);
    RELEASE(bucket);
    RELEASE(first);
    RELEASE(p);
    RELEASE(i);
}

/* The bucket of the last group with the links at `links`, or the free one where it belongs. There are twice as many
 * buckets as rows, a power of two.                                                                */
static int *find_bucket(const sti_Net *net, int64_t links, int64_t count, uint32_t n_buckets)
{
    uint32_t at = 0;
    for (int64_t k = 0; k < count; k++)
        at = (at ^ (uint32_t)net->link_block[links + k]) * 0x9e3779b1u;
    for (at = (at >> 7) & (n_buckets - 1);; at = (at + 1) & (n_buckets - 1)) {
        const int J = net->bucket[at] - 1;
        if (J < 0) return &net->bucket[at];
        if (net->link_first[J + 1] - net->link_first[J] == count &&
            (count == 0 || memcmp(net->link_block + net->link_first[J], net->link_block + links,
                                  (size_t)count * sizeof *net->link_block) == 0))
            return &net->bucket[at];
    }
}

/* Each row into a group with room that has its links: place[row] is the group, row_first[J + 1] counts. */
static st_Status form_groups(sti_Net *net, st_Error *err)
{
    const int n_l = net->problem->n_l;
    uint32_t n_buckets = 2;
    while (n_buckets < 2 * (uint32_t)n_l)
        n_buckets *= 2;
    GROW(place, n_l);
    GROW(row_first, n_l + 1);
    GROW(link_first, n_l + 1);
    GROW(bucket, (int64_t)n_buckets);
    memset(net->bucket, 0, n_buckets * sizeof *net->bucket);
    net->n_groups = 0;
    net->link_first[0] = 0;
    net->row_first[0] = 0;
    for (int j = 0; j < n_l; j++) {
        int64_t count = 0;
        const int64_t end = net->link_first[net->n_groups];

        /* The blocks of A that column j of G touches, ascending, without repeats, appended at link_block[end].
         * Entries mostly come sorted, so the insertion rarely moves anything. */
        const st_Sparse *G = &net->problem->G;
        GROW(link_block, end + G->p[j + 1] - G->p[j]);
        count = 0;
        for (int64_t e = G->p[j]; e < G->p[j + 1]; e++) {
            const int block = net->block_of[G->i[e]];
            int64_t at = end + count;
            while (at > end && net->link_block[at - 1] > block)
                at--;
            if (at > end && net->link_block[at - 1] == block) continue;
            memmove(net->link_block + at + 1, net->link_block + at,
                    (size_t)(end + count - at) * sizeof *net->link_block);
            net->link_block[at] = block;
            ++count;
        }
        int *bucket = find_bucket(net, end, count, n_buckets);
        if (*bucket == 0 || net->row_first[*bucket] == MAX_GROUP_ROWS) {
            *bucket = ++net->n_groups;
            net->link_first[net->n_groups] = end + count;
            net->row_first[net->n_groups] = 0;
        }
        net->row_first[*bucket]++;
        net->place[j] = *bucket - 1;
    }
    return ST_OK;
}

/* The nonzeros of Cb by the problem's rows. *coupled: some are beside the diagonal. */
static st_Status list_compliance(sti_Net *net, bool *coupled, st_Error *err)
{
    const st_BlockDiag *Cb = &net->problem->Cb;
    int64_t end = 0, room = 0;
    *coupled = false;
    for (int k = 0; k < Cb->n_blocks; k++)
        room += (int64_t)(Cb->first[k + 1] - Cb->first[k]) * (Cb->first[k + 1] - Cb->first[k]);
    GROW(cb_column, room);
    GROW(cb_value, room);
    GROW(cb_first, net->problem->n_l + 1);
    memset(net->cb_first, 0, (size_t)(net->problem->n_l + 1) * sizeof *net->cb_first);
    const double *x = Cb->x;
    for (int k = 0; k < Cb->n_blocks; k++) {
        const int size = Cb->first[k + 1] - Cb->first[k];
        for (int a = 0; a < size; a++, x += size) {
            for (int b = 0; b < size; b++) {
                if (x[b] == 0.0) continue;
                *coupled = *coupled || a != b;
                net->cb_column[end] = net->place[Cb->first[k] + b];
                net->cb_value[end++] = x[b];
            }
            net->cb_first[Cb->first[k] + a + 1] = end;
        }
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ mechanisms */

/* Number the mechanisms and sort members of one kind (nodes from .. to-1) by them. */
static void list_members(const sti_Net *net, int from, int to, int *first, int *member)
{
    for (int k = 0; k <= net->n_mechanisms; k++)
        first[k] = 0;
    for (int node = from; node < to; node++)
        first[net->mechanism_of[node] + 1]++;
    for (int k = 0; k < net->n_mechanisms; k++)
        first[k + 1] += first[k];
    for (int node = from; node < to; node++)
        member[first[net->mechanism_of[node]]++] = node - from;
    for (int k = net->n_mechanisms; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
}

/* ------------------------------------------------------------------ kept from step to step */

static bool same_shape(const sti_Net *net, const st_Problem *p)
{
    const size_t n_l = (size_t)p->n_l;
    if (net->n_blocks != p->A.n_blocks || net->n_l != p->n_l) return false;
    if (p->A.n_blocks == 0) return true; /* nothing that could differ */
    if (memcmp(net->first, p->A.first, ((size_t)p->A.n_blocks + 1) * sizeof *net->first) != 0) return false;
    if (p->n_l == 0) return true;
    const size_t entries = (size_t)p->G.p[n_l]; /* 0: all rows are asleep, and there are no arrays */
    return memcmp(net->p, p->G.p, (n_l + 1) * sizeof *net->p) == 0 &&
           (entries == 0 || memcmp(net->i, p->G.i, entries * sizeof *net->i) == 0);
}

st_Status sti_net_build(sti_Net *net, const st_Problem *problem, st_Error *err)
{
    bool coupled, same = net->known && same_shape(net, problem);
    net->problem = problem;
    net->known = false; /* false until the net is complete */
    if (!same) {
        const st_Problem *p = net->problem;
        GROW(block_of, p->n_v);
        for (int k = 0; k < p->A.n_blocks; k++)
            for (int row = p->A.first[k]; row < p->A.first[k + 1]; row++)
                net->block_of[row] = k;
        STI_TRY(form_groups(net, err));

        /* Numbers the rows group by group, each group's as they come in the problem. */
        const int n_l = net->problem->n_l;
        GROW(row, n_l);
        GROW(group_of, n_l);
        for (int J = 0; J < net->n_groups; J++)
            net->row_first[J + 1] += net->row_first[J];
        net->in_order = true;
        for (int j = 0; j < n_l; j++) {
            const int J = net->place[j], at = net->row_first[J]++;
            net->group_of[at] = J;
            net->row[at] = j;
            net->place[j] = at;
            net->in_order = net->in_order && at == j;
        }
        for (int J = net->n_groups; J > 0; J--) /* numbering moved every first row to its group's end */
            net->row_first[J] = net->row_first[J - 1];
        net->row_first[0] = 0;
    }
    STI_TRY(list_compliance(net, &coupled, err));
    if (!same || coupled || net->coupled) {
        net->version++;
        net->coupled = coupled;
        GROW(slot, (int64_t)problem->A.n_blocks + net->n_groups);
        const int n_blocks = problem->A.n_blocks, n_nodes = n_blocks + net->n_groups;
        const int64_t n_links = net->link_first[net->n_groups];

        /* The place of the values of each link. */
        int64_t values = 0;
        GROW(link_start, n_links + 1);
        for (int J = 0; J < net->n_groups; J++)
            for (int64_t e = net->link_first[J]; e < net->link_first[J + 1]; e++) {
                net->link_start[e] = values;
                values += (int64_t)sti_net_group_rows(net, J) * sti_net_block_size(net, net->link_block[e]);
            }
        net->link_start[n_links] = values;

        /* The links by block of A: the groups that touch it. */
        GROW(user_first, n_blocks + 1);
        GROW(user_group, n_links);
        GROW(user_link, n_links);
        memset(net->user_first, 0, (size_t)(n_blocks + 1) * sizeof *net->user_first);
        for (int64_t e = 0; e < n_links; e++)
            net->user_first[net->link_block[e] + 1]++;
        for (int k = 0; k < n_blocks; k++) {
            net->user_first[k + 1] += net->user_first[k];
            net->slot[k] = net->user_first[k];
        }
        for (int J = 0; J < net->n_groups; J++)
            for (int64_t e = net->link_first[J]; e < net->link_first[J + 1]; e++) {
                const int64_t at = net->slot[net->link_block[e]]++;
                net->user_group[at] = J;
                net->user_link[at] = e;
            }

        /* Mechanisms: blocks that links and compliance connect. */
        GROW(above, n_nodes);
        GROW(mechanism_of, n_nodes);
        for (int node = 0; node < n_nodes; node++)
            net->above[node] = node;
        for (int J = 0; J < net->n_groups; J++)
            for (int64_t e = net->link_first[J]; e < net->link_first[J + 1]; e++)
                sti_join(net->above, n_blocks + J, net->link_block[e]);
        for (int row = 0; row < net->problem->n_l; row++) {
            int64_t end;
            for (int64_t e = sti_net_compliance(net, row, &end); e < end; e++)
                sti_join(net->above, n_blocks + net->group_of[row], n_blocks + net->group_of[net->cb_column[e]]);
        }
        net->n_mechanisms = 0;
        for (int node = 0; node < n_nodes; node++) { /* leaders come before their followers */
            const int leader = sti_leader(net->above, node);
            net->mechanism_of[node] = leader == node ? net->n_mechanisms++ : net->mechanism_of[leader];
        }
        GROW(mechanism_first, net->n_mechanisms + 1);
        GROW(mechanism_block, n_blocks);
        GROW(group_first, net->n_mechanisms + 1);
        GROW(mechanism_group, net->n_groups);
        GROW(all, n_nodes);
        list_members(net, 0, n_blocks, net->mechanism_first, net->mechanism_block);
        list_members(net, n_blocks, n_nodes, net->group_first, net->mechanism_group);
        for (int k = 0; k < n_nodes; k++)
            net->all[k] = k;

        /* The shape that all of this belongs to. */
        net->n_blocks = n_blocks;
        net->n_l = problem->n_l;
        if (n_blocks > 0) {
            GROW(first, n_blocks + 1);
            memcpy(net->first, problem->A.first, ((size_t)n_blocks + 1) * sizeof *net->first);
        }
        if (n_blocks > 0 && problem->n_l > 0) {
            const int64_t entries = problem->G.p[problem->n_l];
            GROW(p, problem->n_l + 1);
            GROW(i, entries);
            memcpy(net->p, problem->G.p, ((size_t)problem->n_l + 1) * sizeof *net->p);
            if (entries > 0) memcpy(net->i, problem->G.i, (size_t)entries * sizeof *net->i);
        }
    }
    net->known = true;
    return ST_OK;
}
