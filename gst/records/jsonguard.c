/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jsonguard: one pass over the bytes; a 64-bit word holds the type of each open bracket. */
#include "jsonguard.h"

#include <string.h>

#include "recordedframe.h"

#define MAX_DEPTH 64

typedef enum
{
  EXPECT_FIRST,                 /* after '[' */
  EXPECT_ELEMENT,               /* after ',' */
  EXPECT_COMMA,                 /* after an element */
} Expect;

typedef struct
{
  gchar *text;
  gsize length, pos;
  guint depth;
  guint64 braces;               /* bit d is set if level d was opened by '{' */
  JsonSpan string;              /* the last string at the top level, without its quotes */
  gboolean after_key;           /* the last token was the colon of `"objects":` at the top level */
  JsonSpan objects;
  gboolean in_objects;
  Expect expect;                /* which token may come next inside "objects" */
  guint elements;               /* elements of "objects" so far */
  GError **error;
} Lexer;

/* Sets the error, with the position in the line, and returns FALSE. */
static gboolean G_GNUC_PRINTF (2, 3)
refuse (Lexer * l, const gchar * format, ...)
{
  va_list args;
  gchar *reason;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (l->error, RECORD_ERROR, RECORD_ERROR_MALFORMED, "%s at byte %" G_GSIZE_FORMAT,
      reason, l->pos + 1);
  g_free (reason);
  return FALSE;
}

static inline gchar
peek (const Lexer * l)
{
  return l->pos < l->length ? l->text[l->pos] : '\0';
}

/* Reads a string; pos is at its opening quote. */
static gboolean
lex_string (Lexer * l)
{
  gsize start = ++l->pos;

  for (; l->pos < l->length; l->pos++) {
    gchar c = l->text[l->pos];

    if (c == '"') {
      if (l->depth == 1)
        l->string = (JsonSpan) { start, l->pos };
      l->pos++;
      return TRUE;
    }
    if ((guchar) c < 0x20)
      return refuse (l, "control character 0x%02x in a string", (guint) (guchar) c);
    if (c != '\\')
      continue;
    l->pos++;
    c = peek (l);
    if (c == 'u') {
      guint i;
      for (i = 1; i <= 4; i++)
        if (l->pos + i >= l->length || !g_ascii_isxdigit (l->text[l->pos + i]))
          return refuse (l, "\\u without four hexadecimal digits");
      if (memcmp (l->text + l->pos + 1, "0000", 4) == 0)
        return refuse (l, "NUL character in a string");
      l->pos += 4;
    } else if (c == '\0' || strchr ("\"\\/bfnrt", c) == NULL) {
      return refuse (l, "unknown escape in a string");
    }
  }
  return refuse (l, "the line ends inside a string");
}

/* Skips digits and returns their number. */
static guint
lex_digits (Lexer * l)
{
  gsize start = l->pos;

  while (g_ascii_isdigit (peek (l)))
    l->pos++;
  return l->pos - start;
}

/* Reads a number by JSON's grammar. */
static gboolean
lex_number (Lexer * l)
{
  static const gchar max[] = "9223372036854775807";
  gboolean integer = TRUE;
  gsize first;
  guint digits;

  if (peek (l) == '-')
    l->pos++;
  first = l->pos;
  digits = lex_digits (l);
  if (digits == 0)
    return refuse (l, "not a number");
  if (digits > 1 && l->text[first] == '0')
    return refuse (l, "number with a leading zero");
  if (peek (l) == '.') {
    integer = FALSE;
    l->pos++;
    if (lex_digits (l) == 0)
      return refuse (l, "number without digits behind its point");
  }
  if (peek (l) == 'e' || peek (l) == 'E') {
    integer = FALSE;
    l->pos++;
    if (peek (l) == '+' || peek (l) == '-')
      l->pos++;
    if (lex_digits (l) == 0)
      return refuse (l, "number without digits in its exponent");
  }
  if (g_ascii_isalnum (peek (l)) || peek (l) == '.' || peek (l) == '_')
    return refuse (l, "not a number");
  /* Replace the last three digits of an integer beyond 64 bits by an exponent. At
   * least 16 digits are left, about the precision of a double. */
  if (integer && (digits > sizeof max - 1
          || (digits == sizeof max - 1 && memcmp (l->text + first, max, digits) > 0)))
    memcpy (l->text + l->pos - 3, "e03", 3);
  return TRUE;
}

