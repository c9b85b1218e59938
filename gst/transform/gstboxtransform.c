/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-boxtransform
 * @title: boxtransform
 * @short_description: moves boxes to where the picture was moved
 *
 * Elements that crop, flip or scale the picture drop its boxes, or parts of them, or leave them
 * where they were. boxtransform moves the boxes of each buffer as the picture was moved: the
 * regions (#GstVideoRegionOfInterestMeta, with the coordinates in their structure `detection`)
 * and, where the plugin was built with GstAnalytics, the #GstAnalyticsODMtd. Labels, scores,
 * tracks, classes, relations and all other structures stay. It does not touch the pixels, so it
 * accepts any caps; the size of the frame is taken from the caps.
 *
 * Masks (#GstAnalyticsSegmentationMtd) are moved too, but removed where the picture was flipped or
 * turned. Metadata of GstAnalytics of other types, such as keypoints and groups of them, may hold
 * positions that cannot be changed here, so it is removed, and so are the keypoints and masks that
 * DL Streamer writes into regions, where these are flipped, turned or clipped. A warning names the
 * type.
 *
 * The properties say what happened to the picture upstream, in this order:
 *
 * 1. #GstBoxTransform:top, #GstBoxTransform:bottom, #GstBoxTransform:left and
 *    #GstBoxTransform:right were cropped from it, in its own pixels, as videocrop does. Negative
 *    numbers are borders that were added, as by videobox.
 * 2. It was flipped: #GstBoxTransform:video-direction, as videoflip does.
 * 3. It was scaled to the size in the caps, if that differs from the size after the first two
 *    steps. #GstBoxTransform:width and #GstBoxTransform:height are the size at the beginning; 0
 *    means that it was not scaled.
 *
 * If it was scaled or flipped before the crop, give the crop that is the same before these. Boxes
 * wholly outside of the frame are removed.
 *
 * Where an element drops the boxes, send them around it with the pads `boxes` of boxrecord and
 * boxreplay. boxreplay scales them to the new frame: set #GstBoxTransform:stretched then. Changes
 * while playing apply from the next buffer on. An element without changes passes buffers as they
 * are.
 *
 * ## Example launch lines
 *
 * Scale the boxes of a detector that writes them in the pixels of its own input of 300 x 300:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! boxtransform width=300 height=300 ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 * Crop the picture, and send the boxes around videocrop:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! boxrecord name=before before.src ! queue ! videoconvert ! videocrop left=40 top=20 \
 *   ! after.sink before.boxes ! queue ! after.boxes boxreplay name=after existing=replace \
 *   ! boxtransform stretched=true left=40 top=20 ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/base/gstbasetransform.h>

#include "elements.h"
#include "framesize.h"
#include "meta/boxmap.h"
#include "meta/boxremove.h"
#include "meta/boxrewrite.h"
#include "properties.h"

GST_DEBUG_CATEGORY_STATIC (box_transform_debug);
#define GST_CAT_DEFAULT box_transform_debug

#define DEFAULT_CROP 0
#define DEFAULT_SIZE 0
#define DEFAULT_DIRECTION GST_VIDEO_ORIENTATION_IDENTITY
#define DEFAULT_STRETCHED FALSE
#define DEFAULT_CLIP TRUE

enum
{
  PROP_0,
  PROP_TOP,
  PROP_BOTTOM,
  PROP_LEFT,
  PROP_RIGHT,
  PROP_WIDTH,
  PROP_HEIGHT,
  PROP_VIDEO_DIRECTION,
  PROP_STRETCHED,
  PROP_CLIP,
  PROP_STATS,
};

/* What happened to a picture while its boxes stayed as they were: a crop, then a flip, then scaling
 * to the size of the frame. */
typedef struct
{
  /* pixels cropped from the picture that the boxes refer to; negative for an added border */
  gint top, bottom, left, right;
  /* size of that picture before the crop; 0: derived from the unscaled frame size */
  gint width, height;
  gint direction;     /* a GstVideoOrientationMethod other than AUTO and CUSTOM */
  gboolean stretched; /* the boxes were scaled to the frame size before */
  gboolean clip;      /* boxes are clipped to the frame */
} PictureChange;

/* The map of positions and the sizes that a change gives for one frame size. */
typedef struct
{
  BoxMap map;
  gint read_width, read_height; /* size of the picture whose pixels the boxes are in, or 0 */
  gint width, height;           /* size of the frame; 0 if unknown */
} PictureChangePlan;

/* since READY */
typedef struct
{
  guint64 frames, boxes_in, boxes_out, outside;
} TransformStats;

#define GST_TYPE_BOX_TRANSFORM (gst_box_transform_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxTransform, gst_box_transform, GST, BOX_TRANSFORM, GstBaseTransform);

struct _GstBoxTransform
{
  GstBaseTransform parent;

  /* under the object lock */
  PictureChange change;
  TransformStats stats;

  /* streaming thread */
  gint width, height;     /* from the caps; 0 if they state none */
  PictureChangePlan plan; /* plan for the current buffer */
  gboolean clip;          /* change.clip, as read for this buffer */
  gboolean moves;         /* the boxes of this buffer are to be moved */
  BoxMetaReading *reading;
};

G_DEFINE_TYPE (GstBoxTransform, gst_box_transform, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (boxtransform, "boxtransform", GST_RANK_NONE, GST_TYPE_BOX_TRANSFORM);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---------------------------------------------------------------- properties */

static const gsize fields[] = {
  [PROP_TOP] = G_STRUCT_OFFSET (GstBoxTransform, change.top),
  [PROP_BOTTOM] = G_STRUCT_OFFSET (GstBoxTransform, change.bottom),
  [PROP_LEFT] = G_STRUCT_OFFSET (GstBoxTransform, change.left),
  [PROP_RIGHT] = G_STRUCT_OFFSET (GstBoxTransform, change.right),
  [PROP_WIDTH] = G_STRUCT_OFFSET (GstBoxTransform, change.width),
  [PROP_HEIGHT] = G_STRUCT_OFFSET (GstBoxTransform, change.height),
  [PROP_VIDEO_DIRECTION] = G_STRUCT_OFFSET (GstBoxTransform, change.direction),
  [PROP_STRETCHED] = G_STRUCT_OFFSET (GstBoxTransform, change.stretched),
  [PROP_CLIP] = G_STRUCT_OFFSET (GstBoxTransform, change.clip),
};

static void
gst_box_transform_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstBoxTransform *self = GST_BOX_TRANSFORM (object);

  if (id == PROP_VIDEO_DIRECTION && g_value_get_enum (value) > GST_VIDEO_ORIENTATION_UR_LL) {
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("video-direction cannot be auto or custom; its "
         "value is unchanged."),
        ("the tag that videoflip followed does not pass it"));
    return;
  }
  GST_OBJECT_LOCK (self);
  property_field_set (G_STRUCT_MEMBER_P (self, fields[id]), value);
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
stats_to_structure (const TransformStats *stats)
{
  return gst_structure_new ("boxtransform-stats", "frames", G_TYPE_UINT64, stats->frames,
      "boxes-in", G_TYPE_UINT64, stats->boxes_in, "boxes-out", G_TYPE_UINT64, stats->boxes_out,
      "outside", G_TYPE_UINT64, stats->outside, NULL);
}

static void
gst_box_transform_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstBoxTransform *self = GST_BOX_TRANSFORM (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_STATS)
    g_value_take_boxed (value, stats_to_structure (&self->stats));
  else
    property_field_get (G_STRUCT_MEMBER_P (self, fields[id]), value);
  GST_OBJECT_UNLOCK (self);
}

/* ---------------------------------------------------------------- one buffer */

/* Returns the size before the crop along one axis; 0 if unknown. `frame` is the size of the frame
 * along that axis before the flip. */
static gint64
size_before (gint set, gint frame, gint start, gint end)
{
  if (set > 0)
    return set;
  return frame > 0 ? (gint64) frame + start + end : 0;
}

static gchar *
find_fault (const PictureChange *change, gint64 width, gint64 height, gint frame_width)
{
  const gboolean scaled = change->width > 0 || change->height > 0;

  if (frame_width == 0 && (scaled || change->stretched || change->direction != 0))
    return g_strdup ("The caps state no frame size, which width, height, stretched and "
                     "video-direction need.");
  if (frame_width > 0
      && (width - change->left - change->right <= 0 || height - change->top - change->bottom <= 0
          || width <= 0 || height <= 0 || width > G_MAXINT || height > G_MAXINT))
    return g_strdup_printf ("The crop (left %d, right %d, top %d, bottom %d) leaves nothing of a "
                            "picture of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT ".",
        change->left, change->right, change->top, change->bottom, width, height);
  return NULL;
}

/* Writes the plan for frames of width x height, 0 if unknown. It is computed anew for each buffer,
 * because that takes less than 100 ns. Returns NULL, or why the change is impossible, as a sentence
 * (to be freed): the crop leaves nothing, or a frame size is needed and unknown. */
static gchar *
plan_change (const PictureChange *change, gint width, gint height, PictureChangePlan *plan)
{
  const gboolean swap = box_map_swaps (change->direction);
  const gint64 before_width = size_before (change->width, swap ? height : width, change->left,
      change->right);
  const gint64 before_height = size_before (change->height, swap ? width : height, change->top,
      change->bottom);
  const gint64 cropped_width = before_width - change->left - change->right;
  const gint64 cropped_height = before_height - change->top - change->bottom;
  gchar *fault = find_fault (change, before_width, before_height, width);
  BoxMap *map = &plan->map;

  if (fault)
    return fault;
  box_map_init (map);
  if (change->stretched)
    box_map_scale (map, (gdouble) before_width / width, (gdouble) before_height / height);
  box_map_shift (map, -(gdouble) change->left, -(gdouble) change->top);
  if (width > 0) {
    box_map_orient (map, change->direction, cropped_width, cropped_height);
    box_map_scale (map, (gdouble) width / (swap ? cropped_height : cropped_width),
        (gdouble) height / (swap ? cropped_width : cropped_height));
  }
  plan->read_width = change->stretched ? width : (gint) before_width;
  plan->read_height = change->stretched ? height : (gint) before_height;
  plan->width = width;
  plan->height = height;
  return NULL;
}

static void
count_boxes (GstBoxTransform *self, guint boxes, guint outside)
{
  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.boxes_in += boxes;
  self->stats.boxes_out += boxes - outside;
  self->stats.outside += outside;
  GST_OBJECT_UNLOCK (self);
}

/* Plans the change for this buffer. Returns FALSE after an error message. */
static gboolean
make_plan (GstBoxTransform *self)
{
  PictureChange change;
  gchar *fault;

  GST_OBJECT_LOCK (self);
  change = self->change;
  GST_OBJECT_UNLOCK (self);
  fault = plan_change (&change, self->width, self->height, &self->plan);
  if (fault) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("Cannot move the boxes. %s", fault),
        ("frames are %dx%d", self->width, self->height));
    g_free (fault);
    return FALSE;
  }
  self->clip = change.clip;
  return TRUE;
}

