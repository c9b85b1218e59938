/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergepad: a pad of GstAggregator with its settings, its selection and its held boxes. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "mergepad.h"

#include "framesize.h"
#include "mergepicture.h"
#include "mergesettings.h"
#include "meta/batchmeta.h"

#define PROP_STATS (MERGE_PROP_LAST + 1)

struct _GstBoxMergePad
{
  GstAggregatorPad parent;

  GMutex queue_lock; /* held while a buffer is peeked or dropped, and while the pad is released */

  /* under the object lock of the pad */
  MergeSettings settings;
  MergeCounts counts;
  GstBuffer *held;  /* the metadata of the last buffer taken, or NULL */
  gint64 held_time; /* its running time */

  /* thread of the source pad */
  gint width, height;  /* of the picture; 0: unknown */
  gboolean batches;    /* the buffers are batches of pictures */
  BatchMeta *batch;    /* merges the pictures of a batch */
  BatchMeta *strip;    /* removes their memory */
  MergeTarget *target; /* the main buffer while a batch is merged */
  GstBuffer *selected; /* for the present main buffer, or NULL */
  gboolean selected_is_held;
  gint64 selected_time;
};

G_DEFINE_TYPE (GstBoxMergePad, merge_pad, GST_TYPE_AGGREGATOR_PAD)

void
merge_pad_lock_queue (GstBoxMergePad *self)
{
  g_mutex_lock (&self->queue_lock);
}

void
merge_pad_unlock_queue (GstBoxMergePad *self)
{
  g_mutex_unlock (&self->queue_lock);
}

GstBuffer *
merge_pad_peek (GstBoxMergePad *self)
{
  GstBuffer *buffer;

  merge_pad_lock_queue (self);
  buffer = gst_aggregator_pad_peek_buffer (GST_AGGREGATOR_PAD (self));
  merge_pad_unlock_queue (self);
  return buffer;
}

static void
drop_first (GstBoxMergePad *self)
{
  merge_pad_lock_queue (self);
  gst_aggregator_pad_drop_buffer (GST_AGGREGATOR_PAD (self));
  merge_pad_unlock_queue (self);
}

static void
forget_held (GstBoxMergePad *self)
{
  GST_OBJECT_LOCK (self);
  gst_clear_buffer (&self->held);
  GST_OBJECT_UNLOCK (self);
}

void
merge_pad_set_caps (GstBoxMergePad *self, const GstCaps *caps)
{
  const gint width = self->width, height = self->height;

  frame_size_from_caps (caps, &self->width, &self->height);
  self->batches = batch_meta_in_caps (caps);
  if (self->width != width || self->height != height)
    forget_held (self); /* its boxes are in pixels of the other size */
}

/* ------------------------------------------------------------------ selection */

static GstFlowReturn
strip_frame (GstObject *owner, BatchFrame *frame)
{
  gst_buffer_remove_all_memory (batch_meta_make_writable (frame));
  return GST_FLOW_OK;
}

/* Keeps the boxes of a buffer without its memory, which its producer may need. */
static void
hold (GstBoxMergePad *self, GstBuffer *buffer, gint64 time)
{
  GstBuffer *copy = NULL;
  gboolean holds;

  GST_OBJECT_LOCK (self);
  holds = self->settings.hold > 0;
  GST_OBJECT_UNLOCK (self);
  if (holds) {
    copy = gst_buffer_new ();
    gst_buffer_copy_into (copy, buffer, GST_BUFFER_COPY_META, 0, -1);
    if (self->batches)
      batch_meta_walk (self->strip, &copy, &GST_AGGREGATOR_PAD (self)->segment);
  }
  GST_OBJECT_LOCK (self);
  gst_buffer_replace (&self->held, copy);
  self->held_time = time;
  GST_OBJECT_UNLOCK (self);
  gst_clear_buffer (&copy);
}

static void
count (GstBoxMergePad *self, const MergeCounts *more, MergeCounts *total)
{
  merge_stats_add (total, more);
  GST_OBJECT_LOCK (self);
  merge_stats_add (&self->counts, more);
  GST_OBJECT_UNLOCK (self);
}

