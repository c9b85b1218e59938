/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergepad: the pads sink_%u of boxmerge, one for each branch: properties, the buffer that
 * belongs to the current main buffer, and its boxes. Unless stated otherwise, functions are
 * called by the thread of the element's source pad.
 */
#pragma once

#include <gst/base/gstaggregator.h>

#include "mergematch.h"
#include "meta/boxmeta.h"

G_BEGIN_DECLS

/* The counts of each branch and of all branches, which are guint64 fields of `stats`. */
typedef enum
{
  MERGE_IN,            /* buffers of branches: merged + too late + without match */
  MERGE_MERGED,        /* buffers whose boxes went to their main buffer */
  MERGE_HELD,          /* main buffers that got the boxes of an earlier buffer */
  MERGE_TOO_LATE,      /* buffers whose main buffer had left */
  MERGE_WITHOUT_MATCH, /* buffers without a main buffer of their time */
  MERGE_BOXES,         /* boxes added to main buffers */
  MERGE_COUNTS,
} MergeCount;

/* The counts in the description of `stats`. */
#define MERGE_COUNTS_TEXT \
  "in (buffers taken from a branch: merged + too-late + without-match), merged (whose boxes " \
  "were added to the main buffer of their time), held (main buffers that got the boxes of an " \
  "earlier buffer), too-late (their main buffer had left), without-match (no main buffer has " \
  "their time), boxes (added to main buffers)"

void merge_counts_add (guint64 counts[MERGE_COUNTS], const guint64 more[MERGE_COUNTS]);
void merge_counts_write (const guint64 counts[MERGE_COUNTS], GstStructure *structure);

/* A main buffer that gets the boxes of all branches. */
typedef struct
{
  MergeMoment moment;
  gboolean waiting;             /* a branch may still get the matching buffer */
  GstBuffer *buffer;            /* the main buffer; made writable if there are boxes */
  gint width, height;           /* frame size in pixels; 0 if it is unknown */
  BoxMetaReading *reading;      /* working space */
  guint64 counts[MERGE_COUNTS]; /* sums over all branches */
  gchar *error;                 /* NULL, or why the place of a branch is unknown, to be freed */
} MergeFrame;

#define GST_TYPE_BOX_MERGE_PAD (merge_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxMergePad, merge_pad, GST, BOX_MERGE_PAD, GstAggregatorPad)

/* Takes the size of the picture from the caps of the branch. A new size ends the hold. */
void merge_pad_set_caps (GstBoxMergePad *self, const GstCaps *caps);

/* Returns the first buffer in the queue, to be unreffed, or NULL. */
GstBuffer *merge_pad_peek (GstBoxMergePad *self);

/* Selects the buffer for a main buffer: the first one that matches, otherwise a held one,
 * otherwise NULL. Drops and counts earlier buffers. Sets `waiting` of the frame if that
 * empties the queue and the branch has not ended, because a matching buffer may still come. */
void merge_pad_select (GstBoxMergePad *self, MergeFrame *frame);

/* Returns the selected buffer, to be unreffed, or NULL. */
GstBuffer *merge_pad_selected (GstBoxMergePad *self);

/* Appends the boxes of the selected buffer to the main buffer, counts them, and forgets the
 * selection. Returns FALSE and sets the error of the frame if the place of the branch is
 * unknown. */
gboolean merge_pad_merge (GstBoxMergePad *self, MergeFrame *frame);

/* The queue of the pad is locked while a buffer is peeked or dropped, and has to be locked while
 * the pad is released: there GstAggregator unrefs the buffer that was peeked last without its own
 * lock (GStreamer 1.22), while the thread of the source pad may be dropping it. Any thread. */
void merge_pad_lock_queue (GstBoxMergePad *self);
void merge_pad_unlock_queue (GstBoxMergePad *self);

/* Sets all counts to 0. Posts an error and returns FALSE if a property is malformed. Called while
 * the thread of the source pad is stopped. */
gboolean merge_pad_start (GstBoxMergePad *self);

G_END_DECLS
