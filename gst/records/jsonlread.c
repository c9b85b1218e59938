/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jsonlread: checks the members that jsonscan has read, and makes boxes of them. */
#include "jsonl.h"

#include <math.h>
#include <string.h>

#include "jsonscan.h"

typedef enum
{
  GROUP_LINE,
  GROUP_RESOLUTION,
  GROUP_BOX,
  GROUP_DETECTION,
  GROUP_BOUNDING_BOX,
  GROUP_NMS,
} Group;

static const gchar *const group_paths[] = { "", "resolution.", "", "detection.",
  "detection.bounding_box.", "nms." };

/* A member, its name, the group of its object, and the groups of its contents and elements. */
#define NONE JSON_NO_GROUP
#define MEMBERS(EACH) \
  EACH (TIMESTAMP, "timestamp", GROUP_LINE, NONE, NONE) \
  EACH (DROPPED, "dropped", GROUP_LINE, NONE, NONE) \
  EACH (OUTSIDE_SEGMENT, "outside-segment", GROUP_LINE, NONE, NONE) \
  EACH (STREAM, "stream", GROUP_LINE, NONE, NONE) \
  EACH (STREAM_ID, "stream-id", GROUP_LINE, NONE, NONE) \
  EACH (RESOLUTION, "resolution", GROUP_LINE, GROUP_RESOLUTION, NONE) \
  EACH (OBJECTS, "objects", GROUP_LINE, NONE, GROUP_BOX) \
  EACH (WIDTH, "width", GROUP_RESOLUTION, NONE, NONE) \
  EACH (HEIGHT, "height", GROUP_RESOLUTION, NONE, NONE) \
  EACH (X, "x", GROUP_BOX, NONE, NONE) \
  EACH (Y, "y", GROUP_BOX, NONE, NONE) \
  EACH (W, "w", GROUP_BOX, NONE, NONE) \
  EACH (H, "h", GROUP_BOX, NONE, NONE) \
  EACH (ROI_TYPE, "roi_type", GROUP_BOX, NONE, NONE) \
  EACH (REGION_ID, "region_id", GROUP_BOX, NONE, NONE) \
  EACH (PARENT_ID, "parent_id", GROUP_BOX, NONE, NONE) \
  EACH (ID, "id", GROUP_BOX, NONE, NONE) \
  EACH (ROTATION, "rotation", GROUP_BOX, NONE, NONE) \
  EACH (DETECTION, "detection", GROUP_BOX, GROUP_DETECTION, NONE) \
  EACH (NMS, "nms", GROUP_BOX, GROUP_NMS, NONE) \
  EACH (BOUNDING_BOX, "bounding_box", GROUP_DETECTION, GROUP_BOUNDING_BOX, NONE) \
  EACH (CONFIDENCE, "confidence", GROUP_DETECTION, NONE, NONE) \
  EACH (LABEL_ID, "label_id", GROUP_DETECTION, NONE, NONE) \
  EACH (LABEL, "label", GROUP_DETECTION, NONE, NONE) \
  EACH (X_MIN, "x_min", GROUP_BOUNDING_BOX, NONE, NONE) \
  EACH (Y_MIN, "y_min", GROUP_BOUNDING_BOX, NONE, NONE) \
  EACH (X_MAX, "x_max", GROUP_BOUNDING_BOX, NONE, NONE) \
  EACH (Y_MAX, "y_max", GROUP_BOUNDING_BOX, NONE, NONE) \
  EACH (STATE, "state", GROUP_NMS, NONE, NONE) \
  EACH (SUPPRESSED_BY, "suppressed-by", GROUP_NMS, NONE, NONE)

#define NUMBER(member, ...) member,
#define ROW(member, ...) [member] = { __VA_ARGS__ },

typedef enum
{
  MEMBERS (NUMBER) N_MEMBERS
} Member;

static const JsonMember members[N_MEMBERS] = { MEMBERS (ROW) };

struct _JsonlParser
{
  JsonScan *scan;
  JsonValue values[N_MEMBERS];
  GString *text;        /* a copy of a string of the line, NUL-terminated */
  GString *header;      /* a line without its boxes */
  RecordedFrame *frame; /* the frame being read */
};

JsonlParser *
jsonl_parser_new (void)
{
  JsonlParser *self = g_new0 (JsonlParser, 1);

  self->scan = json_scan_new (members, N_MEMBERS, self->values);
  self->text = g_string_new (NULL);
  self->header = g_string_new (NULL);
  return self;
}

void
jsonl_parser_free (JsonlParser *self)
{
  if (self == NULL)
    return;
  json_scan_free (self->scan);
  g_string_free (self->text, TRUE);
  g_string_free (self->header, TRUE);
  g_free (self);
}