/* Returns whether boxes may move, or be outside of the frame: a crop at the right and at the bottom
 * moves none. */
static gboolean
plan_changes_boxes (const PictureChangePlan *plan)
{
  return !box_map_is_identity (&plan->map) || plan->read_width > plan->width
      || plan->read_height > plan->height;
}

/* Only a buffer whose boxes change has to be writable. */
static GstFlowReturn
gst_box_transform_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *input,
    GstBuffer **output)
{
  GstBoxTransform *self = GST_BOX_TRANSFORM (trans);

  if (!make_plan (self))
    return GST_FLOW_ERROR;
  self->moves = plan_changes_boxes (&self->plan) && box_meta_any_place (input);
  if (!self->moves) {
    *output = input;
    return GST_FLOW_OK;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_box_transform_parent_class)
      ->prepare_output_buffer (trans, input, output);
}

static GstFlowReturn
gst_box_transform_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstBoxTransform *self = GST_BOX_TRANSFORM (trans);
  const PictureChangePlan *plan = &self->plan;
  const guint count = box_meta_reading_take (self->reading, buffer, plan->read_width,
      plan->read_height, BOX_READ_LEAN);
  guint outside = 0;

  if (self->moves) {
    outside = box_meta_reading_map (self->reading, &plan->map, plan->width, plan->height,
        self->clip);
    box_rewrite (buffer, self->reading, plan->width, plan->height);
    box_remove (buffer, self->reading);
    box_meta_reading_warn (self->reading, GST_ELEMENT (self));
    GST_LOG_OBJECT (self, "moved %u boxes, of which %u are outside", count, outside);
  }
  count_boxes (self, count, outside);
  return GST_FLOW_OK;
}

