/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-boxoverlay
 * @title: boxoverlay
 * @short_description: draws the boxes that are attached to video frames
 *
 * Draws an outline and a label for each detection on a buffer straight into the
 * pixels of the frame. Detections are #GstVideoRegionOfInterestMeta and, where the
 * plugin was built with GstAnalytics, #GstAnalyticsODMtd, rotated ones too. The
 * metadata is not changed. A buffer without detections passes unchanged; a buffer
 * that is shared with others (after a tee) is copied first. A buffer that is painted
 * on loses its flag #GST_BUFFER_FLAG_GAP. If a buffer has a #GstVideoCropMeta, boxes
 * are drawn inside the crop, and their coordinates count from its top left corner.
 *
 * * The outline lies inside the box. In formats with subsampled chroma it starts on
 *   the chroma grid and its width is rounded up to that grid (an even number of
 *   pixels in 4:2:0). Parts off the frame are not drawn.
 * * The label shows the class, the track (`#7`) and the score if the detection has
 *   them. It stands above the box, or inside it at the top of the frame, and never
 *   covers another label. Labels of boxes with better scores are placed first; the
 *   others move below or inside their box, and a label that fits nowhere is left
 *   out. A text wider than half of the frame ends in an ellipsis.
 * * The colour is computed from the text of the class or of the track, so a class
 *   has the same colour in every run.
 * * Boxes that an nmsfilter with action=tag marked as suppressed, below-score and
 *   so on are drawn grey and dashed.
 *
 * If the caps have the feature meta:GstAnalyticsBatchMeta (GStreamer 1.28), the boxes are drawn
 * into each video frame inside of the batches. A stream inside that cannot be painted on passes
 * unchanged, with a warning.
 *
 * Put it before any videoconvert or videoscale, because those drop the scores.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! videoconvert \
 *   ! hogdetect ! nmsfilter score-threshold=0.7 ! boxoverlay \
 *   ! videoconvert ! autovideosink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxdraw.h"
#include "elements.h"
#include "enumtype.h"
#include "meta/batchmeta.h"
#include "meta/boxmeta.h"
#include "properties.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (box_overlay_debug);
#define GST_CAT_DEFAULT box_overlay_debug

#define DEFAULT_THICKNESS 2
#define MAX_THICKNESS 64
#define DEFAULT_SHOW_LABEL TRUE
#define DEFAULT_SHOW_SCORE TRUE
#define DEFAULT_COLOR_BY BOX_DRAW_COLOR_BY_CLASS
#define DEFAULT_FONT_DESC "Sans Bold"

enum
{
  PROP_0,
  PROP_THICKNESS,
  PROP_SHOW_LABEL,
  PROP_SHOW_SCORE,
  PROP_COLOR_BY,
  PROP_FONT_DESC,
};

#define GST_TYPE_BOX_OVERLAY (gst_box_overlay_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxOverlay, gst_box_overlay, GST, BOX_OVERLAY, GstBaseTransform);

/* The data with which the frames of one stream are painted on. */
typedef struct
{
  GstVideoInfo info; /* the format is UNKNOWN if the caps are not raw video */
  BoxDraw *draw;
} OverlayStream;

struct _GstBoxOverlay
{
  GstBaseTransform parent;

  /* under the object lock */
  BoxDrawOptions options;
  gchar *font_desc;

  /* streaming thread, between start and stop */
  OverlayStream *stream;
  BatchMeta *batch; /* the streams of batches */
  gboolean batches; /* the buffers are batches */
  GArray *boxes;
  gboolean warned;
};

