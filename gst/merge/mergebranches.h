/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergebranches: what concerns all pads of a boxmerge at once. Any thread. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Initializes a GstChildProxyInterface whose children are the sink pads of the element, so that
 * launch lines can set their properties. */
void merge_branches_init_proxy (gpointer iface, gpointer data);

/* Sets a field of `stats` for each branch, named after its pad: a structure of its counts. */
void merge_branches_add_stats (GstElement *element, GstStructure *stats);

/* Sets the counts of all branches to 0. Posts an error and returns FALSE if a property of one is
 * malformed. */
gboolean merge_branches_start (GstElement *element);

/* Returns the pad `main` and the pads of branches that do not come from its source, so that a seek
 * reaches each source once. */
GstIterator *merge_branches_iterate_sources (GstElement *element, GstPad *main);

G_END_DECLS
