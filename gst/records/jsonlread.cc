/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jsonlread: reads a line by simdjson's On-Demand parser in one pass and without a tree. That
 * parser checks only values that are read, so every value is read. Brackets may be nested 64 deep,
 * and of two members with one name the last one counts. */
#include "jsonl.h"

#include <math.h>
#include <simdjson.h>
#include <string.h>

namespace ondemand = simdjson::ondemand;
typedef std::string_view Text; /* not terminated, not owned */

#define MAX_DEPTH 64
#define FIRST_CAPACITY 4096

struct _JsonlParser
{
  ondemand::parser parser;
  gchar *line; /* a copy, followed by the padding that simdjson may read */
  gsize capacity;
  GString *text;   /* a copy of a string of the line, NUL-terminated */
  GString *header; /* a line without its boxes */

  /* state while a line is read */
  RecordedFrame *frame;
  gint element; /* index in "objects", or -1 */
  GError **error;
};

/* The members of an object that are not in a Box. */
typedef struct
{
  Box box;
  gdouble pixels[4], edges[4];   /* x y w h; bounding_box */
  guint have_pixels, have_edges; /* bit i: number i was read */
  Text roi_type, label;          /* empty if missing */
} Object;

#define EDGES "detection.bounding_box."

static const gchar *const pixel_paths[] = { "x", "y", "w", "h" };
static const gchar *const edge_paths[] = { EDGES "x_min", EDGES "y_min", EDGES "x_max",
  EDGES "y_max" };

JsonlParser *
jsonl_parser_new (void)
{
  JsonlParser *self = new JsonlParser ();

  self->text = g_string_new (NULL);
  self->header = g_string_new (NULL);
  return self;
}

void
jsonl_parser_free (JsonlParser *self)
{
  if (self == NULL)
    return;
  g_free (self->line);
  g_string_free (self->text, TRUE);
  g_string_free (self->header, TRUE);
  delete self;
}

/* Returns a terminated copy of a text, which is valid until the next call. */
static const gchar *
terminate (JsonlParser *self, Text text)
{
  g_string_truncate (self->text, 0);
  return g_string_append_len (self->text, text.data (), (gssize) text.size ())->str;
}

/* -------------------------------------------------------------------- errors */