G_DEFINE_TYPE (GstBoxOverlay, gst_box_overlay, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (boxoverlay, "boxoverlay", GST_RANK_NONE, GST_TYPE_BOX_OVERLAY);

#define GST_TYPE_BOX_OVERLAY_COLOR_BY (gst_box_overlay_color_by_get_type ())
DEFINE_ENUM_TYPE (gst_box_overlay_color_by_get_type, "GstBoxOverlayColorBy",
    { BOX_DRAW_COLOR_BY_CLASS, "One colour for each class", "class" },
    { BOX_DRAW_COLOR_BY_TRACK, "One colour for each track; by class if a box has none", "track" })

/* Returns caps of every raw format that can be painted on. */
static GstCaps *
gst_box_overlay_template_caps (void)
{
  GValue formats = G_VALUE_INIT, name = G_VALUE_INIT;
  guint n;
  const GstVideoFormat *format = gst_video_formats_raw (&n);
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "width", GST_TYPE_INT_RANGE, 1, G_MAXINT,
      "height", GST_TYPE_INT_RANGE, 1, G_MAXINT, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1,
      G_MAXINT, 1, NULL);

  g_value_init (&formats, GST_TYPE_LIST);
  g_value_init (&name, G_TYPE_STRING);
  for (guint i = 0; i < n; i++) {
    if (!paint_can_paint (gst_video_format_get_info (format[i])))
      continue;
    g_value_set_static_string (&name, gst_video_format_to_string (format[i]));
    gst_value_list_append_value (&formats, &name);
  }
  gst_caps_set_value (caps, "format", &formats);
  g_value_unset (&name);
  g_value_unset (&formats);
  batch_meta_append_caps (caps);
  return caps;
}

static gpointer
stream_new (GstObject *element)
{
  OverlayStream *stream = g_new0 (OverlayStream, 1);

  gst_video_info_init (&stream->info);
  stream->draw = box_draw_new ();
  return stream;
}

static void
stream_free (gpointer data)
{
  OverlayStream *stream = data;

  box_draw_free (stream->draw);
  g_free (stream);
}

/* Loads the font before the first frame needs it, if labels are shown. */
static void
load_font (GstBoxOverlay *self, OverlayStream *stream, const GstVideoInfo *info)
{
  gchar *font_desc = NULL;

  GST_OBJECT_LOCK (self);
  if (self->options.show_label || self->options.show_score)
    font_desc = g_strdup (self->font_desc);
  GST_OBJECT_UNLOCK (self);
  if (font_desc)
    box_draw_load_font (stream->draw, info, font_desc);
  g_free (font_desc);
}

static gboolean
gst_box_overlay_start (GstBaseTransform *trans)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (trans);
  GstVideoInfo likely;

  self->stream = stream_new (GST_OBJECT (self));
  /* The files of the font take most of the time, whatever the size of the frames is. */
  gst_video_info_set_format (&likely, GST_VIDEO_FORMAT_I420, 1920, 1080);
  load_font (self, self->stream, &likely);
  self->boxes = g_array_new (FALSE, FALSE, sizeof (Box));
  self->warned = self->batches = FALSE;
  batch_meta_reset (self->batch);
  return TRUE;
}

static gboolean
gst_box_overlay_stop (GstBaseTransform *trans)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (trans);

  g_clear_pointer (&self->stream, stream_free);
  g_clear_pointer (&self->boxes, g_array_unref);
  return TRUE;
}

/* Returns FALSE if the caps are not raw video. */
static gboolean
set_stream_caps (GstBoxOverlay *self, OverlayStream *stream, const GstCaps *caps)
{
  if (!gst_video_info_from_caps (&stream->info, caps)) {
    gst_video_info_init (&stream->info);
    return FALSE;
  }
  load_font (self, stream, &stream->info);
  return TRUE;
}

static gboolean
gst_box_overlay_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (trans);

  self->batches = batch_meta_in_caps (incaps);
  if (self->batches || set_stream_caps (self, self->stream, incaps))
    return TRUE;
  GST_ERROR_OBJECT (self, "cannot paint on frames of these caps: %" GST_PTR_FORMAT, incaps);
  return FALSE;
}

/* Tells upstream that box metadata is supported, in addition to what downstream supports. */
static gboolean
gst_box_overlay_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query,
    GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (gst_box_overlay_parent_class)
           ->propose_allocation (trans, decide_query, query))
    GST_DEBUG_OBJECT (trans, "downstream does not answer the query");
  box_meta_propose (query);
  return TRUE;
}