/* ------------------------------------------------------------------- members */

/* The values of one object, and where it is, for error messages. */
typedef struct
{
  const JsonValue *values;
  GString *text;
  gint element; /* index in "objects", or -1 */
  GError **error;
} Source;

/* Sets the error "<path of the member> <what>" and returns FALSE. */
static gboolean
refuse (const Source *from, Member member, const gchar *what)
{
  gchar *path = g_strconcat (group_paths[members[member].group], members[member].name, NULL);

  json_scan_refuse (from->element, path, what, from->error);
  g_free (path);
  return FALSE;
}

/* The getters return FALSE after an error. A missing member is not an error; it
 * sets *present to FALSE, or the result to NULL. */
static gboolean
get_number (const Source *from, Member member, gdouble *number, gboolean *present)
{
  const JsonValue *value = &from->values[member];

  *present = value->kind != JSON_MISSING;
  if (!*present)
    return TRUE;
  if (value->kind != JSON_INTEGER && value->kind != JSON_REAL)
    return refuse (from, member, "is not a number");
  *number = value->number;
  if (!isfinite (*number))
    return refuse (from, member, "is not a finite number");
  return TRUE;
}

static gboolean
get_integer (const Source *from, Member member, gint64 min, gint64 max, gint64 *number,
    gboolean *present)
{
  const JsonValue *value = &from->values[member];

  *present = value->kind != JSON_MISSING;
  if (!*present)
    return TRUE;
  if (value->kind != JSON_INTEGER || value->integer < min || value->integer > max) {
    gchar *what = g_strdup_printf ("is not an integer from %" G_GINT64_FORMAT
                                   " to %" G_GINT64_FORMAT,
        min, max);
    refuse (from, member, what);
    g_free (what);
    return FALSE;
  }
  *number = value->integer;
  return TRUE;
}

static gboolean
get_int (const Source *from, Member member, gint *number, gboolean *present)
{
  gint64 wide = 0;

  if (!get_integer (from, member, G_MININT, G_MAXINT, &wide, present))
    return FALSE;
  if (*present)
    *number = (gint) wide;
  return TRUE;
}

/* Sets *text to the value, or to NULL if the member is missing. */
static gboolean
get_string (const Source *from, Member member, const JsonValue **text)
{
  const JsonValue *value = &from->values[member];

  *text = value->kind == JSON_MISSING ? NULL : value;
  if (*text && value->kind != JSON_STRING)
    return refuse (from, member, "is not a string");
  return TRUE;
}

/* Returns a terminated copy of a string, which is valid until the next call. */
static const gchar *
terminate (const Source *from, const JsonValue *string)
{
  g_string_truncate (from->text, 0);
  return g_string_append_len (from->text, string->text, (gssize) string->length)->str;
}

/* Sets *boolean to FALSE if the member is missing. */
static gboolean
get_boolean (const Source *from, Member member, gboolean *boolean)
{
  const JsonValue *value = &from->values[member];

  *boolean = value->kind == JSON_BOOLEAN && value->integer != 0;
  if (value->kind != JSON_MISSING && value->kind != JSON_BOOLEAN)
    return refuse (from, member, "is neither true nor false");
  return TRUE;
}

/* Sets *present to whether the member is an object, whose values can be got then. */
static gboolean
get_object (const Source *from, Member member, gboolean *present)
{
  const JsonValue *value = &from->values[member];

  *present = value->kind != JSON_MISSING;
  if (*present && value->kind != JSON_OBJECT)
    return refuse (from, member, "is not an object");
  return TRUE;
}

/* Gets four numbers, from `first` on. It is an error if only some of them are present. */
static gboolean
get_four (const Source *from, Member first, gdouble numbers[4], gboolean *present)
{
  guint i, missing = 0, count = 0;

  for (i = 0; i < 4; i++) {
    gboolean has;

    if (!get_number (from, first + i, &numbers[i], &has))
      return FALSE;
    if (has)
      count++;
    else
      missing = i;
  }
  *present = count == 4;
  if (count > 0 && count < 4)
    return refuse (from, first + missing, "is missing");
  return TRUE;
}

/* --------------------------------------------------------------------- boxes */

/* Sets x1 .. y2 and the integers of a box, which are rounded, from left, top, width and height in
 * pixels within the range of the metadata. */
