/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxfilter: the abstract element of nmsfilter, boxselect and boxsteady. It processes a
 * buffer: reads the boxes, lets the element decide their states, removes or tags those that are
 * dropped, lets the element add boxes, and counts them, in single buffers and in batches. It has
 * the properties action and stats, and presets.
 */
#pragma once

#include <gst/base/gstbasetransform.h>

#include "boxdecision.h"
#include "meta/boxmeta.h"

G_BEGIN_DECLS

/* The counters of a stream, or of all. */
typedef struct
{
  guint64 frames;
  guint64 boxes_in;                  /* the sum of by_state */
  guint64 boxes_out;                 /* boxes that are kept or not selected */
  guint64 by_state[BOX_STATE_COUNT]; /* boxes in each state; BOX_STATE_NONE if not selected */
  guint64 unscored, lower_ranked;    /* as in BoxCounts, of kept and dropped boxes */
  guint64 by_other_class, added, confirmed, restarts; /* as in BoxCounts */
  guint64 time;                                       /* ns spent on the buffers */
} FilterStats;

/* The buffer, or the buffer of a batch, that is being processed. */
typedef struct
{
  GstBuffer *buffer;  /* must not change while it is decided */
  gint width, height; /* size of the frame, in pixels; 0 if unknown */
  const GstSegment *segment;
  GArray *boxes; /* elements: Box, read by box_filter_read; `decide` writes their states */
  GstNmsAction action;
  gpointer stream;  /* what stream_new of the class returned for its stream */
  BoxCounts counts; /* written by `decide` */
} BoxFilterFrame;

#define GST_TYPE_BOX_FILTER (gst_box_filter_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstBoxFilter, gst_box_filter, GST, BOX_FILTER, GstBaseTransform)

struct _GstBoxFilterClass
{
  GstBaseTransformClass parent_class;

  /* Reads the boxes by box_filter_read, decides their states and writes frame->counts. Runs in the
   * floating-point mode of the core, because reading computes with coordinates, as the core does,
   * and other code in the process may have set another mode. Posts an error message unless it
   * returns GST_FLOW_OK or GST_FLOW_FLUSHING. */
  GstFlowReturn (*decide) (GstBoxFilter *self, BoxFilterFrame *frame);

  /* Set and get a property of the element other than stats. If `started` is TRUE, a value that
   * cannot be used is refused (see filter_settings_set). `set` returns NULL or the reason for the
   * refusal, a sentence to be freed. These two and `error` are called with the object lock. */
  gchar *(*set) (GstBoxFilter *self, guint id, const GValue *value, gboolean started);
  void (*get) (GstBoxFilter *self, guint id, GValue *value);

  /* Returns a sentence that says why the properties cannot be used, to be freed, or NULL if they
   * can. The pointer is NULL if they always can. */
  gchar *(*error) (GstBoxFilter *self);

  const gchar *stats_name; /* name of the structure in the property stats */

  /* Writes the fields of stats except frames, boxes-in, boxes-out and time, which all have. */
  void (*describe_stats) (const FilterStats *stats, GstStructure *structure);

  /* Adds frame->counts.added boxes to the writable buffer after the other boxes were changed. The
   * pointer is NULL if the element adds none. */
  void (*add) (GstBoxFilter *self, const BoxFilterFrame *frame, GstBuffer *buffer);

  /* Allocate and free the element's data of a stream, and handle an event of the stream. NULL if
   * the element has no such data. */
  gpointer (*stream_new) (void);
  GDestroyNotify stream_free;
  void (*event) (gpointer stream, GstEvent *event);
};

/* Lets `set` and `get` of the element handle the properties that it installs afterwards; GObject
 * does not inherit set_property and get_property. */
void box_filter_handle_properties (GObjectClass *object_class);

/* Installs the property stats. `text` is static. */
void box_filter_install_stats (GObjectClass *object_class, guint id, const gchar *text);

/* Reads the boxes of the frame with these BoxReadFlags and returns their number. */
guint box_filter_read (GstBoxFilter *self, BoxFilterFrame *frame, guint flags);

/* Calls `look` with a buffer whose boxes will be decided later. The floating-point mode is that in
 * which `decide` runs. If buffers are batches, does nothing and returns FALSE. */
gboolean box_filter_look (GstBoxFilter *self, GstBuffer *buffer,
    void (*look) (GstBoxFilter *self, BoxFilterFrame *frame));

/* Adds the fields of stats to a structure. Call with the object lock. */
void box_filter_add_stats (GstBoxFilter *self, GstStructure *structure);

G_END_DECLS
