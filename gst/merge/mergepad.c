/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergepad: a pad of GstAggregator with its settings, its selection and its held boxes. Its boxes
 * are mapped to the main frame and appended there.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "mergepad.h"

#include "framesize.h"
#include "mergeplace.h"
#include "meta/batchmeta.h"
#include "meta/boxappend.h"
#include "meta/boxmap.h"
#include "meta/edgecut.h"
#include "meta/framelength.h"
#include "properties.h"

#include <string.h>

#define DEFAULT_XPOS 0
#define DEFAULT_YPOS 0
#define DEFAULT_WIDTH 0
#define DEFAULT_HEIGHT 0
#define DEFAULT_TILES NULL
#define DEFAULT_TILE_INDEX 0
#define DEFAULT_VIDEO_DIRECTION GST_VIDEO_ORIENTATION_IDENTITY
#define DEFAULT_CLIP FALSE
#define DEFAULT_HOLD 0
#define DEFAULT_SOURCE NULL
#define DEFAULT_EDGE_MARGIN "5"

enum
{
  PROP_XPOS = 1,
  PROP_YPOS,
  PROP_WIDTH,
  PROP_HEIGHT,
  PROP_TILES,
  PROP_TILE_INDEX,
  PROP_VIDEO_DIRECTION,
  PROP_CLIP,
  PROP_HOLD,
  PROP_SOURCE,
  PROP_EDGE_MARGIN,
  PROP_STATS,
};

typedef struct
{
  MergePlace place;
  gchar *tiles; /* the text of place.tiles */
  gboolean clip;
  guint64 hold;       /* ns */
  gchar *source;      /* name of the branch; NULL for the name of the pad, "" for no name */
  gchar *edge_margin; /* the text of margin */
  FrameLength margin; /* distance from an edge within which a box is cut */
} MergeSettings;

struct _GstBoxMergePad
{
  GstAggregatorPad parent;

  GMutex queue_lock; /* held while a buffer is peeked or dropped, and while the pad is released */

  /* under the object lock of the pad */
  MergeSettings settings;
  guint64 counts[MERGE_COUNTS];
  GstBuffer *held;  /* the metadata of the last buffer taken, or NULL */
  gint64 held_time; /* running time of `held` */

  /* thread of the source pad */
  gint width, height;  /* size of the picture; 0 if unknown */
  gboolean batches;    /* the buffers are batches of pictures */
  BatchMeta *batch;    /* the pictures of a batch */
  MergeFrame *frame;   /* gets the boxes of a batch, or NULL while its memory is removed */
  GstBuffer *selected; /* the buffer selected for the current main buffer, or NULL */
  gboolean selected_is_held;
  gint64 selected_time;
};

G_DEFINE_TYPE (GstBoxMergePad, merge_pad, GST_TYPE_AGGREGATOR_PAD)

static const gsize fields[] = {
  [PROP_XPOS] = G_STRUCT_OFFSET (MergeSettings, place.xpos),
  [PROP_YPOS] = G_STRUCT_OFFSET (MergeSettings, place.ypos),
  [PROP_WIDTH] = G_STRUCT_OFFSET (MergeSettings, place.width),
  [PROP_HEIGHT] = G_STRUCT_OFFSET (MergeSettings, place.height),
  [PROP_TILES] = G_STRUCT_OFFSET (MergeSettings, tiles),
  [PROP_TILE_INDEX] = G_STRUCT_OFFSET (MergeSettings, place.tile_index),
  [PROP_VIDEO_DIRECTION] = G_STRUCT_OFFSET (MergeSettings, place.direction),
  [PROP_CLIP] = G_STRUCT_OFFSET (MergeSettings, clip),
  [PROP_HOLD] = G_STRUCT_OFFSET (MergeSettings, hold),
  [PROP_SOURCE] = G_STRUCT_OFFSET (MergeSettings, source),
  [PROP_EDGE_MARGIN] = G_STRUCT_OFFSET (MergeSettings, edge_margin),
};

void
merge_counts_add (guint64 counts[MERGE_COUNTS], const guint64 more[MERGE_COUNTS])
{
  for (guint i = 0; i < MERGE_COUNTS; i++)
    counts[i] += more[i];
}

void
merge_counts_write (const guint64 counts[MERGE_COUNTS], GstStructure *structure)
{
  static const gchar *const names[] = { "in", "merged", "held", "too-late", "without-match",
    "boxes" };

  G_STATIC_ASSERT (G_N_ELEMENTS (names) == MERGE_COUNTS);
  for (guint i = 0; i < MERGE_COUNTS; i++)
    gst_structure_set (structure, names[i], G_TYPE_UINT64, counts[i], NULL);
}

