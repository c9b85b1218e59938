/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonlread: parses a line by json-glib after jsonguard has checked it, one object
 * at a time to save memory, and checks the type of every member.
 */
#include "jsonl.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "jsonguard.h"
#include "numbertext.h"

struct _JsonlParser
{
  JsonParser *parser;
  GString *header;              /* the line without the elements of "objects" */
};

JsonlParser *
jsonl_parser_new (void)
{
  JsonlParser *self = g_new0 (JsonlParser, 1);

  self->parser = json_parser_new_immutable ();
  self->header = g_string_new (NULL);
  return self;
}

void
jsonl_parser_free (JsonlParser * self)
{
  if (self == NULL)
    return;
  g_object_unref (self->parser);
  g_string_free (self->header, TRUE);
  g_free (self);
}

/* ------------------------------------------------------------------- reading */

/* Which part of the line is being parsed, for error messages. */
typedef struct
{
  gint element;                 /* index in "objects", or -1 */
  const gchar *group;           /* the enclosing member, such as "detection.", or "" */
  GError **error;
} MemberPath;

/* Sets the error "<path of the member> <what>" and returns FALSE. */
static gboolean
refuse (const MemberPath * at, const gchar * member, const gchar * what)
{
  GString *path = g_string_new (NULL);

  if (at->element >= 0)
    g_string_append_printf (path, "objects[%d]%s", at->element, *member ? "." : "");
  g_set_error (at->error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%s%s%s %s", path->str,
      *member ? at->group : "", member, what);
  g_string_free (path, TRUE);
  return FALSE;
}

/* The getters return FALSE after an error. A missing member is not an error; it
 * sets *present to FALSE, or the result to NULL. */
static gboolean
get_number (JsonObject * object, const MemberPath * at, const gchar * member, gdouble * number,
    gboolean * present)
{
  JsonNode *node = json_object_get_member (object, member);
  GType type;

  *present = node != NULL;
  if (node == NULL)
    return TRUE;
  type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  if (type == G_TYPE_INT64)
    *number = (gdouble) json_node_get_int (node);
  else if (type == G_TYPE_DOUBLE)
    *number = json_node_get_double (node);
  else
    return refuse (at, member, "is not a number");
  if (!isfinite (*number))
    return refuse (at, member, "is not a finite number");
  return TRUE;
}

static gboolean
get_integer (JsonObject * object, const MemberPath * at, const gchar * member, gint64 min,
    gint64 max, gint64 * number, gboolean * present)
{
  JsonNode *node = json_object_get_member (object, member);

  *present = node != NULL;
  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64
      || json_node_get_int (node) < min || json_node_get_int (node) > max) {
    gchar *what = g_strdup_printf ("is not an integer from %" G_GINT64_FORMAT " to %"
        G_GINT64_FORMAT, min, max);
    refuse (at, member, what);
    g_free (what);
    return FALSE;
  }
  *number = json_node_get_int (node);
  return TRUE;
}

static gboolean
get_int (JsonObject * object, const MemberPath * at, const gchar * member, gint * number,
    gboolean * present)
{
  gint64 wide = 0;

  if (!get_integer (object, at, member, G_MININT, G_MAXINT, &wide, present))
    return FALSE;
  if (*present)
    *number = (gint) wide;
  return TRUE;
}

static gboolean
get_string (JsonObject * object, const MemberPath * at, const gchar * member, const gchar ** text)
{
  JsonNode *node = json_object_get_member (object, member);

  *text = NULL;
  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return refuse (at, member, "is not a string");
  *text = json_node_get_string (node);
  return TRUE;
}

/* Sets *value to FALSE if the member is missing. */
static gboolean
get_boolean (JsonObject * object, const MemberPath * at, const gchar * member, gboolean * value)
{
  JsonNode *node = json_object_get_member (object, member);

  *value = FALSE;
  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return refuse (at, member, "is neither true nor false");
  *value = json_node_get_boolean (node);
  return TRUE;
}

static gboolean
get_object (JsonObject * object, const MemberPath * at, const gchar * member, JsonObject ** inner)
{
  JsonNode *node = json_object_get_member (object, member);

  *inner = NULL;
  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return refuse (at, member, "is not an object");
  *inner = json_node_get_object (node);
  return TRUE;
}

/* Gets four numbers. It is an error if only some of them are present. */
static gboolean
get_four (JsonObject * object, const MemberPath * at, const gchar * const names[4],
    gdouble numbers[4], gboolean * present)
{
  guint i, missing = 0, count = 0;

  for (i = 0; i < 4; i++) {
    gboolean has;

    if (!get_number (object, at, names[i], &numbers[i], &has))
      return FALSE;
    if (has)
      count++;
    else
      missing = i;
  }
  *present = count == 4;
  if (count > 0 && count < 4)
    return refuse (at, names[missing], "is missing");
  return TRUE;
}

