/* import/color.c -- colours of robot files: the element of a shape may have one. If it has none, the shape gets the
 * first colour of its link's parts that are only for display. Wrong colours are ignored: they change no motion. */
#include "base/base.h"
#include "import/mjcf.h"

#include <math.h>

/* Reads "r g b" or "r g b a", each from 0 to 1. */
static bool read_rgba(const char *text, double rgba[4])
{
    int n = 0;
    rgba[3] = 1;
    while (text != NULL && n < 4 && sti_next_number(&text, &rgba[n]))
        n++;
    return n >= 3;
}

static uint32_t packed(const double rgba[4])
{
    uint32_t out = 0;
    for (int k = 0; k < 4; k++)
        out = out << 8 | (uint32_t)lround(255 * fmin(1, fmax(0, rgba[k])));
    return out != 0 ? out : 1;
}

uint32_t sti_color_of(const char *text)
{
    double rgba[4];
    return read_rgba(text, rgba) ? packed(rgba) : 0;
}

/* `rgba`, else that of the material times the first colour of its texture. */
uint32_t sti_mjcf_color(const sti_Mjcf *m, const sti_Element *geom)
{
    const char *own = sti_mjcf_text(m, geom, "rgba"), *name = sti_mjcf_text(m, geom, "material");
    if (own != NULL || name == NULL) return sti_color_of(own);
    const sti_Element *material = sti_mjcf_asset(m, "material", name);
    if (material == NULL) return 0;
    const char *text = sti_mjcf_text(m, material, "rgba"), *texture = sti_mjcf_text(m, material, "texture");
    const sti_Element *image = texture != NULL ? sti_mjcf_asset(m, "texture", texture) : NULL;
    double rgba[4] = {1, 1, 1, 1}, of_image[4];
    if (text != NULL && !read_rgba(text, rgba)) return 0;
    if (image != NULL && read_rgba(sti_mjcf_text(m, image, "rgb1"), of_image))
        for (int k = 0; k < 3; k++)
            rgba[k] *= of_image[k];
    return text != NULL || image != NULL ? packed(rgba) : 0;
}

/* The colour of <material>, or that of the material of its name elsewhere in the robot. */
uint32_t sti_urdf_color(const sti_Element *root, const sti_Element *visual)
{
    const sti_Element *material = sti_child(visual, "material");
    const char *name = material != NULL ? sti_attribute(material, "name") : NULL;
    const sti_Element *color = material != NULL ? sti_child(material, "color") : NULL;
    if (color != NULL) return sti_color_of(sti_attribute(color, "rgba"));
    if (name == NULL || name[0] == '\0') return 0;
    for (const sti_Element *at = root->first; at != NULL; at = at->next)
        for (const sti_Element *part = at->first; part != NULL || sti_element_is(at, "material");
             part = part != NULL ? part->next : NULL) {
            const sti_Element *other = sti_element_is(at, "material") ? at : sti_child(part, "material");
            const char *its = other != NULL ? sti_attribute(other, "name") : NULL;
            color = other != NULL ? sti_child(other, "color") : NULL;
            if (color != NULL && its != NULL && strcmp(its, name) == 0)
                return sti_color_of(sti_attribute(color, "rgba"));
            if (other == at) break;
        }
    return 0;
}