static void
count (GstBoxMergePad *self, const guint64 more[MERGE_COUNTS], MergeFrame *frame)
{
  merge_counts_add (frame->counts, more);
  GST_OBJECT_LOCK (self);
  merge_counts_add (self->counts, more);
  GST_OBJECT_UNLOCK (self);
}

/* ---------------------------------------------------------------------- queue */

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
    forget_held (self); /* the held boxes are in pixels of the old size */
}

/* ------------------------------------------------------------------ selection */

/* Keeps the boxes of a buffer for later frames, but not its memory, which its pool may need. */
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
      batch_meta_walk (self->batch, &copy, &GST_AGGREGATOR_PAD (self)->segment);
  }
  GST_OBJECT_LOCK (self);
  gst_buffer_replace (&self->held, copy);
  self->held_time = time;
  GST_OBJECT_UNLOCK (self);
  gst_clear_buffer (&copy);
}

/* Drops the first buffer in the queue, which is earlier than the main buffer. */
static void
drop_earlier (GstBoxMergePad *self, MergeFrame *frame, GstBuffer *buffer, gint64 time)
{
  const gboolean late = merge_match_is_late (&frame->moment, time);
  const guint64 dropped
      [MERGE_COUNTS] = { [MERGE_IN] = 1, [MERGE_TOO_LATE] = late, [MERGE_WITHOUT_MATCH] = !late };

  if (merge_match_gap (buffer) == NULL) {
    count (self, dropped, frame);
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

/* Compares the first buffer in the queue with the main buffer. */
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

void
merge_pad_select (GstBoxMergePad *self, MergeFrame *frame)
{
  MergeRelation relation = MERGE_EARLIER;
  gboolean dropped = FALSE;
  GstBuffer *buffer;
  gint64 time;

  gst_clear_buffer (&self->selected);
  while (relation == MERGE_EARLIER && (buffer = merge_pad_peek (self)) != NULL) {
    relation = relation_of (self, &frame->moment, buffer, &time);
    if (relation == MERGE_EARLIER) {
      drop_earlier (self, frame, buffer, time);
      dropped = TRUE;
    } else if (relation == MERGE_MATCHES) {
      self->selected = gst_buffer_ref (buffer);
      self->selected_is_held = FALSE;
      self->selected_time = time;
    }
    gst_buffer_unref (buffer);
  }
  if (self->selected == NULL)
    select_held (self, &frame->moment);
  /* (GstAggregator has waited already for a pad that was empty before) */
  if (dropped && relation == MERGE_EARLIER
      && !gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (self)))
    frame->waiting = TRUE;
}

GstBuffer *
merge_pad_selected (GstBoxMergePad *self)
{
  return self->selected ? gst_buffer_ref (self->selected) : NULL;
}

/* ---------------------------------------------------------------------- boxes */

/* A picture of the branch: its buffer, or one inside of a batch. */
typedef struct
{
  GstBuffer *buffer;
  gint width, height;           /* 0 if unknown */
  guint slice;                  /* index of the tile, counted from the one in the settings */
  const GstVideoCropMeta *crop; /* place of a slice in the main frame; NULL if it is not a slice */
  gboolean move;                /* `buffer` is writable, and its structures may be moved */
} Picture;

typedef struct
{
  GstVideoRectangle rect; /* place in the main frame */
  GstVideoOrientationMethod direction;
  gboolean clip;
  gchar *source;      /* NULL for no tag */
  FrameLength margin; /* distance from an edge within which a box is cut */
} Placing;

/* Returns NULL, or why the place is unknown. */
static gchar *
take_placing (GstBoxMergePad *self, const Picture *picture, const MergeFrame *frame,
    Placing *placing)
{
  const MergeSettings *settings = &self->settings;
  const GstVideoCropMeta *crop = picture->crop;
  const gchar *source;
  gchar *error = NULL;
  MergePlace place;

  GST_OBJECT_LOCK (self);
  place = settings->place;
  place.tile_index += picture->slice;
  if (crop)
    placing->rect = (GstVideoRectangle) { (gint) crop->x, (gint) crop->y, (gint) crop->width,
      (gint) crop->height };
  else
    error = merge_place_rect (&place, frame->width, frame->height, picture->width, picture->height,
        &placing->rect);
  placing->direction = settings->place.direction;
  placing->clip = settings->clip;
  placing->margin = settings->margin;
  source = settings->source ? settings->source : GST_OBJECT_NAME (self);
  placing->source = error || *source == '\0' ? NULL : g_strdup (source);
  GST_OBJECT_UNLOCK (self);
  return error;
}

/* Maps the pixels of the picture to those of the main frame. */
static void
make_map (const Picture *picture, const Placing *placing, BoxMap *map)
{
  const gboolean sideways = box_map_swaps (placing->direction);
  const gint width = sideways ? picture->height : picture->width;
  const gint height = sideways ? picture->width : picture->height;
  GstVideoOrientationMethod back = placing->direction;

  if (back == GST_VIDEO_ORIENTATION_90R)
    back = GST_VIDEO_ORIENTATION_90L;
  else if (back == GST_VIDEO_ORIENTATION_90L)
    back = GST_VIDEO_ORIENTATION_90R;
  box_map_init (map);
  box_map_orient (map, back, picture->width, picture->height);
  if (width > 0 && height > 0 && placing->rect.w > 0 && placing->rect.h > 0)
    box_map_scale (map, (gdouble) placing->rect.w / width, (gdouble) placing->rect.h / height);
  box_map_shift (map, placing->rect.x, placing->rect.y);
}

/* Marks the boxes, which lie in the main frame, that an edge of the branch's picture cuts. Marks
 * none if the size of the main frame is unknown, because its own edges do not cut. */
static void
mark_cut_boxes (const Placing *placing, GArray *boxes, gint width, gint height)
{
  const GstVideoRectangle *rect = &placing->rect;
  EdgeCutBorder border = {
    .rectangle = { rect->x, rect->y, (gdouble) rect->x + rect->w, (gdouble) rect->y + rect->h },
    .margin_x = frame_length_pixels (&placing->margin, rect->w),
    .margin_y = frame_length_pixels (&placing->margin, rect->h),
  };

  border.sides = edge_cut_inner_sides (&border.rectangle, width, height);
  if (placing->margin.value >= 0 && width > 0 && height > 0 && rect->w > 0 && rect->h > 0)
    edge_cut_mark_all (boxes, &border);
}

static guint
append_boxes (const Picture *picture, const Placing *placing, MergeFrame *frame)
{
  const gint width = frame->width, height = frame->height;
  BoxMetaReading *reading = frame->reading;
  BoxMap map;

  make_map (picture, placing, &map);
  box_meta_reading_take (reading, picture->buffer, picture->width, picture->height, BOX_READ_CUT);
  box_meta_reading_map (reading, &map, width, height, placing->clip);
  mark_cut_boxes (placing, box_meta_reading_boxes (reading), width, height);
  frame->buffer = gst_buffer_make_writable (frame->buffer);
  return box_append (frame->buffer, picture->buffer, reading, width, height, placing->source,
      picture->move);
}

/* Appends the boxes of a picture to the main buffer. Returns FALSE if its place is unknown. */
static gboolean
append_picture (GstBoxMergePad *self, const Picture *picture, MergeFrame *frame)
{
  Placing placing;

  frame->error = take_placing (self, picture, frame, &placing);
  if (frame->error)
    return FALSE;
  if (box_meta_any (picture->buffer)) {
    const guint64 added[MERGE_COUNTS] = { [MERGE_BOXES] = append_boxes (picture, &placing, frame) };

    count (self, added, frame);
  }
  g_free (placing.source);
  return TRUE;
}

/* Takes a picture of a batch: merges its boxes, or removes its memory. */
static GstFlowReturn
take_batch_frame (GstObject *owner, BatchFrame *frame)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (owner);
  const Picture picture = {
    .buffer = frame->buffer,
    .width = frame->stream->width,
    .height = frame->stream->height,
    .slice = frame->stream->index + frame->position,
    .crop = gst_buffer_get_video_crop_meta (frame->buffer),
  };

  if (self->frame)
    return append_picture (self, &picture, self->frame) ? GST_FLOW_OK : GST_FLOW_ERROR;
  gst_buffer_remove_all_memory (batch_meta_make_writable (frame));
  return GST_FLOW_OK;
}