static gboolean
parse_pixels (const Source *from, Box *box, gboolean *present)
{
  gdouble v[4];

  if (!get_four (from, X, v, present))
    return FALSE;
  if (!*present)
    return TRUE;
  for (guint i = 0; i < 2; i++) {
    /* gvametaconvert writes negative coordinates as unsigned ones */
    if (v[i] > G_MAXINT32 && v[i] <= G_MAXUINT32)
      v[i] -= (gdouble) G_MAXUINT32 + 1;
    if (v[i] < G_MININT32 || v[i] > G_MAXINT32)
      return refuse (from, X + i, "is not within +-2^31");
  }
  for (guint i = 2; i < 4; i++)
    if (v[i] < 0 || v[i] > G_MAXUINT32)
      return refuse (from, X + i, v[i] < 0 ? "is negative" : "is 2^32 or more");
  box->x1 = v[0];
  box->y1 = v[1];
  box->x2 = v[0] + v[2];
  box->y2 = v[1] + v[3];
  box->x = (gint64) round (v[0]);
  box->y = (gint64) round (v[1]);
  box->w = (gint64) round (v[2]);
  box->h = (gint64) round (v[3]);
  return TRUE;
}

static gboolean
parse_bounding_box (const Source *from, Box *box)
{
  gboolean has;
  gdouble v[4];

  if (!get_four (from, X_MIN, v, &has))
    return FALSE;
  if (!has)
    return refuse (from, X_MIN, "is missing");
  box->flags |= BOX_HAS_NORMALIZED;
  box->x_min = v[0];
  box->y_min = v[1];
  box->x_max = v[2];
  box->y_max = v[3];
  return TRUE;
}

static gboolean
parse_detection (const Source *from, Box *box)
{
  gboolean has;

  if (!get_number (from, CONFIDENCE, &box->confidence, &has))
    return FALSE;
  if (has)
    box->flags |= BOX_HAS_CONFIDENCE;
  if (!get_int (from, LABEL_ID, &box->label_id, &has))
    return FALSE;
  if (has)
    box->flags |= BOX_HAS_LABEL_ID;
  if (!get_object (from, BOUNDING_BOX, &has))
    return FALSE;
  return !has || parse_bounding_box (from, box);
}

static gboolean
parse_nms (const Source *from, Box *box)
{
  const JsonValue *state;
  gboolean has;

  if (!get_string (from, STATE, &state))
    return FALSE;
  if (state == NULL)
    return refuse (from, STATE, "is missing");
  box->state = box_state_from_name (terminate (from, state));
  if (box->state == BOX_STATE_NONE)
    return refuse (from, STATE,
        "is none of kept, suppressed, below-score, not-candidate, "
        "over-cap, too-few-neighbors, no-score, invalid, too-small, too-large, "
        "wrong-aspect-ratio, outside-roi, dropped-class, cut-by-edge");
  if (!get_int (from, SUPPRESSED_BY, &box->suppressed_by, &has))
    return FALSE;
  if (has && box->suppressed_by < 0)
    return refuse (from, SUPPRESSED_BY, "is negative");
  return TRUE;
}

/* Sets the label: roi_type, or detection.label if that is missing or empty. */
static gboolean
parse_label (const Source *from, gboolean detection, LabelTable *labels, Box *box)
{
  const JsonValue *label, *inner = NULL;

  if (!get_string (from, ROI_TYPE, &label) || (detection && !get_string (from, LABEL, &inner)))
    return FALSE;
  if (label == NULL || label->length == 0)
    label = inner;
  if (label && label->length > 0)
    box->label = label_table_intern (labels, terminate (from, label));
  return TRUE;
}

/* Returns whether bounding_box has the pixels of x, y, w and h, as gvametaconvert writes it for an
 * OD without a region. */
static gboolean
has_pixel_edges (const Box *box)
{
  return (box->flags & BOX_HAS_NORMALIZED) && box->w > 1 && box->h > 1 && box->x_min == box->x1
      && box->y_min == box->y1 && box->x_max == box->x2 && box->y_max == box->y2;
}

/* Makes a box of the object that was just read. */
static gboolean
parse_object (gint element, gpointer data, GError **error)
{
  JsonlParser *self = data;
  const Source from = { self->values, self->text, element, error };
  Box box = { .w = -1, .parent = -1, .suppressed_by = -1, .od = -1 };
  gboolean pixels, detection, nms, has;

  if (!parse_pixels (&from, &box, &pixels) || !get_int (&from, REGION_ID, &box.region_id, &has)
      || !get_int (&from, PARENT_ID, &box.parent_id, &has)
      || !get_int (&from, ID, &box.track_id, &has))
    return FALSE;
  if (has)
    box.flags |= BOX_HAS_TRACK_ID;
  if (!get_number (&from, ROTATION, &box.rotation, &has)
      || !get_object (&from, DETECTION, &detection) || (detection && !parse_detection (&from, &box))
      || !parse_label (&from, detection, self->frame->labels, &box)
      || !get_object (&from, NMS, &nms) || (nms && !parse_nms (&from, &box)))
    return FALSE;
  if (!pixels && !(box.flags & BOX_HAS_NORMALIZED))
    return json_scan_refuse (element, "", "has neither x, y, w, h nor detection.bounding_box",
        error);
  if (has_pixel_edges (&box))
    box.flags &= ~BOX_HAS_NORMALIZED;
  g_array_append_val (self->frame->boxes, box);
  return TRUE;
}