/* Drops the first buffer in the queue, which is earlier than the main buffer. */
static void
drop_earlier (GstBoxMergePad *self, const MergeMoment *moment, GstBuffer *buffer, gint64 time,
    MergeCounts *total)
{
  const gboolean late = merge_match_is_late (moment, time);
  const MergeCounts dropped = { .in = 1, .too_late = late, .without_match = !late };

  if (merge_match_gap (buffer) == NULL) {
    count (self, &dropped, total);
    hold (self, buffer, time);
  }
  drop_first (self);
}

/* Selects the held boxes if they are not too old. */
static void
select_held (GstBoxMergePad *self, const MergeMoment *moment)
{
  GST_OBJECT_LOCK (self);
  if (self->held && self->settings.hold > 0 && moment->time != MERGE_NO_TIME
      && self->held_time != MERGE_NO_TIME
      && moment->time - self->held_time <= (gint64) MIN (self->settings.hold, G_MAXINT64 / 2)) {
    gst_buffer_replace (&self->selected, self->held);
    self->selected_is_held = TRUE;
  }
  GST_OBJECT_UNLOCK (self);
}

/* Returns how the first buffer in the queue lies to the main buffer. */
static MergeRelation
relation_of (GstBoxMergePad *self, const MergeMoment *moment, GstBuffer *buffer, gint64 *time)
{
  const GstSegment *segment = &GST_AGGREGATOR_PAD (self)->segment;
  MergeRelation relation;

  GST_OBJECT_LOCK (self);
  *time = merge_match_time (segment, buffer);
  relation = merge_match_relation (moment, segment, buffer);
  GST_OBJECT_UNLOCK (self);
  return relation;
}

gboolean
merge_pad_select (GstBoxMergePad *self, const MergeMoment *moment, MergeCounts *total)
{
  MergeRelation relation = MERGE_EARLIER;
  gboolean dropped = FALSE;
  GstBuffer *buffer;
  gint64 time;

  gst_clear_buffer (&self->selected);
  while (relation == MERGE_EARLIER && (buffer = merge_pad_peek (self)) != NULL) {
    relation = relation_of (self, moment, buffer, &time);
    if (relation == MERGE_EARLIER) {
      drop_earlier (self, moment, buffer, time, total);
      dropped = TRUE;
    } else if (relation == MERGE_MATCHES) {
      self->selected = gst_buffer_ref (buffer);
      self->selected_is_held = FALSE;
      self->selected_time = time;
    }
    gst_buffer_unref (buffer);
  }
  if (self->selected == NULL)
    select_held (self, moment);
  /* (GstAggregator has waited already for a pad that was empty before) */
  return !dropped || relation != MERGE_EARLIER
      || gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (self));
}

GstBuffer *
merge_pad_selected (GstBoxMergePad *self)
{
  return self->selected ? gst_buffer_ref (self->selected) : NULL;
}

/* ---------------------------------------------------------------------- boxes */

/* Merges a picture of a batch. */
static GstFlowReturn
merge_frame (GstObject *owner, BatchFrame *frame)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (owner);
  const MergePicture picture = {
    .buffer = frame->buffer,
    .width = frame->stream->width,
    .height = frame->stream->height,
    .slice = frame->stream->index + frame->position,
    .crop = gst_buffer_get_video_crop_meta (frame->buffer),
  };

  return merge_picture_append (&picture, owner, &self->settings, self->target) ? GST_FLOW_OK
                                                                               : GST_FLOW_ERROR;
}

static void
merge_selected (GstBoxMergePad *self, MergeTarget *target)
{
  const MergePicture picture = {
    .buffer = self->selected,
    .width = self->width,
    .height = self->height,
    .move = gst_buffer_is_writable (self->selected),
  };

  if (!self->batches) {
    merge_picture_append (&picture, GST_OBJECT (self), &self->settings, target);
    return;
  }
  self->target = target;
  if (batch_meta_walk (self->batch, &self->selected, &GST_AGGREGATOR_PAD (self)->segment)
          != GST_FLOW_OK
      && target->error == NULL)
    target->error = g_strdup ("its caps state batches, and a buffer is none");
  self->target = NULL;
}