static void
merge_selected (GstBoxMergePad *self, MergeFrame *frame)
{
  const Picture picture = {
    .buffer = self->selected,
    .width = self->width,
    .height = self->height,
    .move = gst_buffer_is_writable (self->selected),
  };

  if (!self->batches) {
    append_picture (self, &picture, frame);
    return;
  }
  self->frame = frame;
  if (batch_meta_walk (self->batch, &self->selected, &GST_AGGREGATOR_PAD (self)->segment)
          != GST_FLOW_OK
      && frame->error == NULL)
    frame->error = g_strdup ("its caps state batches, and a buffer is none");
  self->frame = NULL;
}

gboolean
merge_pad_merge (GstBoxMergePad *self, MergeFrame *frame)
{
  guint64 counts[MERGE_COUNTS] = { 0 };

  if (self->selected == NULL)
    return TRUE;
  if (self->selected_is_held) {
    counts[MERGE_HELD] = 1;
  } else {
    counts[MERGE_IN] = counts[MERGE_MERGED] = 1;
    hold (self, self->selected, self->selected_time);
    /* first, because `selected` is then the only reference unless another element has one */
    drop_first (self);
  }
  merge_selected (self, frame);
  if (frame->error)
    return FALSE;
  gst_clear_buffer (&self->selected);
  count (self, counts, frame);
  return TRUE;
}

