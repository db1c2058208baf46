/* import/mjcf_hfield.c -- height fields of MJCF: a grid of elevations, from numbers in the file, a PNG image or
 * MuJoCo's binary files.
 *
 * size is rx ry top base: the grid covers -rx .. rx and -ry .. ry, elevations are scaled to 0 .. top, and the solid
 * reaches down to -base. With equal sample distances along x and y it becomes a height field of a scene, else a mesh
 * of the same triangles, closed by a floor. */
#include "import/mjcf.h"
#include "import/png.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

typedef struct Grid {
    int nx, ny;
    double *height; /* ny rows of nx, y increasing; malloc'd */
} Grid;

/* A 32-bit integer or float, lowest byte first. */
static uint32_t little(const unsigned char *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* MuJoCo's format: numbers of rows and columns, then floats; the first row has the smallest y. */
static st_Status read_binary(const sti_Mjcf *m, const sti_Element *at, const char *path, Grid *out)
{
    unsigned char head[8];
    int64_t rows = 0, columns = 0, n = 0;
    FILE *file = fopen(path, "rb");
    bool fine = file != NULL && fread(head, 1, 8, file) == 8;
    if (fine) rows = little(head), columns = little(head + 4);
    fine = fine && rows >= 2 && columns >= 2 && rows <= 1 << 24 && columns <= (1 << 24) / rows;
    if (fine) out->nx = (int)columns, out->ny = (int)rows;
    if (fine) out->height = calloc((size_t)(rows * columns), sizeof *out->height);
    for (; fine && out->height != NULL && n < rows * columns; n++) {
        if (fread(head, 1, 4, file) != 4) break;
        const uint32_t bits = little(head);
        float value;
        memcpy(&value, &bits, 4);
        if (!isfinite(value)) break;
        out->height[n] = value;
    }
    if (file != NULL) fclose(file);
    if (fine && out->height == NULL) return sti_robot_memory(m->robot);
    if (fine && n == rows * columns) return ST_OK;
    return sti_element_fail(m->robot->err, at,
                            "\"%.120s\" must be a PNG image, or two integers, rows and columns, and that many finite "
                            "floats",
                            path);
}

static st_Status read_grid(const sti_Mjcf *m, const sti_Element *at, Grid *out)
{
    const char *file = sti_attribute(at, "file"), *type = sti_attribute(at, "content_type");
    const char *text = sti_attribute(at, "elevation");
    if (file == NULL) {
        double rows = 0, columns = 0;
        STI_TRY(sti_numbers(m->robot->err, at, "nrow", 1, true, &rows));
        STI_TRY(sti_numbers(m->robot->err, at, "ncol", 1, true, &columns));
        if (!(rows >= 2 && columns >= 2 && rows * columns <= 1 << 24))
            return sti_element_fail(
                m->robot->err, at, "nrow and ncol are %g and %g, must be at least 2 each, and nrow x ncol at most 2^24",
                rows, columns);
        out->nx = (int)columns, out->ny = (int)rows;
        out->height = calloc((size_t)out->nx * (size_t)out->ny, sizeof *out->height);
        if (out->height == NULL) return sti_robot_memory(m->robot);
        if (text == NULL) return ST_OK;        /* flat, to be filled by a program */
        for (int y = out->ny - 1; y >= 0; y--) /* the first row of the text has the largest y */
            for (int x = 0; x < out->nx; x++)
                if (!sti_next_number(&text, &out->height[(size_t)y * (size_t)out->nx + (size_t)x]))
                    return sti_element_fail(m->robot->err, at, "elevation must be nrow x ncol = %d numbers",
                                            out->nx * out->ny);
        return ST_OK;
    }
    char path[1024], whole[4096];
    const char *dot = strrchr(file, '.');
    st_Error why = {0};
    double *pixels;
    STI_TRY(sti_mjcf_asset_path(m, at, path, sizeof path));
    STI_TRY(sti_robot_whole_path(m->robot, at, path, whole, sizeof whole));
    const bool png = type != NULL ? strcmp(type, "image/png") == 0 : dot != NULL && strcasecmp(dot, ".png") == 0;
    if (!png) return read_binary(m, at, whole, out);
    if (sti_png_read(whole, &out->nx, &out->ny, &pixels, &why) != ST_OK)
        return sti_element_fail(m->robot->err, at, "%.200s", why.message);
    out->height = malloc((size_t)out->nx * (size_t)out->ny * sizeof *out->height);
    for (int y = 0; y < out->ny && out->height != NULL; y++) /* the top row of an image has the largest y */
        memcpy(out->height + (size_t)y * (size_t)out->nx, pixels + (size_t)(out->ny - 1 - y) * (size_t)out->nx,
               (size_t)out->nx * sizeof *pixels);
    free(pixels);
    return out->height != NULL ? ST_OK : sti_robot_memory(m->robot);
}

static json_t *with_square(json_t *list, int a, int b, int c, int d) /* counter-clockwise from outside */
{
    list = sti_append_to(list, json_pack("[i, i, i]", a, b, c));
    return sti_append_to(list, json_pack("[i, i, i]", a, c, d));
}

/* The points of the top, then the same points on the floor. */
static json_t *mesh_json(int nx, int ny, const double *height, double dx, double dy, double base)
{
    json_t *points = json_array(), *list = json_array();
    const int n = nx * ny;
    for (int level = 0; level < 2; level++)
        for (int k = 0; k < n; k++) {
            const int x = k % nx, y = k / nx;
            points = sti_append_to(points, json_pack("[f, f, f]", dx * (x - 0.5 * (nx - 1)), dy * (y - 0.5 * (ny - 1)),
                                                     level == 0 ? height[k] : -base));
        }
    for (int y = 0; y + 1 < ny; y++)
        for (int x = 0; x + 1 < nx; x++) {
            const int a = y * nx + x, b = a + 1, d = a + nx, c = d + 1;
            list = with_square(list, a, b, c, d);
            list = with_square(list, n + d, n + c, n + b, n + a);
        }
    for (int x = 0; x + 1 < nx; x++) {
        const int a = x, b = x + 1, c = (ny - 1) * nx + x, d = c + 1;
        list = with_square(list, n + a, n + b, b, a);
        list = with_square(list, n + d, n + c, c, d);
    }
    for (int y = 0; y + 1 < ny; y++) {
        const int a = y * nx, b = a + nx, c = a + nx - 1, d = c + nx;
        list = with_square(list, n + b, n + a, a, b);
        list = with_square(list, n + c, n + d, d, c);
    }
    json_t *json = sti_with(json_pack("{s:s}", "type", "mesh"), "points", points);
    return sti_with(json, "triangles", list);
}

json_t *sti_height_json(int nx, int ny, const double *height, double dx, double dy, double base)
{
    if (!(fabs(dx - dy) <= 1e-6 * dx)) return mesh_json(nx, ny, height, dx, dy, base);
    json_t *rows = json_array();
    for (int y = 0; y < ny; y++) {
        json_t *row = json_array();
        for (int x = 0; x < nx; x++)
            row = sti_append_to(row, json_real(height[(size_t)y * (size_t)nx + (size_t)x]));
        rows = sti_append_to(rows, row);
    }
    return sti_with(json_pack("{s:s, s:f}", "type", "height-field", "spacing", dx), "heights", rows);
}

st_Status sti_mjcf_hfield(const sti_Mjcf *m, const sti_Element *geom, json_t **out)
{
    const sti_Element *holder = sti_mjcf_holder(m, geom, "hfield"), *at = NULL;
    const char *name = holder != NULL ? sti_attribute(holder, "hfield") : NULL;
    double size[4], low = INFINITY, high = -INFINITY;
    Grid grid = {0};
    if (name == NULL)
        return sti_element_fail(m->robot->err, geom, "is a height field, but its attribute hfield is missing");
    at = sti_mjcf_asset(m, "hfield", name);
    if (at == NULL)
        return sti_element_fail(m->robot->err, holder, "hfield is \"%.60s\", there is no asset of that name", name);
    STI_TRY(sti_mjcf_check(m, at, "name file nrow ncol size elevation content_type", ""));
    STI_TRY(sti_numbers(m->robot->err, at, "size", 4, true, size));
    for (int k = 0; k < 4; k++)
        if (!(size[k] > 0)) return sti_element_fail(m->robot->err, at, "size has %g, must be numbers > 0", size[k]);
    st_Status status = read_grid(m, at, &grid);
    for (int k = 0; k < grid.nx * grid.ny && status == ST_OK; k++)
        low = fmin(low, grid.height[k]), high = fmax(high, grid.height[k]);
    for (int k = 0; k < grid.nx * grid.ny && status == ST_OK; k++)
        grid.height[k] = high > low ? size[2] * (grid.height[k] - low) / (high - low) : 0;
    if (status == ST_OK) {
        *out = sti_height_json(grid.nx, grid.ny, grid.height, 2 * size[0] / (grid.nx - 1), 2 * size[1] / (grid.ny - 1),
                               size[3]);
        if (*out == NULL) status = sti_robot_memory(m->robot);
    }
    free(grid.height);
    return status;
}