/* Reads true, false or null. */
static gboolean
lex_word (Lexer * l)
{
  static const gchar *const words[] = { "true", "false", "null" };
  gsize start = l->pos;
  guint i;

  while (g_ascii_isalnum (peek (l)) || peek (l) == '_')
    l->pos++;
  for (i = 0; i < G_N_ELEMENTS (words); i++)
    if (l->pos - start == strlen (words[i])
        && memcmp (l->text + start, words[i], l->pos - start) == 0)
      return TRUE;
  l->pos = start;
  if (g_ascii_isalpha (peek (l)))
    return refuse (l, "a word that is neither true, false nor null");
  return refuse (l, "unexpected character 0x%02x", (guint) (guchar) l->text[l->pos]);
}

/* Reads an opening bracket, and notes the start of the array "objects" and of its elements. */
static gboolean
lex_open (Lexer * l, gboolean brace)
{
  if (l->depth == MAX_DEPTH)
    return refuse (l, "nested deeper than %d", MAX_DEPTH);
  if (l->depth == 1 && l->after_key && !brace) {
    if (l->objects.start > 0)
      return refuse (l, "a second member objects");
    l->objects.start = l->pos + 1;
    l->in_objects = TRUE;
    l->expect = EXPECT_FIRST;
  } else if (l->in_objects && l->depth == 2) {
    l->elements++;
  }
  l->braces = (l->braces & ~(G_GUINT64_CONSTANT (1) << l->depth)) | ((guint64) brace << l->depth);
  l->depth++;
  l->pos++;
  return TRUE;
}

/* Reads a closing bracket, and notes the end of the array "objects". */
static gboolean
lex_close (Lexer * l, gboolean brace)
{
  if (l->depth == 0 || ((l->braces >> (l->depth - 1)) & 1) != (guint64) brace)
    return refuse (l, "'%c' closes nothing", l->text[l->pos]);
  l->depth--;
  if (l->in_objects && l->depth == 2) {
    l->expect = EXPECT_COMMA;
  } else if (l->in_objects && l->depth == 1) {
    if (l->expect == EXPECT_ELEMENT)
      return refuse (l, "an object is missing behind the last comma of objects");
    l->in_objects = FALSE;
    l->objects.end = l->pos;
  }
  l->pos++;
  return TRUE;
}

/* Checks the token between two elements of "objects": an object where one must
 * come, otherwise a comma. */
static gboolean
check_element (Lexer * l, gchar c)
{
  if (c == ']')
    return TRUE;
  if (l->expect == EXPECT_COMMA) {
    if (c != ',')
      return refuse (l, "a comma is missing behind objects[%u]", l->elements - 1);
    l->expect = EXPECT_ELEMENT;
  } else if (c != '{') {
    return refuse (l, "objects[%u] is not an object", l->elements);
  }
  return TRUE;
}

gboolean
json_guard_check (gchar * text, gsize length, JsonSpan * objects, GError ** error)
{
  Lexer l = {.text = text,.length = length,.error = error };
  gboolean done = FALSE;

  while (l.pos < l.length) {
    gchar c = text[l.pos];
    gboolean ok;

    if (c == ' ' || c == '\t' || c == '\r') {
      l.pos++;
      continue;
    }
    if (done)
      return refuse (&l, "something follows the object of this line");
    if (l.depth == 0 && c != '{')
      return refuse (&l, "the line is not a JSON object");
    if (l.in_objects && l.depth == 2 && !check_element (&l, c))
      return FALSE;

    switch (c) {
      case '{':
      case '[':
        ok = lex_open (&l, c == '{');
        break;
      case '}':
      case ']':
        ok = lex_close (&l, c == '}');
        done = l.depth == 0;
        break;
      case '"':
        ok = lex_string (&l);
        break;
      case ',':
      case ':':
        l.pos++;
        ok = TRUE;
        break;
      default:
        ok = (c == '-' || g_ascii_isdigit (c)) ? lex_number (&l) : lex_word (&l);
        break;
    }
    if (!ok)
      return FALSE;
    l.after_key = c == ':' && l.depth == 1 && l.string.end - l.string.start == 7
        && memcmp (text + l.string.start, "objects", 7) == 0;
  }
  if (!done)
    return refuse (&l, length == 0 ? "the line is empty" : "the line ends inside the object");
  *objects = l.objects;
  return TRUE;
}

gboolean
json_guard_next (const gchar * text, JsonSpan * rest, JsonSpan * element)
{
  gsize pos = rest->start;
  gint depth = 0;

  while (pos < rest->end && text[pos] != '{')
    pos++;
  element->start = pos;
  for (; pos < rest->end; pos++) {
    if (text[pos] == '"') {
      while (text[++pos] != '"')
        if (text[pos] == '\\')
          pos++;
    } else if (text[pos] == '{' || text[pos] == '[') {
      depth++;
    } else if ((text[pos] == '}' || text[pos] == ']') && --depth == 0) {
      rest->start = element->end = pos + 1;
      return TRUE;
    }
  }
  return FALSE;
}