/* -------------------------------------------------------------- start and stop */

/* Returns which text is malformed, and its form, as a text to be freed, or NULL. */
static gchar *
find_fault (const MergeSettings *settings)
{
  FrameLength margin;
  MergeTiles tiles;

  if (!merge_tiles_parse (settings->tiles, &tiles))
    return g_strdup_printf ("cannot use tiles: \"%s\" is not COLUMNSxROWS or COLUMNSxROWS+OVERLAP",
        settings->tiles);
  if (!frame_length_parse (settings->edge_margin, &margin))
    return g_strdup_printf ("cannot use edge-margin: \"%s\" is not %s", settings->edge_margin,
        FRAME_LENGTH_FORM);
  return NULL;
}

/* Posts an error and returns FALSE if the text of a property is malformed. */
static gboolean
check_settings (GstBoxMergePad *self)
{
  GstElement *element = gst_pad_get_parent_element (GST_PAD (self));
  gchar *fault;

  GST_OBJECT_LOCK (self);
  fault = find_fault (&self->settings);
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
  GST_OBJECT_LOCK (self);
  memset (self->counts, 0, sizeof self->counts);
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

/* ----------------------------------------------------------------- properties */

static void
merge_pad_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (object);
  MergeSettings *settings = &self->settings;

  GST_OBJECT_LOCK (self);
  property_field_set (G_STRUCT_MEMBER_P (settings, fields[id]), value);
  merge_tiles_parse (settings->tiles, &settings->place.tiles);
  frame_length_parse (settings->edge_margin, &settings->margin);
  GST_OBJECT_UNLOCK (self);
  check_settings (self); /* a malformed text is stored */
}

static void
merge_pad_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_STATS) {
    GstStructure *stats = gst_structure_new_empty (GST_OBJECT_NAME (self));

    merge_counts_write (self->counts, stats);
    g_value_take_boxed (value, stats);
  } else {
    property_field_get (G_STRUCT_MEMBER_P (&self->settings, fields[id]), value);
  }
  GST_OBJECT_UNLOCK (self);
}

#define PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLABLE (PLAYING | GST_PARAM_CONTROLLABLE)