static void
gst_box_overlay_warn (GstBoxOverlay *self, const GstVideoInfo *info, GstBuffer *buffer)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  gchar crop_text[80] = "";

  if (self->warned) {
    GST_DEBUG_OBJECT (self, "cannot paint on %" GST_PTR_FORMAT, buffer);
    return;
  }
  self->warned = TRUE;
  if (crop)
    g_snprintf (crop_text, sizeof crop_text, "; its crop is %ux%u at %u,%u", crop->width,
        crop->height, crop->x, crop->y);
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("Cannot paint on a video frame; its boxes are not drawn."),
      ("the buffer has %" G_GSIZE_FORMAT " bytes, a %s frame of %dx%d needs %" G_GSIZE_FORMAT "%s",
          gst_buffer_get_size (buffer), GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info),
          GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_SIZE (info), crop_text));
}

/* Draws the boxes of a writable buffer. */
static void
paint_buffer (GstBoxOverlay *self, OverlayStream *stream, GstBuffer *buffer)
{
  const GstVideoInfo *info = &stream->info;
  GstVideoFrame frame;
  BoxDrawOptions options;
  gchar *font_desc;
  guint drawn = 0;

  GST_OBJECT_LOCK (self);
  options = self->options;
  font_desc = g_strdup (self->font_desc);
  GST_OBJECT_UNLOCK (self);
  options.font_desc = font_desc;

  box_meta_read (buffer, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
      BOX_READ_TRACK | BOX_READ_STATE, self->boxes);
  if (gst_video_frame_map (&frame, info, buffer, GST_MAP_READWRITE)) {
    if (!box_draw_frame (stream->draw, &frame, self->boxes, &options, &drawn))
      gst_box_overlay_warn (self, info, buffer);
    gst_video_frame_unmap (&frame);
  } else {
    gst_box_overlay_warn (self, info, buffer);
  }
  if (drawn > 0)
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_GAP);
  g_free (font_desc);
}

/* -------------------------------------------------------------------- batches */

static void
take_stream_event (GstObject *element, BatchStream *stream, GstEvent *event)
{
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return;
  gst_event_parse_caps (event, &caps);
  set_stream_caps (GST_BOX_OVERLAY (element), stream->data, caps);
}

static GstFlowReturn
paint_frame (GstObject *element, BatchFrame *frame)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (element);
  OverlayStream *stream = frame->stream->data;

  if (!box_meta_any (frame->buffer))
    return GST_FLOW_OK;
  if (!paint_can_paint (stream->info.finfo))
    gst_box_overlay_warn (self, &stream->info, frame->buffer);
  else
    paint_buffer (self, stream, batch_meta_make_writable (frame));
  return GST_FLOW_OK;
}

static const BatchFuncs batch_funcs = {
  .stream_new = stream_new,
  .stream_free = stream_free,
  .event = take_stream_event,
  .frame = paint_frame,
};

/* ---------------------------------------------------------------- the buffers */

/* Makes only buffers with boxes writable. Batches are painted on here. */
static GstFlowReturn
gst_box_overlay_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *inbuf,
    GstBuffer **outbuf)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (trans);

  *outbuf = inbuf;
  if (self->batches)
    return batch_meta_walk (self->batch, outbuf, &trans->segment);
  if (!box_meta_any (inbuf))
    return GST_FLOW_OK;
  return GST_BASE_TRANSFORM_CLASS (gst_box_overlay_parent_class)
      ->prepare_output_buffer (trans, inbuf, outbuf);
}

static GstFlowReturn
gst_box_overlay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (trans);

  if (!self->batches && box_meta_any (buffer))
    paint_buffer (self, self->stream, buffer);
  return GST_FLOW_OK;
}

static const gsize fields[] = {
  [PROP_THICKNESS] = G_STRUCT_OFFSET (GstBoxOverlay, options.thickness),
  [PROP_SHOW_LABEL] = G_STRUCT_OFFSET (GstBoxOverlay, options.show_label),
  [PROP_SHOW_SCORE] = G_STRUCT_OFFSET (GstBoxOverlay, options.show_score),
  [PROP_COLOR_BY] = G_STRUCT_OFFSET (GstBoxOverlay, options.color_by),
  [PROP_FONT_DESC] = G_STRUCT_OFFSET (GstBoxOverlay, font_desc),
};

