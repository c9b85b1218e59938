/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzzregions: makes buffers with regions of interest of the input of a fuzzer, and compares
 * regions. Names come from fixed lists, because GLib keeps each new name until the process ends.
 */
#pragma once

#include <gst/video/video.h>

#include "fuzzbytes.h"

/* Returns a buffer of one byte with up to 40 regions. The same bytes make the same buffer. Each
 * structure of a region has the field "mark", which no element knows. */
GstBuffer *fuzz_regions_new (FuzzBytes *bytes);

/* Returns the regions on a buffer, in its order: an array of pointers to the metas. */
GPtrArray *fuzz_regions_of (GstBuffer *buffer);

/* Returns whether docs/metadata.md calls a region a detection. */
gboolean fuzz_regions_is_detection (const GstVideoRegionOfInterestMeta *roi);

/* Returns the state in the structure that action=tag wrote, NULL if it wrote none. Writes
 * suppressed-by, or -1. */
const gchar *fuzz_regions_state (const GstVideoRegionOfInterestMeta *roi, gint *suppressed_by);

/* Returns whether two regions have the same label, place, ids and structures, but for the
 * structures "nms" if `tagged`. NaN equals NaN. */
gboolean fuzz_regions_equal (const GstVideoRegionOfInterestMeta *a,
    const GstVideoRegionOfInterestMeta *b, gboolean tagged);
