/* The inner loop of graph.c for one vector unit. */
#define SWEEP sti_graph_avx512
#include "solve/graph_lanes.h"
