/* math/product.h -- products of small dense blocks, row-major, for joints. */
#ifndef STI_PRODUCT_H
#define STI_PRODUCT_H

#include "base/base.h"

/* C += sign X Y', sign being 1 or -1: X rows x inner, Y cols x inner, C rows x cols with rows `stride` apart. Each
 * entry of X Y' is summed in the order of pair_dot and then added. */
void sti_product_add(double sign, const double *X, int rows, const double *Y, int cols, int inner, double *C,
                     int64_t stride);

#endif
