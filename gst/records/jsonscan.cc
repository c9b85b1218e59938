/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jsonscan: uses simdjson's On-Demand parser, which reads values in the order of the line.
 * That parser checks only values that are read, so jsonscan reads every value. */
#include "jsonscan.h"

#include <simdjson.h>
#include <string.h>

#include "recordedframe.h"

namespace ondemand = simdjson::ondemand;

#define MAX_DEPTH 64
#define FIRST_CAPACITY 4096

struct _JsonScan
{
  const JsonMember *members;
  guint count;
  JsonValue *values; /* not owned */
  ondemand::parser parser;
  gchar *line; /* a copy, followed by the padding that simdjson may read */
  gsize capacity;

  /* of the line being read */
  JsonElementFunc each;
  gpointer data;
  gint element; /* index in the array, or -1 */
  GError **error;
};

JsonScan *
json_scan_new (const JsonMember *members, guint count, JsonValue *values)
{
  JsonScan *self = new JsonScan ();

  self->members = members;
  self->count = count;
  self->values = values;
  return self;
}

void
json_scan_free (JsonScan *self)
{
  if (self == NULL)
    return;
  g_free (self->line);
  delete self;
}

/* -------------------------------------------------------------------- errors */

gboolean
json_scan_refuse (gint element, const gchar *path, const gchar *what, GError **error)
{
  gchar *place = element < 0 ? g_strdup ("")
                             : g_strdup_printf ("objects[%d]%s", element, *path ? "." : "");

  g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%s%s %s", place, path, what);
  g_free (place);
  return FALSE;
}

static gboolean
refuse (JsonScan *self, const gchar *what)
{
  return json_scan_refuse (self->element, self->element < 0 ? "the line" : "", what, self->error);
}

/* Sets the error for text that is not JSON and returns FALSE. */
static gboolean
refuse_text (JsonScan *self, simdjson::error_code reason)
{
  gchar *what = g_strdup_printf ("is not valid JSON: %s", simdjson::error_message (reason));

  refuse (self, what);
  g_free (what);
  return FALSE;
}

/* ------------------------------------------------------------------- numbers */

/* Removes the digits that `text` begins with, and returns their number. */
static gsize
skip_digits (std::string_view &text)
{
  const gsize n = MIN (text.find_first_not_of ("0123456789"), text.size ());

  text.remove_prefix (n);
  return n;
}

/* Removes the first character of `text` if it is one of `any`, and returns whether it was. */
static bool
skip_one (std::string_view &text, std::string_view any)
{
  const bool found = !text.empty () && any.find (text[0]) != std::string_view::npos;

  text.remove_prefix (found);
  return found;
}

/* Returns whether `text` is a number in JSON's grammar, followed by blanks only. */
static bool
is_number (std::string_view text)
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
  return text.find_first_not_of (" \t\r") == std::string_view::npos;
}

static gboolean
scan_number (JsonScan *self, ondemand::value value, JsonValue *out)
{
  const std::string_view token = value.raw_json_token ();
  ondemand::number number;
  const simdjson::error_code error = value.get_number ().get (number);

  out->kind = JSON_REAL;
  if (!error) {
    out->number = number.as_double ();
    if (number.is_int64 ()) {
      out->kind = JSON_INTEGER;
      out->integer = number.get_int64 ();
    }
    return TRUE;
  }
  /* simdjson refuses numbers that are too large */
  if (!is_number (token))
    return refuse_text (self, error);
  out->number = g_ascii_strtod (token.data (), NULL);
  return TRUE;
}

/* -------------------------------------------------------------------- values */

static gboolean
scan_string (JsonScan *self, ondemand::value value, JsonValue *out)
{
  std::string_view text;
  const simdjson::error_code error = value.get_string ().get (text);

  if (error)
    return refuse_text (self, error);
  if (text.find ('\0') != std::string_view::npos)
    return refuse (self, "has a NUL character in a string");
  out->kind = JSON_STRING;
  out->text = text.data ();
  out->length = text.size ();
  return TRUE;
}

/* Reads true, false or null. */
static gboolean
scan_word (JsonScan *self, ondemand::value value, gboolean boolean, JsonValue *out)
{
  bool answer = false;
  const simdjson::error_code error = boolean ? value.get_bool ().get (answer)
                                             : value.is_null ().get (answer);

  if (error || (!boolean && !answer))
    return refuse (self, "has a word that is neither true, false nor null");
  out->kind = boolean ? JSON_BOOLEAN : JSON_NULL;
  out->integer = answer;
  return TRUE;
}

/* Returns the row of a member, or -1 if it is ignored. */
static gint
find_member (JsonScan *self, gint group, std::string_view name)
{
  for (guint i = 0; group != JSON_NO_GROUP && i < self->count; i++)
    if (self->members[i].group == group && name == self->members[i].name)
      return (gint) i;
  return -1;
}

static gboolean scan_value (JsonScan *self, ondemand::value value, JsonValue *out, gint member,
    guint depth);

