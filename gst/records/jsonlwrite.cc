/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jsonlwrite: formats boxes as one line of JSON. A library for writing JSON would
 * save nothing, because the order of members and the digits are fixed. The caller
 * reuses the string, so that nothing is allocated once it is long enough. Numbers are
 * written by <charconv>, because that does not depend on the locale. */
#include "jsonlwrite.h"

#include <charconv>
#include <math.h>
#include <string.h>

#include "jsonl.h"

#define TEXT_SIZE 32

/* Returns the bits of a number. Numbers are compared by their bits because
 * subnormal ones would equal 0 if other code in the process left flush-to-zero on. */
static inline guint64
bits_of (gdouble number)
{
  guint64 bits;

  memcpy (&bits, &number, sizeof bits);
  return bits;
}

/* Writes a number as printf's %.*g does with `digits`, and a NUL. Returns the end of the text. */
static gchar *
format (gchar text[TEXT_SIZE], gdouble number, gint digits)
{
  gchar how[8], *end;

  if ((bits_of (number) >> 52 & 0x7ff) != 0) {
    end = std::to_chars (text, text + TEXT_SIZE, number, std::chars_format::general, digits).ptr;
    *end = '\0';
    return end;
  }
  /* std::to_chars compares subnormal numbers with 0 */
  g_snprintf (how, sizeof how, "%%.%dg", digits);
  return text + strlen (g_ascii_formatd (text, TEXT_SIZE, how, number));
}

/* Returns whether printf's %g writes a number with 15 or more digits without an exponent. */
static inline bool
is_plain (gdouble number)
{
  return (number >= 1e-4 && number < 1e15) || (number > -1e15 && number <= -1e-4);
}

void
jsonl_append_double (GString *out, gdouble number)
{
  gchar text[TEXT_SIZE], *end = text;

  if (bits_of (number) << 1 == 0)
    number = 0.0; /* drop the sign of -0, because JSON readers lose it */
  if (is_plain (number)) {
    /* the shortest digits are those that the loop below finds, three times as fast */
    end = std::to_chars (text, text + TEXT_SIZE, number, std::chars_format::fixed).ptr;
    g_string_append_len (out, text, end - text);
    return;
  }
  for (gint digits = 15; digits <= 17; digits++) {
    end = format (text, number, digits);
    /* std::from_chars rounds some numbers twice on 32-bit x86 */
    if (bits_of (g_ascii_strtod (text, NULL)) == bits_of (number))
      break;
  }
  g_string_append_len (out, text, end - text);
}

void
jsonl_append_pixels (GString *out, gdouble pixels)
{
  pixels = CLAMP (pixels, -1e9, 1e9);
  jsonl_append_double (out, round (pixels * 1e6) / 1e6);
}

void
jsonl_append_int (GString *out, gint64 number)
{
  gchar digits[24];
  gsize i = sizeof digits;
  guint64 rest = number < 0 ? -(guint64) number : (guint64) number;

  do
    digits[--i] = '0' + rest % 10;
  while ((rest /= 10) > 0);
  if (number < 0)
    digits[--i] = '-';
  g_string_append_len (out, digits + i, sizeof digits - i);
}

void
jsonl_append_string (GString *out, const gchar *text)
{
  const gchar *end = text + strlen (text);

  g_string_append_c (out, '"');
  while (text < end) {
    const gchar *valid_end, *p;

    g_utf8_validate (text, end - text, &valid_end);
    for (p = text; p < valid_end; p++) {
      static const gchar short_form[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
      const gchar *found = strchr (short_form, *p);

      if (found)
        g_string_append_printf (out, "\\%c", letter[found - short_form]);
      else if ((guchar) *p < 0x20)
        g_string_append_printf (out, "\\u%04x", (guint) (guchar) *p);
      else
        g_string_append_c (out, *p);
    }
    text = valid_end;
    if (text < end) {
      g_string_append (out, "\xef\xbf\xbd");
      text++;
    }
  }
  g_string_append_c (out, '"');
}

/* ----------------------------------------------------------------------- lines */

static void
member_int (GString *out, const gchar *name_and_colon, gint64 number)
{
  g_string_append (out, name_and_colon);
  jsonl_append_int (out, number);
}

static void
member_double (GString *out, const gchar *name_and_colon, gdouble number)
{
  g_string_append (out, name_and_colon);
  jsonl_append_double (out, number);
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
      jsonl_append_string (out, g_quark_to_string (box->label));
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
    jsonl_append_string (out, g_quark_to_string (box->label));
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
    jsonl_append_string (out, state);
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
    jsonl_append_string (out, frame->stream_id);
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
