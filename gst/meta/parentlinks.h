/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parentlinks: which box is a part of which other one, as indices in the same array. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sets the parent index of each box from its parent id. If several regions have one id,
 * the first of them is the parent. `boxes` is a GArray of Box. */
void parent_links_find (GArray *boxes);

/* Removes the parents of the boxes on a ring, a chain of parents that leads back to its
 * first box. */
void parent_links_break_rings (GArray *boxes);

G_END_DECLS
