/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* csvtext: splits at commas without a library, because quotation marks are refused. */
#include "csvtext.h"

#include <math.h>
#include <string.h>

#include "numbertext.h"

typedef enum
{
  FRAME,
  X,
  Y,
  WIDTH,
  HEIGHT,
  SCORE,
  LABEL_ID,
  LABEL,
  ID,
  N_COLUMNS
} Column;

static const gchar *const names[N_COLUMNS] = { "frame", "x", "y", "width", "height", "score",
  "label_id", "label", "id" };

struct _CsvColumns
{
  guint count;              /* columns of a line */
  gint position[N_COLUMNS]; /* of each column in the line; -1: missing */
};

static gboolean
refuse (Column column, const gchar *what, GError **error)
{
  g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%s %s", names[column], what);
  return FALSE;
}

/* -------------------------------------------------------------------- columns */

/* Stores where the column with this name is. */
static gboolean
add_column (CsvColumns *self, const gchar *name, GError **error)
{
  for (gsize i = 0; i < N_COLUMNS; i++) {
    if (!g_str_equal (name, names[i]))
      continue;
    if (self->position[i] >= 0) {
      g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE, "two columns are named %s", name);
      return FALSE;
    }
    self->position[i] = (gint) self->count;
  }
  self->count++;
  return TRUE;
}

CsvColumns *
csv_columns_new (const gchar *header, gsize length, GError **error)
{
  CsvColumns *self = g_new0 (CsvColumns, 1);
  gchar *line = g_strndup (header, length);
  gchar **cells = g_strsplit (line, ",", -1);
  gboolean good = TRUE;

  for (gsize i = 0; i < N_COLUMNS; i++)
    self->position[i] = -1;
  for (gsize i = 0; good && cells[i]; i++)
    good = add_column (self, g_strstrip (cells[i]), error);
  for (gsize i = FRAME; good && i <= HEIGHT; i++)
    if (self->position[i] < 0) {
      good = FALSE;
      g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
          "the first line names no column %s;"
          " it has to name frame, x, y, width and height, without quotation marks",
          names[i]);
    }
  g_strfreev (cells);
  g_free (line);
  if (!good)
    g_clear_pointer (&self, g_free);
  return self;
}

void
csv_columns_free (CsvColumns *self)
{
  g_free (self);
}

/* ---------------------------------------------------------------------- lines */

/* Cuts the line and sets cells[] of the known columns; NULL: missing or empty. */
static gboolean
split (const CsvColumns *self, gchar *line, gchar *cells[N_COLUMNS], GError **error)
{
  guint count = 0;

  memset (cells, 0, N_COLUMNS * sizeof *cells);
  for (gchar *cell = line, *next; cell; cell = next, count++) {
    next = strchr (cell, ',');
    if (next)
      *next++ = '\0';
    cell = g_strstrip (cell);
    for (gsize i = 0; i < N_COLUMNS; i++)
      if (self->position[i] == (gint) count && *cell)
        cells[i] = cell;
  }
  if (count == self->count)
    return TRUE;
  g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%u columns, but the first line has %u",
      count, self->count);
  return FALSE;
}

/* Reads a plain decimal number. */
static gboolean
parse_number (gchar *cells[N_COLUMNS], Column column, gdouble *number, GError **error)
{
  const gchar *cell = cells[column];
  gchar *end;

  if (cell == NULL)
    return refuse (column, "is missing", error);
  *number = g_ascii_strtod (cell, &end);
  if (*end != '\0' || strspn (cell, "0123456789+-.eE") != strlen (cell) || !isfinite (*number))
    return refuse (column, "is not a finite number", error);
  return TRUE;
}

/* Sets *number and the flag if there is a value. */
static gboolean
parse_int (gchar *cells[N_COLUMNS], Column column, gint *number, BoxFlags flag, Box *box,
    GError **error)
{
  gint64 wide;

  if (cells[column] == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (cells[column], 10, G_MININT, G_MAXINT, &wide, NULL))
    return refuse (column, "is not an integer of 32 bits", error);
  *number = (gint) wide;
  box->flags |= flag;
  return TRUE;
}