/* Sets the error "objects[<element>].<path> <what>" and returns FALSE. */
static gboolean
refuse (JsonlParser *self, const gchar *path, const gchar *what)
{
  gchar *place = self->element < 0
      ? g_strdup ("")
      : g_strdup_printf ("objects[%d]%s", self->element, *path ? "." : "");

  g_set_error (self->error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%s%s %s", place, path, what);
  g_free (place);
  return FALSE;
}

/* Refuses the object being read, or the line. */
static gboolean
refuse_here (JsonlParser *self, const gchar *what)
{
  return refuse (self, self->element < 0 ? "the line" : "", what);
}

/* Sets the error for text that is not JSON and returns FALSE. */
static gboolean
refuse_text (JsonlParser *self, simdjson::error_code reason)
{
  gchar *what = g_strdup_printf ("is not valid JSON: %s", simdjson::error_message (reason));

  refuse_here (self, what);
  g_free (what);
  return FALSE;
}

/* ------------------------------------------------------------------- numbers */

/* Removes the digits that `text` begins with, and returns their number. */
static gsize
skip_digits (Text &text)
{
  const gsize n = MIN (text.find_first_not_of ("0123456789"), text.size ());

  text.remove_prefix (n);
  return n;
}

/* Removes the first character of `text` if it is one of `any`, and returns whether it was. */
static bool
skip_one (Text &text, Text any)
{
  const bool found = !text.empty () && any.find (text[0]) != Text::npos;

  text.remove_prefix (found);
  return found;
}

/* Returns whether `text` is a number in JSON's grammar, followed by blanks only. */
static bool
is_number (Text text)
{
  skip_one (text, "-");
  if (!skip_one (text, "0") && skip_digits (text) == 0)
    return false;
  if (skip_one (text, ".") && skip_digits (text) == 0)
    return false;
  if (skip_one (text, "eE")) {
    skip_one (text, "+-");
    if (skip_digits (text) == 0)
      return false;
  }
  return text.find_first_not_of (" \t\r") == Text::npos;
}

/* Reads a number. *whole tells whether it is an integer of 64 bits, which is *integer. */
static gboolean
read_number (JsonlParser *self, ondemand::value value, gdouble *real, gint64 *integer,
    gboolean *whole)
{
  const Text token = value.raw_json_token ();
  ondemand::number number;
  const simdjson::error_code error = value.get_number ().get (number);

  *whole = FALSE;
  if (!error) {
    *real = number.as_double ();
    *whole = number.is_int64 ();
    if (*whole)
      *integer = number.get_int64 ();
    return TRUE;
  }
  /* simdjson refuses numbers that are too large; they become infinite */
  if (!is_number (token))
    return refuse_text (self, error);
  *real = g_ascii_strtod (token.data (), NULL);
  return TRUE;
}

/* -------------------------------------------------------------------- values */

/* Calls each (name, value), which returns FALSE after an error, for the members of an object. */
template <typename Each>
static gboolean
read_members (JsonlParser *self, ondemand::object object, Each each)
{
  for (auto field : object) {
    Text name;
    ondemand::value value;
    simdjson::error_code error = field.unescaped_key ().get (name);

    if (!error)
      error = field.value ().get (value);
    if (error)
      return refuse_text (self, error);
    if (!each (name, value))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_text (JsonlParser *self, ondemand::value value, Text *text)
{
  const simdjson::error_code error = value.get_string ().get (*text);

  if (error)
    return refuse_text (self, error);
  return text->find ('\0') == Text::npos || refuse_here (self, "has a NUL character in a string");
}

/* Reads true, false or, unless `boolean`, null. */
static gboolean
read_word (JsonlParser *self, ondemand::value value, gboolean boolean, bool *answer)
{
  const simdjson::error_code error = boolean ? value.get_bool ().get (*answer)
                                             : value.is_null ().get (*answer);

  return (!error && (boolean || *answer))
      || refuse_here (self, "has a word that is neither true, false nor null");
}

static gboolean skip_value (JsonlParser *self, ondemand::value value, guint depth);

/* Passes over an object or an array that lies inside `depth` brackets. */
static gboolean
skip_brackets (JsonlParser *self, ondemand::value value, gboolean braces, guint depth)
{
  ondemand::object object;
  ondemand::array array;
  simdjson::error_code error;

  if (depth == MAX_DEPTH)
    return refuse_here (self, "is nested deeper than " G_STRINGIFY (MAX_DEPTH));
  error = braces ? value.get_object ().get (object) : value.get_array ().get (array);
  if (error)
    return refuse_text (self, error);
  if (braces)
    return read_members (self, object,
        [=] (Text, ondemand::value inner) { return skip_value (self, inner, depth + 1); });
  for (auto item : array) {
    ondemand::value inner;

    if ((error = item.get (inner)) != simdjson::SUCCESS)
      return refuse_text (self, error);
    if (!skip_value (self, inner, depth + 1))
      return FALSE;
  }
  return TRUE;
}

/* Passes over a value that is ignored, and checks that it is JSON. */
static gboolean
skip_value (JsonlParser *self, ondemand::value value, guint depth)
{
  ondemand::json_type type;
  const simdjson::error_code error = value.type ().get (type);
  gdouble real;
  gint64 integer;
  gboolean whole;
  Text text;
  bool answer;

  if (error)
    return refuse_text (self, error);
  switch (type) {
    case ondemand::json_type::object:
    case ondemand::json_type::array:
      return skip_brackets (self, value, type == ondemand::json_type::object, depth);
    case ondemand::json_type::number:
      return read_number (self, value, &real, &integer, &whole);
    case ondemand::json_type::string:
      return read_text (self, value, &text);
    case ondemand::json_type::boolean:
    case ondemand::json_type::null:
      return read_word (self, value, type == ondemand::json_type::boolean, &answer);
    default: /* text that is not a value, in later versions of simdjson */
      return refuse_text (self, simdjson::TAPE_ERROR);
  }
}

/* Returns whether the value has this type; otherwise sets the error. */
static gboolean
expect (JsonlParser *self, ondemand::value value, ondemand::json_type wanted, const gchar *path,
    const gchar *what)
{
  ondemand::json_type type;
  const simdjson::error_code error = value.type ().get (type);

  if (error)
    return refuse_text (self, error);
  return type == wanted || refuse (self, path, what);
}

static gboolean
get_number (JsonlParser *self, ondemand::value value, const gchar *path, gdouble *number)
{
  gint64 integer;
  gboolean whole;

  return expect (self, value, ondemand::json_type::number, path, "is not a number")
      && read_number (self, value, number, &integer, &whole)
      && (isfinite (*number) || refuse (self, path, "is not a finite number"));
}

static gboolean
get_integer (JsonlParser *self, ondemand::value value, const gchar *path, gint64 min, gint64 max,
    gint64 *number)
{
  ondemand::json_type type;
  const simdjson::error_code error = value.type ().get (type);
  gboolean whole = FALSE;
  gdouble real;
  gchar *what;

  if (error)
    return refuse_text (self, error);
  if (type == ondemand::json_type::number && !read_number (self, value, &real, number, &whole))
    return FALSE;
  if (whole && *number >= min && *number <= max)
    return TRUE;
  what = g_strdup_printf ("is not an integer from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min,
      max);
  refuse (self, path, what);
  g_free (what);
  return FALSE;
}

/* Reads an int, and sets the flag in `flags`. */
static gboolean
get_int (JsonlParser *self, ondemand::value value, const gchar *path, gint *number, guint flag,
    Box *box)
{
  gint64 wide;

  if (!get_integer (self, value, path, G_MININT, G_MAXINT, &wide))
    return FALSE;
  *number = (gint) wide;
  box->flags |= flag;
  return TRUE;
}

static gboolean
get_string (JsonlParser *self, ondemand::value value, const gchar *path, Text *text)
{
  return expect (self, value, ondemand::json_type::string, path, "is not a string")
      && read_text (self, value, text);
}

static gboolean
get_boolean (JsonlParser *self, ondemand::value value, const gchar *path, gboolean *boolean)
{
  bool answer = false;

  if (!expect (self, value, ondemand::json_type::boolean, path, "is neither true nor false")
      || !read_word (self, value, TRUE, &answer))
    return FALSE;
  *boolean = answer;
  return TRUE;
}

static gboolean
get_object (JsonlParser *self, ondemand::value value, const gchar *path, ondemand::object *object)
{
  simdjson::error_code error;

  if (!expect (self, value, ondemand::json_type::object, path, "is not an object"))
    return FALSE;
  error = value.get_object ().get (*object);
  return !error || refuse_text (self, error);
}

/* --------------------------------------------------------------------- boxes */

/* Returns which of the paths ends with this name behind `prefix` characters, or -1. */
static gint
index_of (Text name, const gchar *const paths[4], gsize prefix)
{
  for (gint i = 0; i < 4; i++)
    if (name == paths[i] + prefix)
      return i;
  return -1;
}

/* Returns whether all four were read; otherwise refuses the last one that is missing. */
static gboolean
have_all (JsonlParser *self, const gchar *const paths[4], guint have)
{
  for (gint i = 3; i >= 0; i--)
    if (!(have & 1u << i))
      return refuse (self, paths[have == 0 ? 0 : i], "is missing");
  return TRUE;
}

static gboolean
read_edges (JsonlParser *self, ondemand::value value, Object *o)
{
  ondemand::object object;

  o->have_edges = 0;
  return get_object (self, value, "detection.bounding_box", &object)
      && read_members (self, object,
          [=] (Text name, ondemand::value inner) -> gboolean {
            const gint i = index_of (name, edge_paths, strlen (EDGES));

            if (i < 0)
              return skip_value (self, inner, 5);
            o->have_edges |= 1u << i;
            return get_number (self, inner, edge_paths[i], &o->edges[i]);
          })
      && have_all (self, edge_paths, o->have_edges);
}

static gboolean
read_detection (JsonlParser *self, ondemand::value value, Object *o)
{
  ondemand::object object;

  return get_object (self, value, "detection", &object)
      && read_members (self, object, [=] (Text name, ondemand::value inner) -> gboolean {
           if (name == "bounding_box")
             return read_edges (self, inner, o);
           if (name == "label")
             return get_string (self, inner, "detection.label", &o->label);
           if (name == "label_id")
             return get_int (self, inner, "detection.label_id", &o->box.label_id, BOX_HAS_LABEL_ID,
                 &o->box);
           if (name != "confidence")
             return skip_value (self, inner, 4);
           o->box.flags |= BOX_HAS_CONFIDENCE;
           return get_number (self, inner, "detection.confidence", &o->box.confidence);
         });
}

static gboolean
read_nms (JsonlParser *self, ondemand::value value, Box *box)
{
  ondemand::object object;
  Text state;

  if (!get_object (self, value, "nms", &object)
      || !read_members (self, object, [=, &state] (Text name, ondemand::value inner) -> gboolean {
           if (name == "state")
             return get_string (self, inner, "nms.state", &state);
           if (name != "suppressed-by")
             return skip_value (self, inner, 4);
           if (!get_int (self, inner, "nms.suppressed-by", &box->suppressed_by, 0, box))
             return FALSE;
           return box->suppressed_by >= 0 || refuse (self, "nms.suppressed-by", "is negative");
         }))
    return FALSE;
  if (state.data () == NULL)
    return refuse (self, "nms.state", "is missing");
  box->state = box_state_from_name (terminate (self, state));
  return box->state != BOX_STATE_NONE
      || refuse (self, "nms.state",
          "is none of kept, suppressed, below-score, not-candidate, over-cap, too-few-neighbors, "
          "no-score, invalid, too-small, too-large, wrong-aspect-ratio, outside-roi, "
          "dropped-class, cut-by-edge, unconfirmed");
}

static gboolean
read_member (JsonlParser *self, Text name, ondemand::value value, Object *o)
{
  const gint i = index_of (name, pixel_paths, 0);
  Box *box = &o->box;

  if (i >= 0) {
    o->have_pixels |= 1u << i;
    return get_number (self, value, pixel_paths[i], &o->pixels[i]);
  }
  if (name == "roi_type")
    return get_string (self, value, "roi_type", &o->roi_type);
  if (name == "region_id")
    return get_int (self, value, "region_id", &box->region_id, 0, box);
  if (name == "detection")
    return read_detection (self, value, o);
  if (name == "parent_id")
    return get_int (self, value, "parent_id", &box->parent_id, 0, box);
  if (name == "id")
    return get_int (self, value, "id", &box->track_id, BOX_HAS_TRACK_ID, box);
  if (name == "rotation")
    return get_number (self, value, "rotation", &box->rotation);
  if (name == "nms")
    return read_nms (self, value, box);
  return skip_value (self, value, 3);
}

/* Sets x1 .. y2 and the integers, which are rounded, within the range of the metadata. */
static gboolean
set_pixels (JsonlParser *self, gdouble v[4], Box *box)
{
  for (gint i = 0; i < 2; i++) {
    /* gvametaconvert writes negative coordinates as unsigned ones */
    if (v[i] > G_MAXINT32 && v[i] <= G_MAXUINT32)
      v[i] -= (gdouble) G_MAXUINT32 + 1;
    if (v[i] < G_MININT32 || v[i] > G_MAXINT32)
      return refuse (self, pixel_paths[i], "is not within +-2^31");
  }
  for (gint i = 2; i < 4; i++)
    if (v[i] < 0 || v[i] > G_MAXUINT32)
      return refuse (self, pixel_paths[i], v[i] < 0 ? "is negative" : "is 2^32 or more");
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

/* Sets the fractions of the frame. gvametaconvert writes pixels instead for an OD without a region;
 * those are left out. */
static void
set_edges (const gdouble v[4], Box *box)
{
  if (box->w > 1 && box->h > 1 && v[0] == box->x1 && v[1] == box->y1 && v[2] == box->x2
      && v[3] == box->y2)
    return;
  box->x_min = v[0];
  box->y_min = v[1];
  box->x_max = v[2];
  box->y_max = v[3];
  box->flags |= BOX_HAS_NORMALIZED;
}

/* Reads an object of the array into a box. */
static gboolean
read_box (JsonlParser *self, ondemand::object object)
{
  Object o = {};
  Text label;

  o.box.w = o.box.parent = o.box.suppressed_by = o.box.od = -1;
  if (!read_members (self, object,
          [&] (Text name, ondemand::value value) { return read_member (self, name, value, &o); }))
    return FALSE;
  if (o.have_pixels
      && !(have_all (self, pixel_paths, o.have_pixels) && set_pixels (self, o.pixels, &o.box)))
    return FALSE;
  if (!o.have_pixels && !o.have_edges)
    return refuse (self, "", "has neither x, y, w, h nor detection.bounding_box");
  if (o.have_edges)
    set_edges (o.edges, &o.box);
  label = o.roi_type.empty () ? o.label : o.roi_type;
  if (!label.empty ())
    o.box.label = label_table_intern (self->frame->labels, terminate (self, label));
  g_array_append_val (self->frame->boxes, o.box);
  return TRUE;
}

/* --------------------------------------------------------------------- lines */

/* Refuses a box that names a suppressor beyond the last box. */
static gboolean
check_suppressors (JsonlParser *self)
{
  const GArray *boxes = self->frame->boxes;

  for (self->element = 0; self->element < (gint) boxes->len; self->element++)
    if (g_array_index (boxes, Box, self->element).suppressed_by >= (gint) boxes->len)
      return refuse (self, "nms.suppressed-by", "is beyond the last object");
  self->element = -1;
  return TRUE;
}

static gboolean
read_boxes (JsonlParser *self, ondemand::value value)
{
  ondemand::array array;
  simdjson::error_code error = value.get_array ().get (array);

  if (error)
    return refuse_text (self, error);
  self->element = 0;
  for (auto item : array) {
    ondemand::object object;

    error = item.get_object ().get (object);
    if (error == simdjson::INCORRECT_TYPE)
      return refuse_here (self, "is not an object");
    if (error)
      return refuse_text (self, error);
    if (!read_box (self, object))
      return FALSE;
    self->element++;
  }
  self->element = -1;
  return TRUE;
}

static gboolean
read_resolution (JsonlParser *self, ondemand::value value)
{
  gint64 width = 0, height = 0;
  ondemand::object object;

  if (!get_object (self, value, "resolution", &object)
      || !read_members (self, object, [&] (Text name, ondemand::value inner) -> gboolean {
           if (name == "width")
             return get_integer (self, inner, "resolution.width", 1, G_MAXINT, &width);
           if (name == "height")
             return get_integer (self, inner, "resolution.height", 1, G_MAXINT, &height);
           return skip_value (self, inner, 2);
         }))
    return FALSE;
  self->frame->width = (gint) width;
  self->frame->height = (gint) height;
  return (width > 0 || refuse (self, "resolution.width", "is missing"))
      && (height > 0 || refuse (self, "resolution.height", "is missing"));
}

/* Reads the members of a line, its boxes only if `boxes`. */
static gboolean
read_frame (JsonlParser *self, ondemand::object object, gboolean boxes)
{
  gboolean have_objects = FALSE, is_coco = FALSE;
  RecordedFrame *frame = self->frame;

  return read_members (self, object,
             [&] (Text name, ondemand::value value) -> gboolean {
               gint64 number = 0;
               Text text;

               if (name == "timestamp" || name == "dropped") {
                 const gboolean is_time = name == "timestamp";

                 if (!get_integer (self, value, is_time ? "timestamp" : "dropped", 0, G_MAXINT64,
                         &number))
                   return FALSE;
                 (is_time ? frame->timestamp : frame->dropped) = (guint64) number;
                 return TRUE;
               }
               if (name == "resolution")
                 return read_resolution (self, value);
               if (name == "outside-segment")
                 return get_boolean (self, value, "outside-segment", &frame->outside_segment);
               if (name == "stream")
                 return get_integer (self, value, "stream", 0, G_MAXUINT32, &frame->stream);
               if (name == "stream-id")
                 return get_string (self, value, "stream-id", &text);
               is_coco |= name == "annotations";
               if (name != "objects")
                 return skip_value (self, value, 1);
               if (have_objects)
                 return refuse_here (self, "has a second member objects");
               have_objects = TRUE;
               return expect (self, value, ondemand::json_type::array, "objects", "is not an array")
                   && (!boxes || read_boxes (self, value));
             })
      && (have_objects || frame->width > 0
          || refuse (self, "objects",
              is_coco ? "is missing; this is a COCO annotation file, not a recording"
                      : "is missing"))
      && check_suppressors (self);
}

/* Copies the line into memory with padding, because simdjson reads beyond the end. */
static simdjson::error_code
copy_line (JsonlParser *self, const gchar *line, gsize length)
{
  if (self->line == NULL || length > self->capacity) {
    const gsize capacity = MAX (length + length / 2, FIRST_CAPACITY);
    const simdjson::error_code error = self->parser.allocate (capacity);

    if (error)
      return error;
    g_free (self->line);
    self->line = (gchar *) g_malloc (capacity + simdjson::SIMDJSON_PADDING);
    self->capacity = capacity;
  }
  memcpy (self->line, line, length);
  memset (self->line + length, 0, simdjson::SIMDJSON_PADDING);
  return simdjson::SUCCESS;
}

static gboolean
parse_line (JsonlParser *self, Text line, gboolean boxes, RecordedFrame *frame, GError **error)
{
  ondemand::document document;
  ondemand::object object;
  simdjson::error_code problem = copy_line (self, line.data (), line.size ());

  self->frame = frame;
  self->element = -1;
  self->error = error;
  g_array_set_size (frame->boxes, 0);
  frame->timestamp = RECORDED_FRAME_NO_TIME;
  frame->width = frame->height = 0;
  frame->dropped = 0;
  frame->stream = -1;
  frame->outside_segment = FALSE;
  if (!problem)
    problem = self->parser
                  .iterate (self->line, line.size (), self->capacity + simdjson::SIMDJSON_PADDING)
                  .get (document);
  if (!problem)
    problem = document.get_object ().get (object);
  if (problem == simdjson::EMPTY)
    return refuse_here (self, "is empty");
  if (problem == simdjson::INCORRECT_TYPE)
    return refuse_here (self, "is not a JSON object");
  if (problem)
    return refuse_text (self, problem);
  if (!read_frame (self, object, boxes))
    return FALSE;
  /* the location after the last token is an error */
  return document.current_location ().error ()
      || refuse (self, "something", "follows the object of this line");
}

/* Parses the line without its boxes, because simdjson would read all of them. Returns FALSE unless
 * the boxes are last and the time is before them, as boxrecord writes it; such a line may be valid.
 */
static gboolean
parse_short_header (JsonlParser *self, Text line, RecordedFrame *frame)
{
  static const Text objects = "\"objects\":";
  const gsize at = line.find (objects);
  const gsize end = line.find_last_not_of (" \t");

  if (at == Text::npos || end == 0 || line.substr (end - 1, 2) != "]}")
    return FALSE;
  g_string_truncate (self->header, 0);
  g_string_append_len (self->header, line.data (), (gssize) (at + objects.size ()));
  g_string_append (self->header, "[]}");
  return parse_line (self, Text (self->header->str, self->header->len), FALSE, frame, NULL)
      && frame->timestamp != RECORDED_FRAME_NO_TIME;
}

gboolean
jsonl_parse_header (JsonlParser *self, const gchar *line, gsize length, RecordedFrame *frame,
    GError **error)
{
  return parse_short_header (self, Text (line, length), frame)
      || parse_line (self, Text (line, length), FALSE, frame, error);
}

gboolean
jsonl_parse (JsonlParser *self, const gchar *line, gsize length, RecordedFrame *frame,
    GError **error)
{
  return parse_line (self, Text (line, length), TRUE, frame, error);
}
