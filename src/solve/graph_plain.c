/* The inner loops of graph.c for one vector unit. */
#include "solve/graph_lanes.h"

const sti_GraphCode sti_graph_plain = STI_GRAPH_CODE;