static gboolean
parse_pixels (gchar *cells[N_COLUMNS], Box *box, GError **error)
{
  const gchar *what;
  gdouble pixels[4];
  guint wrong;

  for (guint i = 0; i < 4; i++)
    if (!parse_number (cells, X + i, &pixels[i], error))
      return FALSE;
  what = recorded_frame_place (box, pixels, &wrong);
  return what == NULL || refuse (X + wrong, what, error);
}

gboolean
csv_text_parse (const CsvColumns *self, gchar *line, LabelTable *labels, guint64 *frame, Box *box,
    GError **error)
{
  gchar *cells[N_COLUMNS];

  *box = (Box) { .parent = -1, .suppressed_by = -1, .od = -1 };
  if (strchr (line, '"')) {
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED,
        "a quotation mark, but cells in quotation marks are not read");
    return FALSE;
  }
  if (!split (self, line, cells, error))
    return FALSE;
  if (!cells[FRAME]
      || !g_ascii_string_to_unsigned (cells[FRAME], 10, 0, G_GUINT64_CONSTANT (1) << 53, frame,
          NULL))
    return refuse (FRAME, "is not an integer from 0 to 2^53 in digits", error);
  if (!parse_pixels (cells, box, error)
      || !parse_int (cells, LABEL_ID, &box->label_id, BOX_HAS_LABEL_ID, box, error)
      || !parse_int (cells, ID, &box->track_id, BOX_HAS_TRACK_ID, box, error))
    return FALSE;
  if (cells[LABEL])
    box->label = label_table_intern (labels, cells[LABEL]);
  if (cells[SCORE] == NULL)
    return TRUE;
  box->flags |= BOX_HAS_CONFIDENCE;
  return parse_number (cells, SCORE, &box->confidence, error);
}

guint64
csv_text_frame (const CsvColumns *self, const gchar *line)
{
  for (gint column = 0; column < self->position[FRAME]; column++) {
    line += strcspn (line, ",\n");
    if (*line != ',')
      return 0;
    line++;
  }
  line += strspn (line, " \t");
  return g_ascii_isdigit (*line) ? g_ascii_strtoull (line, NULL, 10) + 1 : 0;
}

/* -------------------------------------------------------------------- writing */

static void
format_box (const Box *box, guint64 frame, GString *out)
{
  const gdouble pixels[] = { MIN (box->x1, box->x2), MIN (box->y1, box->y2),
    fabs (box->x2 - box->x1), fabs (box->y2 - box->y1) };

  number_text_append_int (out, (gint64) frame);
  for (guint i = 0; i < 4; i++) {
    g_string_append_c (out, ',');
    number_text_append_pixels (out, pixels[i]);
  }
  g_string_append_c (out, ',');
  if (box->flags & BOX_HAS_CONFIDENCE && isfinite (box->confidence))
    number_text_append_double (out, box->confidence);
  g_string_append_c (out, ',');
  if (box->flags & BOX_HAS_LABEL_ID)
    number_text_append_int (out, box->label_id);
  g_string_append_c (out, ',');
  if (box->label)
    g_string_append (out, g_quark_to_string (box->label));
  g_string_append_c (out, ',');
  if (box->flags & BOX_HAS_TRACK_ID)
    number_text_append_int (out, box->track_id);
  g_string_append_c (out, '\n');
}

gboolean
csv_text_format (const RecordedFrame *frame, GString *out, GError **error)
{
  for (guint i = 0; i < frame->boxes->len; i++) {
    const Box *box = &g_array_index (frame->boxes, Box, i);
    const gchar *label = g_quark_to_string (box->label);

    if (label && strpbrk (label, ",\"\r\n")) {
      g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
          "the label \"%s\" has a comma, a "
          "quotation mark or a line break, which CSV text cannot have here",
          label);
      return FALSE;
    }
    format_box (box, frame->index, out);
  }
  return TRUE;
}
