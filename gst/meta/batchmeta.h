/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * batchmeta: the frames inside of buffers with a GstAnalyticsBatchMeta (GStreamer 1.28), as
 * analyticscombiner makes them: buffers, buffer lists and events of one or more streams, each
 * with its own caps and segment.
 *
 *     BatchMeta *batch = batch_meta_new (owner, &funcs);
 *     gboolean batches = batch_meta_in_caps (caps);
 *     if (batches)
 *       flow = batch_meta_walk (batch, &buffer, segment);
 *
 * A stream is known by its number in the batches. Its state is kept from one batch to the next
 * one until batch_meta_reset. The owner of the state is an element or a pad. In a build
 * without this metadata batch_meta_in_caps returns FALSE.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A stream of the batches. Only the streaming thread changes it, and under the object lock of the
 * owner. */
typedef struct
{
  guint index;                      /* number of the stream in the batches */
  GstEvent *start, *caps, *segment; /* the last STREAM_START, CAPS and SEGMENT, or NULL */
  gint width, height;               /* frame size that the caps state; 0 if unknown */
  gpointer data;                    /* what stream_new returned; the owner guards it */
} BatchStream;

/* A buffer of a batch. */
typedef struct
{
  BatchStream *stream;
  GstBuffer *buffer;         /* read-only, see batch_meta_make_writable */
  guint position;            /* index among the stream's buffers in this batch, from 0 */
  const GstSegment *segment; /* the stream's segment, or the batch's if it has none */
  GstBuffer **batch;         /* the caller's pointer; updated if the batch is copied */

  /* private */
  gsize number, object; /* the places of the stream and of the object */
  guint item;           /* the place in a buffer list */
} BatchFrame;

typedef struct
{
  gpointer (*stream_new) (GstObject *owner); /* allocates the data of a stream; may be NULL */
  GDestroyNotify stream_free;                /* frees that data; NULL if stream_new is NULL */
  /* Called for each event of a stream: for a sticky one before the frames of the batch, unless
   * it is the same as in the batch before. May be NULL. */
  void (*event) (GstObject *owner, BatchStream *stream, GstEvent *event);
  /* Called for each buffer, in the order of streams and buffers. The walk ends with a result
   * other than GST_FLOW_OK. */
  GstFlowReturn (*frame) (GstObject *owner, BatchFrame *frame);
} BatchFuncs;

typedef struct _BatchMeta BatchMeta;

#ifdef HAVE_BATCH_META
/* Returns whether buffers of these caps are batches: caps with the feature
 * meta:GstAnalyticsBatchMeta. */
gboolean batch_meta_in_caps (const GstCaps *caps);

/* Appends the caps of batches to the caps of a pad template: those of a batch of several streams,
 * and for each structure in the caps those of a batch of one such stream. */
void batch_meta_append_caps (GstCaps *caps);

/* Makes and frees the state of all streams. `owner`, which is not referenced, and `funcs` outlive
 * it. */
BatchMeta *batch_meta_new (GstObject *owner, const BatchFuncs *funcs);
void batch_meta_free (BatchMeta *self);

/* Forgets all streams. Takes the object lock. */
void batch_meta_reset (BatchMeta *self);

/* Calls `event` and `frame` for each event and each buffer of `*batch`, a buffer with `segment`.
 * Where a buffer is made writable in a batch that is not, `*batch` becomes a copy that shares all
 * other buffers, and the caller keeps its reference to the old one. Returns the first result
 * other than GST_FLOW_OK, and then leaves `*batch` as it was. Returns GST_FLOW_ERROR if the buffer
 * has no GstAnalyticsBatchMeta, and posts an error if the owner is an element. */
GstFlowReturn batch_meta_walk (BatchMeta *self, GstBuffer **batch, const GstSegment *segment);

/* Replaces the buffer of the frame in its batch by a writable one, and returns it. A buffer that
 * has other owners is copied; its memory is shared. */
GstBuffer *batch_meta_make_writable (BatchFrame *self);

/* Returns the id of the stream, or NULL if it is unknown. */
const gchar *batch_meta_stream_id (const BatchStream *self);

/* Calls `func` with each BatchStream and `user_data`. Call with the object lock. */
void batch_meta_foreach_stream (BatchMeta *self, GFunc func, gpointer user_data);
#else
#define batch_meta_in_caps(caps) FALSE
#define batch_meta_append_caps(caps)
#define batch_meta_new(owner, funcs) ((void) (funcs), (BatchMeta *) NULL)
#define batch_meta_free(self) ((void) (self))
#define batch_meta_reset(self) ((void) (self))
#define batch_meta_make_writable(self) ((self)->buffer)
#define batch_meta_stream_id(self) NULL
#define batch_meta_foreach_stream(self, func, user_data) \
  ((void) (self), (void) (func), (void) (user_data))

static inline GstFlowReturn
batch_meta_walk (BatchMeta *self, GstBuffer **batch, const GstSegment *segment)
{
  return GST_FLOW_ERROR;
}
#endif

G_END_DECLS