static gboolean
parse_pixels (JsonObject * object, const MemberPath * at, RecordedFrame * frame, Box * box,
    gboolean * present)
{
  static const gchar *const names[4] = { "x", "y", "w", "h" };
  gdouble v[4];
  guint i;

  if (!get_four (object, at, names, v, present) || !*present)
    return !*(at->error);
  for (i = 0; i < 4; i++) {
    /* the ranges of the metadata */
    if (i < 2 && (v[i] < G_MININT32 || v[i] > G_MAXINT32))
      return refuse (at, names[i], "is not within +-2^31");
    if (i >= 2 && v[i] < 0)
      return refuse (at, names[i], "is negative");
    if (i >= 2 && v[i] > G_MAXUINT32)
      return refuse (at, names[i], "is 2^32 or more");
  }
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
parse_detection (JsonObject * detection, const MemberPath * at, Box * box, const gchar ** label)
{
  static const gchar *const names[4] = { "x_min", "y_min", "x_max", "y_max" };
  MemberPath within = *at;
  JsonObject *bounding_box;
  gboolean has;
  gdouble v[4];

  within.group = "detection.";
  if (!get_object (detection, &within, "bounding_box", &bounding_box)
      || !get_number (detection, &within, "confidence", &box->confidence, &has))
    return FALSE;
  if (has)
    box->flags |= BOX_HAS_CONFIDENCE;
  if (!get_int (detection, &within, "label_id", &box->label_id, &has))
    return FALSE;
  if (has)
    box->flags |= BOX_HAS_LABEL_ID;
  if (!get_string (detection, &within, "label", label))
    return FALSE;
  if (bounding_box == NULL)
    return TRUE;
  within.group = "detection.bounding_box.";
  if (!get_four (bounding_box, &within, names, v, &has))
    return FALSE;
  if (!has)
    return refuse (&within, "x_min", "is missing");
  box->flags |= BOX_HAS_NORMALIZED;
  box->x_min = v[0];
  box->y_min = v[1];
  box->x_max = v[2];
  box->y_max = v[3];
  return TRUE;
}

static gboolean
parse_nms (JsonObject * nms, const MemberPath * at, Box * box)
{
  MemberPath within = *at;
  const gchar *state;
  gboolean has;

  within.group = "nms.";
  if (!get_string (nms, &within, "state", &state))
    return FALSE;
  if (state == NULL)
    return refuse (&within, "state", "is missing");
  box->state = box_state_from_name (state);
  if (box->state == BOX_STATE_NONE)
    return refuse (&within, "state", "is none of kept, suppressed, below-score, not-candidate, "
        "over-cap, too-few-neighbors, no-score, invalid");
  if (!get_int (nms, &within, "suppressed-by", &box->suppressed_by, &has))
    return FALSE;
  if (has && box->suppressed_by < 0)
    return refuse (&within, "suppressed-by", "is negative");
  return TRUE;
}

static gboolean
parse_object (JsonObject * object, gint element, RecordedFrame * frame, GError ** error)
{
  MemberPath at = { element, "", error };
  Box box = {.w = -1,.parent = -1,.suppressed_by = -1,.od = -1 };
  const gchar *label, *detection_label = NULL;
  JsonObject *detection, *nms;
  gboolean pixels, has;

  if (!parse_pixels (object, &at, frame, &box, &pixels)
      || !get_string (object, &at, "roi_type", &label)
      || !get_int (object, &at, "region_id", &box.region_id, &has)
      || !get_int (object, &at, "parent_id", &box.parent_id, &has)
      || !get_int (object, &at, "id", &box.track_id, &has))
    return FALSE;
  if (has)
    box.flags |= BOX_HAS_TRACK_ID;
  if (!get_number (object, &at, "rotation", &box.rotation, &has)
      || !get_object (object, &at, "detection", &detection)
      || (detection && !parse_detection (detection, &at, &box, &detection_label))
      || !get_object (object, &at, "nms", &nms) || (nms && !parse_nms (nms, &at, &box)))
    return FALSE;
  if (!pixels && !(box.flags & BOX_HAS_NORMALIZED))
    return refuse (&at, "", "has neither x, y, w, h nor detection.bounding_box");
  if (label == NULL || *label == '\0')
    label = detection_label;
  if (label && *label)
    box.label = label_table_intern (frame->labels, label);
  g_array_append_val (frame->boxes, box);
  return TRUE;
}

/* Parses text that jsonguard accepted. Returns its object, which is valid until the next call. */
static JsonObject *
load (JsonlParser * self, const gchar * text, gsize length, gint element, GError ** error)
{
  MemberPath at = { element, "", error };
  GError *problem = NULL;
  const gchar *reason;
  gchar *what;

  if (json_parser_load_from_data (self->parser, text, length, &problem))
    return json_node_get_object (json_parser_get_root (self->parser));
  /* json-glib begins the message with "<data>:1:2: " */
  reason = strstr (problem->message, ": ");
  what = g_strdup_printf ("is not valid JSON: %s", reason ? reason + 2 : problem->message);
  refuse (&at, element < 0 ? "the line" : "", what);
  g_free (what);
  g_error_free (problem);
  return NULL;
}

/* Sets *number to 0 if the member is missing. */
static gboolean
get_count (JsonObject * object, const MemberPath * at, const gchar * member, guint64 * number)
{
  gint64 value = 0;
  gboolean has;

  if (!get_integer (object, at, member, 0, G_MAXINT64, &value, &has))
    return FALSE;
  *number = (guint64) value;
  return TRUE;
}

/* Parses the members that place a line among the other lines. */
static gboolean
parse_sequence (JsonObject * header, const MemberPath * at, RecordedFrame * frame)
{
  const gchar *stream_id;

  return get_count (header, at, "session", &frame->session)
      && get_count (header, at, "dropped", &frame->dropped)
      && get_boolean (header, at, "reverse", &frame->reverse)
      && get_boolean (header, at, "outside-segment", &frame->outside_segment)
      && get_string (header, at, "stream-id", &stream_id);
}

static gboolean
parse_header (JsonObject * header, RecordedFrame * frame, GError ** error)
{
  MemberPath at = { -1, "", error };
  JsonObject *resolution;
  gint64 number;
  gboolean has;

  if (!get_integer (header, &at, "timestamp", 0, G_MAXINT64, &number, &has)
      || !parse_sequence (header, &at, frame)
      || !get_object (header, &at, "resolution", &resolution))
    return FALSE;
  frame->timestamp = has ? (guint64) number : RECORDED_FRAME_NO_TIME;
  frame->width = frame->height = 0;
  if (resolution) {
    at.group = "resolution.";
    if (!get_integer (resolution, &at, "width", 1, G_MAXINT, &number, &has))
      return FALSE;
    if (!has)
      return refuse (&at, "width", "is missing");
    frame->width = (gint) number;
    if (!get_integer (resolution, &at, "height", 1, G_MAXINT, &number, &has))
      return FALSE;
    if (!has)
      return refuse (&at, "height", "is missing");
    frame->height = (gint) number;
  }
  return TRUE;
}

/* Parses the array "objects" if jsonguard did not find it because its name is
 * written with escapes. */
static gboolean
parse_array (JsonArray * array, RecordedFrame * frame, GError ** error)
{
  MemberPath at = { 0, "", error };

  for (; at.element < (gint) json_array_get_length (array); at.element++) {
    JsonNode *node = json_array_get_element (array, at.element);

    if (!JSON_NODE_HOLDS_OBJECT (node))
      return refuse (&at, "", "is not an object");
    if (!parse_object (json_node_get_object (node), at.element, frame, error))
      return FALSE;
  }
  return TRUE;
}

/* Parses everything but the boxes. Sets `objects` to where those are in the line, and
 * `object` to the rest of the line. */
static gboolean
parse_outside (JsonlParser * self, gchar * line, gsize length, RecordedFrame * frame,
    JsonSpan * objects, JsonObject ** object, GError ** error)
{
  g_array_set_size (frame->boxes, 0);
  if (!json_guard_check (line, length, objects, error))
    return FALSE;
  g_string_truncate (self->header, 0);
  g_string_append_len (self->header, line, objects->start);
  g_string_append_len (self->header, line + objects->end, length - objects->end);
  *object = load (self, self->header->str, self->header->len, -1, error);
  return *object != NULL && parse_header (*object, frame, error);
}

gboolean
jsonl_parse_header (JsonlParser * self, gchar * line, gsize length, RecordedFrame * frame,
    GError ** error)
{
  JsonSpan objects;
  JsonObject *object;

  return parse_outside (self, line, length, frame, &objects, &object, error);
}

gboolean
jsonl_parse (JsonlParser * self, gchar * line, gsize length, RecordedFrame * frame,
    GError ** error)
{
  MemberPath at = { -1, "", NULL };
  GError *problem = NULL;
  JsonSpan objects, element;
  JsonObject *object;
  JsonNode *node;
  gint i;

  at.error = &problem;
  if (!parse_outside (self, line, length, frame, &objects, &object, &problem)) {
    g_propagate_error (error, problem);
    return FALSE;
  }
  if (objects.start == 0) {
    node = json_object_get_member (object, "objects");
    if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
      refuse (&at, "objects", node ? "is not an array" : "is missing");
    else
      parse_array (json_node_get_array (node), frame, &problem);
  }
  for (i = 0; problem == NULL && json_guard_next (line, &objects, &element); i++) {
    object = load (self, line + element.start, element.end - element.start, i, &problem);
    if (object)
      parse_object (object, i, frame, &problem);
  }
  for (i = 0; problem == NULL && i < (gint) frame->boxes->len; i++) {
    at.element = i;
    at.group = "nms.";
    if (g_array_index (frame->boxes, Box, i).suppressed_by >= (gint) frame->boxes->len)
      refuse (&at, "suppressed-by", "is beyond the last object");
  }
  if (problem == NULL)
    return TRUE;
  g_propagate_error (error, problem);
  return FALSE;
}
