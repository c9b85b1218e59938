/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergepad: the pads sink_%u of boxmerge, one for each branch: properties, the buffer that
 * belongs to the present main buffer, and its boxes. Unless stated otherwise, functions are
 * called by the thread of the element's source pad.
 */
#pragma once

#include <gst/base/gstaggregator.h>

#include "mergematch.h"
#include "mergestats.h"
#include "meta/boxmeta.h"

G_BEGIN_DECLS

#define GST_TYPE_BOX_MERGE_PAD (merge_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxMergePad, merge_pad, GST, BOX_MERGE_PAD, GstAggregatorPad)

/* Takes the size of the picture from the caps of the branch. A new size ends the hold. */
void merge_pad_set_caps (GstBoxMergePad *self, const GstCaps *caps);

/* Returns the first buffer in the queue, to be unreffed, or NULL. */
GstBuffer *merge_pad_peek (GstBoxMergePad *self);

/* Selects the buffer for a main buffer: the first one that matches, or else a held one, or
 * none. Drops earlier buffers, and counts them in `total` too. Returns FALSE if all that was
 * queued was dropped and the branch has not ended, because a buffer that matches may still come
 * then. */
gboolean merge_pad_select (GstBoxMergePad *self, const MergeMoment *moment, MergeCounts *total);

/* Returns the selected buffer, to be unreffed, or NULL. */
GstBuffer *merge_pad_selected (GstBoxMergePad *self);

/* Appends the boxes of the selected buffer to `*main`, a buffer with a frame of width x height
 * (0: unknown), which is made writable if there are any, and forgets the selection. Returns
 * FALSE, with a text to be freed in `error`, if the place of the branch is unknown. `reading` is
 * used for working space. Counts in `total` too. */
gboolean merge_pad_merge (GstBoxMergePad *self, GstBuffer **main, gint width, gint height,
    BoxMetaReading *reading, MergeCounts *total, gchar **error);

/* The queue of the pad is locked while a buffer is peeked or dropped, and has to be locked while
 * the pad is released: there GstAggregator unrefs the buffer that was peeked last without its own
 * lock (GStreamer 1.22), while the thread of the source pad may be dropping it. Any thread. */
void merge_pad_lock_queue (GstBoxMergePad *self);
void merge_pad_unlock_queue (GstBoxMergePad *self);

/* Returns the statistics of the pad as a structure named after it, to be freed. Any thread. */
GstStructure *merge_pad_stats (GstBoxMergePad *self);

/* Sets all counts to 0. Posts an error and returns FALSE if a property is malformed. Called while
 * the thread of the source pad is stopped. */
gboolean merge_pad_start (GstBoxMergePad *self);

G_END_DECLS