static void
gst_box_overlay_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (object);

  GST_OBJECT_LOCK (self);
  property_field_set (G_STRUCT_MEMBER_P (self, fields[id]), value);
  if (self->font_desc == NULL)
    self->font_desc = g_strdup (DEFAULT_FONT_DESC);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_box_overlay_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstBoxOverlay *self = GST_BOX_OVERLAY (object);

  GST_OBJECT_LOCK (self);
  property_field_get (G_STRUCT_MEMBER_P (self, fields[id]), value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_box_overlay_finalize (GObject *object)
{
  g_free (GST_BOX_OVERLAY (object)->font_desc);
  batch_meta_free (GST_BOX_OVERLAY (object)->batch);
  G_OBJECT_CLASS (gst_box_overlay_parent_class)->finalize (object);
}

static void
gst_box_overlay_class_init (GstBoxOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  GstCaps *caps = gst_box_overlay_template_caps ();

  GST_DEBUG_CATEGORY_INIT (box_overlay_debug, "boxoverlay", 0, "draws boxes into video");

  object_class->set_property = gst_box_overlay_set_property;
  object_class->get_property = gst_box_overlay_get_property;
  object_class->finalize = gst_box_overlay_finalize;

  g_object_class_install_property (object_class, PROP_THICKNESS,
      g_param_spec_uint ("thickness", "Thickness",
          "Width of the outlines in pixels. It is rounded up to the chroma grid of the format", 1,
          MAX_THICKNESS, DEFAULT_THICKNESS, flags | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_SHOW_LABEL,
      g_param_spec_boolean ("show-label", "Show label",
          "Write the label and the track at each box that has them", DEFAULT_SHOW_LABEL,
          flags | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_SHOW_SCORE,
      g_param_spec_boolean ("show-score", "Show score",
          "Write the confidence at each box that has one", DEFAULT_SHOW_SCORE,
          flags | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_COLOR_BY,
      g_param_spec_enum ("color-by", "Color by",
          "Whether boxes of one class or boxes of one track have the same colour",
          GST_TYPE_BOX_OVERLAY_COLOR_BY, DEFAULT_COLOR_BY, flags | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_FONT_DESC,
      g_param_spec_string ("font-desc", "Font description",
          "Pango description of the labels' font, such as \"Sans Bold\", \"Serif 12\" (points "
          "of 1/72 inch at 96 pixels an inch) or \"Monospace 20px\". Without a size, the font "
          "size follows the frame size",
          DEFAULT_FONT_DESC, flags));

  element_class_describe (element_class, "Box overlay", "Filter/Editor/Video",
      "Draws the boxes that detectors attached to video frames, with label and score",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! boxoverlay thickness=3 ! videoconvert ! autovideosink");
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_type_mark_as_plugin_api (GST_TYPE_BOX_OVERLAY_COLOR_BY, 0);

  trans_class->start = gst_box_overlay_start;
  trans_class->stop = gst_box_overlay_stop;
  trans_class->set_caps = gst_box_overlay_set_caps;
  trans_class->propose_allocation = gst_box_overlay_propose_allocation;
  trans_class->before_transform = properties_before_transform;
  trans_class->prepare_output_buffer = gst_box_overlay_prepare_output_buffer;
  trans_class->transform_ip = gst_box_overlay_transform_ip;
  trans_class->transform_ip_on_passthrough = FALSE;
}

static void
gst_box_overlay_init (GstBoxOverlay *self)
{
  self->options.thickness = DEFAULT_THICKNESS;
  self->options.show_label = DEFAULT_SHOW_LABEL;
  self->options.show_score = DEFAULT_SHOW_SCORE;
  self->options.color_by = DEFAULT_COLOR_BY;
  self->font_desc = g_strdup (DEFAULT_FONT_DESC);
  self->batch = batch_meta_new (GST_OBJECT (self), &batch_funcs);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), FALSE);
}
