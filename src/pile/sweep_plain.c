/* The kernels of a pile (pile.h) for one vector unit. */
#include "pile/sweep_lanes.h"

const sti_GraphCode sti_graph_plain = STI_GRAPH_CODE;
