/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jsonlwrite: formats boxes as one line of JSON. A library for writing JSON would
 * save nothing, because the order of members and the digits are fixed. The caller
 * reuses the string, so that nothing is allocated once it is long enough. */
#include <math.h>

#include "jsonl.h"
#include "numbertext.h"

static void
member_int (GString *out, const gchar *name_and_colon, gint64 number)
{
  g_string_append (out, name_and_colon);
  number_text_append_int (out, number);
}

static void
member_double (GString *out, const gchar *name_and_colon, gdouble number)
{
  g_string_append (out, name_and_colon);
  number_text_append_double (out, number);
}

/* Clips to 0..size, if the size is known. */
static void
clip (gint64 *start, gint64 *length, gint size)
{
  gint64 end = *start + *length;

  if (size > 0) {
    *start = CLAMP (*start, 0, size);
    *length = MAX (CLAMP (end, 0, size) - *start, 0);
  }
}

static void
format_bounding_box (const Box *box, gint width, gint height, GString *out)
{
  gdouble x_min = box->x_min, y_min = box->y_min, x_max = box->x_max, y_max = box->y_max;

  if (!(box->flags & BOX_HAS_NORMALIZED)) {
    x_min = (gdouble) box->x / width;
    y_min = (gdouble) box->y / height;
    x_max = (gdouble) (box->x + box->w) / width;
    y_max = (gdouble) (box->y + box->h) / height;
  }
  member_double (out, "\"bounding_box\":{\"x_min\":", x_min);
  member_double (out, ",\"y_min\":", y_min);
  member_double (out, ",\"x_max\":", x_max);
  member_double (out, ",\"y_max\":", y_max);
  g_string_append (out, "},");
}

/* Appends the member "detection", if it has contents. Returns the number of
 * confidences left out. */
static guint
format_detection (const Box *box, gint width, gint height, GString *out)
{
  gboolean confidence = (box->flags & BOX_HAS_CONFIDENCE) && isfinite (box->confidence);
  gboolean label_id = (box->flags & BOX_HAS_LABEL_ID) != 0;
  gboolean size_known = width > 0;

  if (size_known || confidence || label_id || box->label) {
    g_string_append (out, ",\"detection\":{");
    if (size_known)
      format_bounding_box (box, width, height, out);
    if (confidence) {
      member_double (out, "\"confidence\":", box->confidence);
      g_string_append_c (out, ',');
    }
    if (label_id) {
      member_int (out, "\"label_id\":", box->label_id);
      g_string_append_c (out, ',');
    }
    if (box->label) {
      g_string_append (out, "\"label\":");
      number_text_append_string (out, g_quark_to_string (box->label));
      g_string_append_c (out, ',');
    }
    out->str[out->len - 1] = '}'; /* replaces the last comma */
  }
  return (box->flags & BOX_HAS_CONFIDENCE) && !confidence;
}

static guint
format_box (const Box *box, gint width, gint height, GString *out)
{
  const gchar *state = box_state_name (box->state);
  gint64 x = box->x, y = box->y, w = box->w, h = box->h;
  guint omitted;

  clip (&x, &w, width);
  clip (&y, &h, height);
  member_int (out, "{\"x\":", x);
  member_int (out, ",\"y\":", y);
  member_int (out, ",\"w\":", w);
  member_int (out, ",\"h\":", h);
  if (box->label) {
    g_string_append (out, ",\"roi_type\":");
    number_text_append_string (out, g_quark_to_string (box->label));
  }
  member_int (out, ",\"region_id\":", box->region_id);
  if (box->parent_id != 0)
    member_int (out, ",\"parent_id\":", box->parent_id);
  if (box->flags & BOX_HAS_TRACK_ID)
    member_int (out, ",\"id\":", box->track_id);
  if (box->rotation != 0 && isfinite (box->rotation))
    member_double (out, ",\"rotation\":", box->rotation);
  omitted = format_detection (box, width, height, out);
  if (state) {
    g_string_append (out, ",\"nms\":{\"state\":");
    number_text_append_string (out, state);
    if (box->suppressed_by >= 0)
      member_int (out, ",\"suppressed-by\":", box->suppressed_by);
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, '}');
  return omitted;
}

/* Appends the members that place a line among the other lines. */
static void
format_sequence (const RecordedFrame *frame, GString *out)
{
  if (frame->outside_segment)
    g_string_append (out, "\"outside-segment\":true,");
  if (frame->dropped > 0) {
    member_int (out, "\"dropped\":", (gint64) frame->dropped);
    g_string_append_c (out, ',');
  }
  if (frame->stream >= 0) {
    member_int (out, "\"stream\":", frame->stream);
    g_string_append_c (out, ',');
  }
  if (frame->stream_id) {
    g_string_append (out, "\"stream-id\":");
    number_text_append_string (out, frame->stream_id);
    g_string_append_c (out, ',');
  }
}

guint
jsonl_format (const RecordedFrame *frame, GString *out)
{
  gboolean size_known = frame->width > 0 && frame->height > 0;
  guint i, omitted = 0;

  g_string_append_c (out, '{');
  if (frame->timestamp <= G_MAXINT64) {
    member_int (out, "\"timestamp\":", (gint64) frame->timestamp);
    g_string_append_c (out, ',');
  }
  format_sequence (frame, out);
  if (size_known) {
    member_int (out, "\"resolution\":{\"width\":", frame->width);
    member_int (out, ",\"height\":", frame->height);
    g_string_append (out, "},");
  }
  g_string_append (out, "\"objects\":[");
  for (i = 0; i < frame->boxes->len; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    omitted += format_box (&g_array_index (frame->boxes, Box, i), size_known ? frame->width : 0,
        size_known ? frame->height : 0, out);
  }
  g_string_append (out, "]}\n");
  return omitted;
}
