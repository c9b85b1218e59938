/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mottext: splits the columns without a library, because the format is simple. */
#include "mottext.h"

#include <math.h>
#include <string.h>

#include "jsonlwrite.h"

#define MAX_COLUMNS 10

static const gchar *const column_names[MAX_COLUMNS] = { "frame", "id", "left", "top", "width",
  "height", "conf", "column 8", "column 9", "column 10" };

static gboolean G_GNUC_PRINTF (2, 3) refuse (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error,
      g_error_new_valist (RECORD_ERROR, RECORD_ERROR_MALFORMED, format, args));
  va_end (args);
  return FALSE;
}

/* Reads one column, which must be a plain decimal number. */
static gboolean
parse_column (const gchar **text, guint column, gdouble *number, GError **error)
{
  const gchar *start = *text + strspn (*text, " \t");
  gsize length = strspn (start, "0123456789+-.eE");
  gchar *end;

  *number = g_ascii_strtod (start, &end);
  if (length == 0 || end != start + length)
    return refuse (error, "%s is not a number", column_names[column]);
  if (!isfinite (*number))
    return refuse (error, "%s is not a finite number", column_names[column]);
  end += strspn (end, " \t\r");
  if (*end == ';')
    return refuse (error, "the columns are separated by semicolons; MOT text has commas");
  if (*end != ',' && *end != '\0')
    return refuse (error, "%s is not a number", column_names[column]);
  *text = end;
  return TRUE;
}

static gboolean
is_integer (gdouble number, gdouble min, gdouble max)
{
  return number >= min && number <= max && number == floor (number);
}

gboolean
mot_text_parse_line (const gchar *text, MotTextLine *line, GError **error)
{
  gdouble v[MAX_COLUMNS];
  guint columns = 0;
  Box *box = &line->box;

  for (;;) {
    if (columns == MAX_COLUMNS)
      return refuse (error, "more than %d columns", MAX_COLUMNS);
    if (!parse_column (&text, columns, &v[columns], error))
      return FALSE;
    columns++;
    if (*text == '\0')
      break;
    text++;
  }
  if (columns < 6 || columns == 8)
    return refuse (error, "%u columns, but detections have 10 (or 7, or 6) and ground truth 9",
        columns);
  /* a double holds every integer up to 2^53 */
  if (!is_integer (v[0], 1, 9007199254740992.0))
    return refuse (error, "frame is not an integer from 1");
  if (!is_integer (v[1], G_MININT, G_MAXINT))
    return refuse (error, "id is not an integer from %d to %d", G_MININT, G_MAXINT);
  if (v[2] < G_MININT32 || v[2] > G_MAXINT32 || v[3] < G_MININT32 || v[3] > G_MAXINT32)
    return refuse (error, "left or top is not within +-2^31");
  if (v[4] < 0 || v[5] < 0)
    return refuse (error, "width or height is negative");
  if (v[4] > G_MAXUINT32 || v[5] > G_MAXUINT32)
    return refuse (error, "width or height is 2^32 or more");

  *line = (MotTextLine) {
    .frame = (guint64) v[0] - 1,
    .columns = columns,
    .box = { .parent = -1, .suppressed_by = -1 },
  };
  box->x1 = v[2] - 1;
  box->y1 = v[3] - 1;
  box->x2 = box->x1 + v[4];
  box->y2 = box->y1 + v[5];
  box->x = (gint64) round (box->x1);
  box->y = (gint64) round (box->y1);
  box->w = (gint64) round (v[4]);
  box->h = (gint64) round (v[5]);
  if (v[1] != -1) {
    box->track_id = (gint) v[1];
    box->flags |= BOX_HAS_TRACK_ID;
  }
  if (columns == 9) {
    line->ignored = v[6] == 0;
    if (!is_integer (v[7], G_MININT, G_MAXINT))
      return refuse (error, "class is not an integer from %d to %d", G_MININT, G_MAXINT);
    box->label_id = (gint) v[7];
    box->flags |= BOX_HAS_LABEL_ID;
  } else if (columns > 6 && v[6] != -1) {
    box->confidence = v[6];
    box->flags |= BOX_HAS_CONFIDENCE;
  }
  return TRUE;
}

/* Appends a comma and a number of pixels. */
static void
append_pixels (GString *out, gdouble pixels)
{
  g_string_append_c (out, ',');
  jsonl_append_pixels (out, pixels);
}

guint
mot_text_format (const RecordedFrame *frame, GString *out)
{
  guint i, omitted = 0;

  for (i = 0; i < frame->boxes->len; i++) {
    const Box *box = &g_array_index (frame->boxes, Box, i);
    gboolean has = (box->flags & BOX_HAS_CONFIDENCE) != 0;
    gboolean writable = has && isfinite (box->confidence) && box->confidence != -1;

    omitted += has && !writable;
    jsonl_append_int (out, (gint64) (frame->index + 1));
    g_string_append_c (out, ',');
    jsonl_append_int (out, box->flags & BOX_HAS_TRACK_ID ? box->track_id : -1);
    append_pixels (out, MIN (box->x1, box->x2) + 1);
    append_pixels (out, MIN (box->y1, box->y2) + 1);
    append_pixels (out, fabs (box->x2 - box->x1));
    append_pixels (out, fabs (box->y2 - box->y1));
    g_string_append_c (out, ',');
    jsonl_append_double (out, writable ? box->confidence : -1);
    g_string_append (out, ",-1,-1,-1\n");
  }
  return omitted;
}