gboolean
merge_pad_merge (GstBoxMergePad *self, GstBuffer **main, gint width, gint height,
    BoxMetaReading *reading, MergeCounts *total, gchar **error)
{
  MergeTarget target = { .main = main, .width = width, .height = height, .reading = reading };
  MergeCounts counts = { 0 };

  if (self->selected == NULL)
    return TRUE;
  if (self->selected_is_held) {
    counts.held = 1;
  } else {
    counts.in = counts.merged = 1;
    hold (self, self->selected, self->selected_time);
    /* first, because `selected` is then the only reference unless another element has one */
    drop_first (self);
  }
  merge_selected (self, &target);
  *error = target.error;
  if (*error)
    return FALSE;
  counts.boxes = target.boxes;
  gst_clear_buffer (&self->selected);
  count (self, &counts, total);
  return TRUE;
}

/* ----------------------------------------------------------------- statistics */

GstStructure *
merge_pad_stats (GstBoxMergePad *self)
{
  GstStructure *stats = gst_structure_new_empty (GST_OBJECT_NAME (self));
  MergeCounts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  merge_stats_write (&counts, stats);
  return stats;
}

/* Posts an error and returns FALSE if the text of a property is malformed. */
static gboolean
check_settings (GstBoxMergePad *self)
{
  GstElement *element = gst_pad_get_parent_element (GST_PAD (self));
  gchar *fault;

  GST_OBJECT_LOCK (self);
  fault = merge_settings_fault (&self->settings);
  GST_OBJECT_UNLOCK (self);
  if (fault && element)
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS, ("Pad %s: %s.", GST_OBJECT_NAME (self), fault),
        (NULL));
  gst_clear_object (&element);
  g_free (fault);
  return fault == NULL;
}

gboolean
merge_pad_start (GstBoxMergePad *self)
{
  batch_meta_reset (self->batch);
  batch_meta_reset (self->strip);
  GST_OBJECT_LOCK (self);
  self->counts = (MergeCounts) { 0 };
  GST_OBJECT_UNLOCK (self);
  return check_settings (self);
}

/* Called at FLUSH_STOP of the branch, and when the element stops. */
static GstFlowReturn
merge_pad_flush (GstAggregatorPad *pad, GstAggregator *aggregator)
{
  forget_held (GST_BOX_MERGE_PAD (pad));
  return GST_FLOW_OK;
}

/* --------------------------------------------------------------------- object */

static const BatchFuncs merge_funcs = { .frame = merge_frame };
static const BatchFuncs strip_funcs = { .frame = strip_frame };

static void
merge_pad_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (object);

  GST_OBJECT_LOCK (self);
  merge_settings_set (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  check_settings (self);
}

static void
merge_pad_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, merge_pad_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  merge_settings_get (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
}

static void
merge_pad_finalize (GObject *object)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (object);

  gst_clear_buffer (&self->selected);
  gst_clear_buffer (&self->held);
  merge_settings_clear (&self->settings);
  batch_meta_free (self->batch);
  batch_meta_free (self->strip);
  g_mutex_clear (&self->queue_lock);
  G_OBJECT_CLASS (merge_pad_parent_class)->finalize (object);
}

static void
merge_pad_class_init (GstBoxMergePadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = merge_pad_set_property;
  object_class->get_property = merge_pad_get_property;
  object_class->finalize = merge_pad_finalize;
  merge_settings_install (object_class);
  g_object_class_install_property (object_class, PROP_STATS, merge_stats_pad_spec ());
  GST_AGGREGATOR_PAD_CLASS (klass)->flush = merge_pad_flush;
}

static void
merge_pad_init (GstBoxMergePad *self)
{
  g_mutex_init (&self->queue_lock);
  merge_settings_init (&self->settings);
  self->batch = batch_meta_new (GST_OBJECT (self), &merge_funcs);
  self->strip = batch_meta_new (GST_OBJECT (self), &strip_funcs);
}
