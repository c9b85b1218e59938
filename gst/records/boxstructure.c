/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxstructure: allocates memory for each box, so boxrecord calls it only while a
 * handler is connected to its signal. */
#include "boxstructure.h"

static void
take_string (GstStructure *s, const gchar *field, gchar *text)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, text);
  gst_structure_take_value (s, field, &value);
}

static GstStructure *
from_box (const Box *box)
{
  GstStructure *s = gst_structure_new ("box", "x", G_TYPE_INT64, box->x, "y", G_TYPE_INT64, box->y,
      "w", G_TYPE_INT64, box->w, "h", G_TYPE_INT64, box->h, "region_id", G_TYPE_INT, box->region_id,
      NULL);

  /* a label may hold any bytes, but strings of other languages must be valid UTF-8 */
  if (box->label)
    take_string (s, "label", g_utf8_make_valid (g_quark_to_string (box->label), -1));
  if (box->parent_id != 0)
    gst_structure_set (s, "parent_id", G_TYPE_INT, box->parent_id, NULL);
  if (box->flags & BOX_HAS_NORMALIZED)
    gst_structure_set (s, "x_min", G_TYPE_DOUBLE, box->x_min, "y_min", G_TYPE_DOUBLE, box->y_min,
        "x_max", G_TYPE_DOUBLE, box->x_max, "y_max", G_TYPE_DOUBLE, box->y_max, NULL);
  if (box->rotation != 0)
    gst_structure_set (s, "rotation", G_TYPE_DOUBLE, box->rotation, NULL);
  if (box->flags & BOX_HAS_CONFIDENCE)
    gst_structure_set (s, "confidence", G_TYPE_DOUBLE, box->confidence, NULL);
  if (box->flags & BOX_HAS_LABEL_ID)
    gst_structure_set (s, "label_id", G_TYPE_INT, box->label_id, NULL);
  if (box->flags & BOX_HAS_TRACK_ID)
    gst_structure_set (s, "id", G_TYPE_INT, box->track_id, NULL);
  if (box_state_name (box->state))
    gst_structure_set (s, "state", G_TYPE_STRING, box_state_name (box->state), NULL);
  if (box->suppressed_by >= 0)
    gst_structure_set (s, "suppressed-by", G_TYPE_INT, box->suppressed_by, NULL);
  return s;
}

GstStructure *
box_structure_from_frame (const RecordedFrame *frame)
{
  GstStructure *s = gst_structure_new_empty ("frame-boxes");
  GValue array = G_VALUE_INIT;
  guint i;

  if (frame->timestamp != RECORDED_FRAME_NO_TIME)
    gst_structure_set (s, "timestamp", G_TYPE_UINT64, frame->timestamp, NULL);
  if (frame->stream >= 0)
    gst_structure_set (s, "stream", G_TYPE_UINT, (guint) frame->stream, NULL);
  if (frame->width > 0 && frame->height > 0)
    gst_structure_set (s, "width", G_TYPE_INT, frame->width, "height", G_TYPE_INT, frame->height,
        NULL);
  gst_value_array_init (&array, frame->boxes->len);
  for (i = 0; i < frame->boxes->len; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, from_box (&g_array_index (frame->boxes, Box, i)));
    gst_value_array_append_and_take_value (&array, &value);
  }
  gst_structure_take_value (s, "boxes", &array);
  return s;
}
