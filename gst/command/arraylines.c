/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arraylines: a state machine that reads each byte once. */
#include "arraylines.h"

static gboolean
refuse (const ArrayState *state, gchar c, GError **error)
{
  static const gchar *const expected[] = { "\"[\"", "an object or \"]\"", "an object",
    "a comma or \"]\"", "nothing" };

  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
      "behind %" G_GUINT64_FORMAT " entries: \"%c\", but %s is expected", state->objects,
      g_ascii_isprint (c) ? c : '?', expected[state->expects]);
  return FALSE;
}

/* Reads a character of an object. */
static void
convert_inner (ArrayState *state, gchar *c)
{
  if (*c == '\n')
    *c = ' ';
  if (state->escape)
    state->escape = FALSE;
  else if (*c == '"')
    state->string = !state->string;
  else if (state->string)
    state->escape = *c == '\\';
  else if (*c == '{' || *c == '[')
    state->depth++;
  else if ((*c == '}' || *c == ']') && --state->depth == 0)
    state->expects = ARRAY_EXPECTS_COMMA;
}

/* Reads a character between objects. */
static gboolean
convert_outer (ArrayState *state, gchar *c, GError **error)
{
  const ArrayExpects expects = state->expects;
  const gchar found = *c;

  *c = ' ';
  if (found == ' ' || found == '\t' || found == '\r' || found == '\n')
    return TRUE;
  if (found == '[' && expects == ARRAY_EXPECTS_BEGIN) {
    state->expects = ARRAY_EXPECTS_FIRST;
  } else if (found == ']' && (expects == ARRAY_EXPECTS_FIRST || expects == ARRAY_EXPECTS_COMMA)) {
    state->expects = ARRAY_EXPECTS_NOTHING;
  } else if (found == ',' && expects == ARRAY_EXPECTS_COMMA) {
    state->expects = ARRAY_EXPECTS_OBJECT;
    *c = '\n';
  } else if (found == '{' && (expects == ARRAY_EXPECTS_FIRST || expects == ARRAY_EXPECTS_OBJECT)) {
    state->depth = 1;
    state->objects++;
    *c = '{';
  } else {
    return refuse (state, found, error);
  }
  return TRUE;
}

gboolean
array_lines_convert (ArrayState *state, gchar *text, gsize length, GError **error)
{
  for (gchar *c = text; c < text + length; c++)
    if (state->depth > 0)
      convert_inner (state, c);
    else if (!convert_outer (state, c, error))
      return FALSE;
  return TRUE;
}
