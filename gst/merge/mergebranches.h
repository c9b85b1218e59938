/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergebranches: what concerns all pads of a boxmerge at once. Any thread. */
#pragma once

#include <gst/gst.h>

#include "mergestats.h"

G_BEGIN_DECLS

/* Initializes a GstChildProxyInterface whose children are the sink pads of the element, so that
 * launch lines can set their properties. */
void merge_branches_init_proxy (gpointer iface, gpointer data);

/* Returns the statistics of the element, to be freed. `released` are the counts of pads that it
 * has no more; both they and `frames` are read under its object lock. */
GstStructure *merge_branches_stats (GstElement * element, const MergeCounts * released,
    const guint64 * frames);

/* Sets the counts of all branches to 0. */
void merge_branches_start (GstElement * element);

G_END_DECLS