static gboolean
scan_object (JsonScan *self, ondemand::object object, gint group, guint depth)
{
  for (guint i = 0; group != JSON_NO_GROUP && i < self->count; i++)
    if (self->members[i].group == group)
      self->values[i].kind = JSON_MISSING;
  for (auto field : object) {
    std::string_view name;
    ondemand::value value;
    simdjson::error_code error = field.unescaped_key ().get (name);

    if (!error)
      error = field.value ().get (value);
    if (error)
      return refuse_text (self, error);
    JsonValue ignored = {};
    const gint member = find_member (self, group, name);

    if (!scan_value (self, value, member < 0 ? &ignored : &self->values[member], member, depth))
      return FALSE;
  }
  return TRUE;
}

/* Reads the array of objects of the line. */
static gboolean
scan_elements (JsonScan *self, ondemand::array array, gint group, guint depth)
{
  self->element = 0;
  for (auto value : array) {
    ondemand::object object;
    const simdjson::error_code error = value.get_object ().get (object);

    if (error == simdjson::INCORRECT_TYPE)
      return refuse (self, "is not an object");
    if (error)
      return refuse_text (self, error);
    if (!scan_object (self, object, group, depth + 1)
        || !self->each (self->element, self->data, self->error))
      return FALSE;
    self->element++;
  }
  self->element = -1;
  return TRUE;
}

static gboolean
scan_array (JsonScan *self, ondemand::array array, gint elements, guint depth)
{
  if (elements != JSON_NO_GROUP)
    return self->each == NULL || scan_elements (self, array, elements, depth);
  for (auto element : array) {
    JsonValue scanned = {};
    ondemand::value value;
    const simdjson::error_code error = element.get (value);

    if (error)
      return refuse_text (self, error);
    if (!scan_value (self, value, &scanned, -1, depth))
      return FALSE;
  }
  return TRUE;
}

/* Reads an object or an array that lies inside `depth` brackets. */
static gboolean
scan_brackets (JsonScan *self, ondemand::value value, JsonValue *out, gint member, guint depth)
{
  const JsonMember *row = member < 0 ? NULL : &self->members[member];
  const bool braces = out->kind == JSON_OBJECT;
  ondemand::object object;
  ondemand::array array;
  simdjson::error_code error;

  if (depth == MAX_DEPTH)
    return refuse (self, "is nested deeper than " G_STRINGIFY (MAX_DEPTH));
  error = braces ? value.get_object ().get (object) : value.get_array ().get (array);
  if (error)
    return refuse_text (self, error);
  return braces ? scan_object (self, object, row ? row->contents : JSON_NO_GROUP, depth + 1)
                : scan_array (self, array, row ? row->elements : JSON_NO_GROUP, depth + 1);
}

static gboolean
scan_value (JsonScan *self, ondemand::value value, JsonValue *out, gint member, guint depth)
{
  ondemand::json_type type;
  const simdjson::error_code error = value.type ().get (type);

  if (error)
    return refuse_text (self, error);
  if (member >= 0 && out->kind != JSON_MISSING && self->members[member].elements != JSON_NO_GROUP)
    return refuse (self, "has a second member objects");
  switch (type) {
    case ondemand::json_type::object:
      out->kind = JSON_OBJECT;
      return scan_brackets (self, value, out, member, depth);
    case ondemand::json_type::array:
      out->kind = JSON_ARRAY;
      return scan_brackets (self, value, out, member, depth);
    case ondemand::json_type::number:
      return scan_number (self, value, out);
    case ondemand::json_type::string:
      return scan_string (self, value, out);
    case ondemand::json_type::boolean:
    case ondemand::json_type::null:
      return scan_word (self, value, type == ondemand::json_type::boolean, out);
    default: /* text that is not a value, in later versions of simdjson */
      return refuse_text (self, simdjson::TAPE_ERROR);
  }
}

/* ---------------------------------------------------------------------- lines */

/* Copies the line into memory with padding, because simdjson reads beyond the end. */
static simdjson::error_code
copy_line (JsonScan *self, const gchar *line, gsize length)
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

gboolean
json_scan_line (JsonScan *self, const gchar *line, gsize length, JsonElementFunc each,
    gpointer data, GError **error)
{
  ondemand::document document;
  ondemand::object object;
  simdjson::error_code problem = copy_line (self, line, length);

  self->each = each;
  self->data = data;
  self->element = -1;
  self->error = error;
  if (!problem)
    problem = self->parser.iterate (self->line, length, self->capacity + simdjson::SIMDJSON_PADDING)
                  .get (document);
  if (!problem)
    problem = document.get_object ().get (object);
  if (problem == simdjson::EMPTY)
    return refuse (self, "is empty");
  if (problem == simdjson::INCORRECT_TYPE)
    return refuse (self, "is not a JSON object");
  if (problem)
    return refuse_text (self, problem);
  if (!scan_object (self, object, 0, 1))
    return FALSE;
  /* the location after the last token is an error */
  if (!document.current_location ().error ())
    return json_scan_refuse (-1, "something", "follows the object of this line", error);
  return TRUE;
}