/* --------------------------------------------------------------------- lines */

/* Sets *number to 0 if the member is missing. */
static gboolean
get_count (const Source *from, Member member, guint64 *number)
{
  gint64 value = 0;
  gboolean has;

  if (!get_integer (from, member, 0, G_MAXINT64, &value, &has))
    return FALSE;
  *number = (guint64) value;
  return TRUE;
}

/* Parses the members that place a line among the other lines. */
static gboolean
parse_sequence (const Source *from, RecordedFrame *frame)
{
  const JsonValue *stream_id;
  gboolean has;

  frame->stream = -1;
  return get_count (from, DROPPED, &frame->dropped)
      && get_boolean (from, OUTSIDE_SEGMENT, &frame->outside_segment)
      && get_integer (from, STREAM, 0, G_MAXUINT32, &frame->stream, &has)
      && get_string (from, STREAM_ID, &stream_id);
}

static gboolean
parse_length (const Source *from, Member member, gint *length)
{
  gint64 number;
  gboolean has;

  if (!get_integer (from, member, 1, G_MAXINT, &number, &has))
    return FALSE;
  if (!has)
    return refuse (from, member, "is missing");
  *length = (gint) number;
  return TRUE;
}

static gboolean
parse_header (const Source *from, RecordedFrame *frame)
{
  gint64 number = 0;
  gboolean has;

  if (!get_integer (from, TIMESTAMP, 0, G_MAXINT64, &number, &has) || !parse_sequence (from, frame))
    return FALSE;
  frame->timestamp = has ? (guint64) number : RECORDED_FRAME_NO_TIME;
  frame->width = frame->height = 0;
  if (!get_object (from, RESOLUTION, &has))
    return FALSE;
  return !has
      || (parse_length (from, WIDTH, &frame->width) && parse_length (from, HEIGHT, &frame->height));
}

/* Refuses a box that names a suppressor beyond the last box. */
static gboolean
check_suppressors (Source *from, const RecordedFrame *frame)
{
  const gint count = (gint) frame->boxes->len;

  for (from->element = 0; from->element < count; from->element++)
    if (g_array_index (frame->boxes, Box, from->element).suppressed_by >= count)
      return refuse (from, SUPPRESSED_BY, "is beyond the last object");
  return TRUE;
}

static gboolean
parse_line (JsonlParser *self, const gchar *line, gsize length, JsonElementFunc each,
    RecordedFrame *frame, GError **error)
{
  Source from = { self->values, self->text, -1, error };

  g_array_set_size (frame->boxes, 0);
  self->frame = frame;
  if (!json_scan_line (self->scan, line, length, each, self, error) || !parse_header (&from, frame))
    return FALSE;
  if (self->values[OBJECTS].kind == JSON_MISSING)
    return frame->width > 0 || refuse (&from, OBJECTS, "is missing");
  if (self->values[OBJECTS].kind != JSON_ARRAY)
    return refuse (&from, OBJECTS, "is not an array");
  return check_suppressors (&from, frame);
}

/* Parses the line without its boxes, because simdjson would read all of them. Returns FALSE unless
 * the boxes are last and the time is before them, as boxrecord writes it; such a line may be valid. */
static gboolean
parse_short_header (JsonlParser *self, const gchar *line, gsize length, RecordedFrame *frame)
{
  static const gchar objects[] = "\"objects\":";
  const gchar *found = g_strstr_len (line, (gssize) length, objects);

  while (length > 2 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
    length--;
  if (found == NULL || memcmp (line + length - 2, "]}", 2) != 0)
    return FALSE;
  g_string_truncate (self->header, 0);
  g_string_append_len (self->header, line, found - line);
  g_string_append (g_string_append (self->header, objects), "[]}");
  return parse_line (self, self->header->str, self->header->len, NULL, frame, NULL)
      && frame->timestamp != RECORDED_FRAME_NO_TIME;
}

gboolean
jsonl_parse_header (JsonlParser *self, const gchar *line, gsize length, RecordedFrame *frame,
    GError **error)
{
  return parse_short_header (self, line, length, frame)
      || parse_line (self, line, length, NULL, frame, error);
}

gboolean
jsonl_parse (JsonlParser *self, const gchar *line, gsize length, RecordedFrame *frame,
    GError **error)
{
  return parse_line (self, line, length, parse_object, frame, error);
}