static void
install_place (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_XPOS,
      g_param_spec_int ("xpos", "X position",
          "Left edge of the branch's picture in the main frame, in pixels of the main frame. For a "
          "branch behind videocrop: its property left",
          G_MININT, G_MAXINT, DEFAULT_XPOS, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_YPOS,
      g_param_spec_int ("ypos", "Y position",
          "Top edge of the branch's picture in the main frame, in pixels of the main frame. For a "
          "branch behind videocrop: its property top",
          G_MININT, G_MAXINT, DEFAULT_YPOS, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_WIDTH,
      g_param_spec_uint ("width", "Width",
          "Width of the branch's picture in the main frame, in pixels of the main frame; boxes are "
          "scaled to it. 0 = the width of the branch's picture: not scaled",
          0, G_MAXINT, DEFAULT_WIDTH, CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_HEIGHT,
      g_param_spec_uint ("height", "Height",
          "Height of the branch's picture in the main frame, in pixels of the main frame; boxes "
          "are scaled to it. 0 = the height of the branch's picture: not scaled",
          0, G_MAXINT, DEFAULT_HEIGHT, CONTROLLABLE));
}

static void
install_tiles (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_TILES,
      g_param_spec_string ("tiles", "Tiles",
          "Grid of tiles, COLUMNSxROWS or COLUMNSxROWS+OVERLAP with OVERLAP in pixels, such as "
          "3x2+64; the branch is the tile with number tile-index, and xpos, ypos, width and "
          "height are not used. A tile is (WIDTH + (COLUMNS - 1) * OVERLAP) / COLUMNS wide, "
          "rounded up to an even number, and tile i of a row begins at i * (WIDTH - tile) / "
          "(COLUMNS - 1), rounded down to an even number, except the last; heights are computed "
          "alike. NULL = no grid",
          DEFAULT_TILES, PLAYING));
  g_object_class_install_property (object_class, PROP_TILE_INDEX,
      g_param_spec_uint ("tile-index", "Tile index",
          "Number of the tile, from 0, row by row from the top left; only with tiles. In a batch "
          "(caps with meta:GstAnalyticsBatchMeta), buffer n of stream s is the tile tile-index + s "
          "+ n, or lies where its GstVideoCropMeta states, with or without tiles",
          0, G_MAXINT, DEFAULT_TILE_INDEX, PLAYING));
}

static void
install_others (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_VIDEO_DIRECTION,
      g_param_spec_enum ("video-direction", "Video direction",
          "How the branch turned its picture, after cropping it: the property of that name of its "
          "videoflip. Boxes are turned back. auto and custom = not turned",
          GST_TYPE_VIDEO_ORIENTATION_METHOD, DEFAULT_VIDEO_DIRECTION, PLAYING));
  g_object_class_install_property (object_class, PROP_CLIP,
      g_param_spec_boolean ("clip", "Clip",
          "Clip boxes to the main frame. Rotated boxes are not clipped. Boxes wholly outside of "
          "the main frame are left out in any case",
          DEFAULT_CLIP, PLAYING));
  g_object_class_install_property (object_class, PROP_HOLD,
      g_param_spec_uint64 ("hold", "Hold",
          "How long the boxes of a branch buffer are also added to main buffers without a branch "
          "buffer of their own, in ns from its time, at most until the next branch buffer. Use it "
          "with detectors that are slower than the video. 0 = off",
          0, G_MAXUINT64, DEFAULT_HOLD, PLAYING));
  g_object_class_install_property (object_class, PROP_SOURCE,
      g_param_spec_string ("source", "Source",
          "Name of the branch that its boxes carry: the field name of a structure \"source\" of a "
          "region, and a class \"source:NAME\" related to an OD. NULL = the name of the pad, such "
          "as sink_0; empty = none",
          DEFAULT_SOURCE, PLAYING));
  g_object_class_install_property (object_class, PROP_EDGE_MARGIN,
      g_param_spec_string ("edge-margin", "Edge margin",
          "Largest distance of a box from an edge of the branch's picture at which it is marked as "
          "cut: pixels of the main frame or, with %, per cent of the width (left and right edge) "
          "and of the height (top and bottom edge) of the picture there. Edges of the main frame "
          "do not cut. nmsfilter ranks marked boxes below all others, so that a whole box of "
          "another branch suppresses them. The mark is the field cut of a structure \"source\" of "
          "a region, and a class \"source-cut\" related to an OD. 0 = boxes that touch the edge; "
          "NULL or empty = none",
          DEFAULT_EDGE_MARGIN, PLAYING));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Totals of this branch since READY, all guint64: " MERGE_COUNTS_TEXT, GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* --------------------------------------------------------------------- object */

static const BatchFuncs batch_funcs = { .frame = take_batch_frame };

static void
merge_pad_finalize (GObject *object)
{
  GstBoxMergePad *self = GST_BOX_MERGE_PAD (object);

  gst_clear_buffer (&self->selected);
  gst_clear_buffer (&self->held);
  g_free (self->settings.tiles);
  g_free (self->settings.source);
  g_free (self->settings.edge_margin);
  batch_meta_free (self->batch);
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
  install_place (object_class);
  install_tiles (object_class);
  install_others (object_class);
  GST_AGGREGATOR_PAD_CLASS (klass)->flush = merge_pad_flush;
}

static void
merge_pad_init (GstBoxMergePad *self)
{
  g_mutex_init (&self->queue_lock);
  self->settings = (MergeSettings) {
    .place = {
      .xpos = DEFAULT_XPOS,
      .ypos = DEFAULT_YPOS,
      .width = DEFAULT_WIDTH,
      .height = DEFAULT_HEIGHT,
      .tile_index = DEFAULT_TILE_INDEX,
      .direction = DEFAULT_VIDEO_DIRECTION,
    },
    .tiles = g_strdup (DEFAULT_TILES),
    .clip = DEFAULT_CLIP,
    .hold = DEFAULT_HOLD,
    .source = g_strdup (DEFAULT_SOURCE),
    .edge_margin = g_strdup (DEFAULT_EDGE_MARGIN),
  };
  frame_length_parse (self->settings.edge_margin, &self->settings.margin);
  self->batch = batch_meta_new (GST_OBJECT (self), &batch_funcs);
}