/* -------------------------------------------------------------------- stream */

/* set_caps is not used, because the base class then refuses streams without caps. */
static gboolean
gst_box_transform_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstBoxTransform *self = GST_BOX_TRANSFORM (trans);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    frame_size_from_caps (caps, &self->width, &self->height);
    GST_DEBUG_OBJECT (self, "frame size %dx%d", self->width, self->height);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    g_object_notify (G_OBJECT (self), "stats");
  }
  return GST_BASE_TRANSFORM_CLASS (gst_box_transform_parent_class)->sink_event (trans, event);
}

static gboolean
gst_box_transform_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query,
    GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (gst_box_transform_parent_class)
           ->propose_allocation (trans, decide_query, query))
    GST_DEBUG_OBJECT (trans, "downstream does not answer the query");
  box_meta_propose (query);
  return TRUE;
}

static gboolean
gst_box_transform_start (GstBaseTransform *trans)
{
  GstBoxTransform *self = GST_BOX_TRANSFORM (trans);

  self->width = self->height = 0;
  box_meta_reading_reset (self->reading);
  GST_OBJECT_LOCK (self);
  self->stats = (TransformStats) { 0 };
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* --------------------------------------------------------------------- class */

static void
gst_box_transform_init (GstBoxTransform *self)
{
  self->change = (PictureChange) { .top = DEFAULT_CROP,
    .bottom = DEFAULT_CROP,
    .left = DEFAULT_CROP,
    .right = DEFAULT_CROP,
    .width = DEFAULT_SIZE,
    .height = DEFAULT_SIZE,
    .direction = DEFAULT_DIRECTION,
    .stretched = DEFAULT_STRETCHED,
    .clip = DEFAULT_CLIP };
  self->reading = box_meta_reading_new ();
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_box_transform_finalize (GObject *object)
{
  box_meta_reading_free (GST_BOX_TRANSFORM (object)->reading);
  G_OBJECT_CLASS (gst_box_transform_parent_class)->finalize (object);
}

#define WRITABLE \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)

static void
install_int (GObjectClass *klass, guint id, const gchar *name, const gchar *nick,
    const gchar *blurb, gint min, gint value)
{
  g_object_class_install_property (klass, id,
      g_param_spec_int (name, nick, blurb, min, G_MAXINT, value, WRITABLE));
}

/* macros, because the descriptions are static strings */
#define INSTALL_CROP(klass, id, name, nick, added) \
  install_int (klass, id, name, nick, \
      "Pixels that were cropped at the " name "; negative = " added " that were added there", \
      G_MININT, DEFAULT_CROP)
#define INSTALL_SIZE(klass, id, name, nick, direction) \
  install_int (klass, id, name, nick, \
      nick " of the picture before the crop, to which the boxes refer; 0 = not scaled " direction \
           " after the crop and the flip", \
      0, DEFAULT_SIZE)

static void
install_properties (GObjectClass *klass)
{
  INSTALL_CROP (klass, PROP_TOP, "top", "Top", "rows");
  INSTALL_CROP (klass, PROP_BOTTOM, "bottom", "Bottom", "rows");
  INSTALL_CROP (klass, PROP_LEFT, "left", "Left", "columns");
  INSTALL_CROP (klass, PROP_RIGHT, "right", "Right", "columns");
  INSTALL_SIZE (klass, PROP_WIDTH, "width", "Width", "horizontally");
  INSTALL_SIZE (klass, PROP_HEIGHT, "height", "Height", "vertically");
  g_object_class_install_property (klass, PROP_VIDEO_DIRECTION,
      g_param_spec_enum ("video-direction", "Video direction",
          "How the picture was flipped or turned after the crop: the property of that name of "
          "videoflip. auto and custom are refused",
          GST_TYPE_VIDEO_ORIENTATION_METHOD, DEFAULT_DIRECTION, WRITABLE));
  g_object_class_install_property (klass, PROP_STRETCHED,
      g_param_spec_boolean ("stretched", "Stretched",
          "Set it if the boxes were scaled from the size of the picture before the crop to the "
          "size of this frame, as boxreplay does. Otherwise they are in pixels of the picture "
          "before the crop",
          DEFAULT_STRETCHED, WRITABLE));
  g_object_class_install_property (klass, PROP_CLIP,
      g_param_spec_boolean ("clip", "Clip",
          "Clip boxes to the frame. Rotated boxes are not "
          "clipped, and boxes wholly outside are removed in any case",
          DEFAULT_CLIP, WRITABLE));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Totals since READY, all guint64: frames, "
          "boxes-in, boxes-out, and boxes removed because they were outside of the frame "
          "(outside). Notifies at EOS",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_box_transform_class_init (GstBoxTransformClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (box_transform_debug, "boxtransform", 0, "moves boxes");

  object_class->set_property = gst_box_transform_set_property;
  object_class->get_property = gst_box_transform_get_property;
  object_class->finalize = gst_box_transform_finalize;
  install_properties (object_class);

  element_class_describe (element_class, "Box transform", "Filter/Metadata/Video",
      "Moves the boxes of video frames as the picture was cropped, flipped or scaled upstream",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! boxrecord name=before before.src ! queue ! videoconvert ! videocrop left=40 top=20 "
      "! after.sink before.boxes ! queue ! after.boxes boxreplay name=after existing=replace "
      "! boxtransform stretched=true left=40 top=20 ! boxoverlay ! videoconvert ! autovideosink");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = gst_box_transform_start;
  trans_class->sink_event = gst_box_transform_sink_event;
  trans_class->propose_allocation = gst_box_transform_propose_allocation;
  trans_class->before_transform = properties_before_transform;
  trans_class->prepare_output_buffer = gst_box_transform_prepare_output_buffer;
  trans_class->transform_ip = gst_box_transform_transform_ip;
  trans_class->transform_ip_on_passthrough = FALSE;
}
