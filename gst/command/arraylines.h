/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arraylines: turns the text of a JSON array of objects into a line for each object, in place and
 * with the same length, so that positions stay those of the file. Brackets of the array become
 * blanks, commas between objects newlines, and newlines within objects blanks.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ARRAY_EXPECTS_BEGIN,
  ARRAY_EXPECTS_FIRST, /* an object or the end */
  ARRAY_EXPECTS_OBJECT,
  ARRAY_EXPECTS_COMMA,   /* or the end */
  ARRAY_EXPECTS_NOTHING, /* the array has ended */
} ArrayExpects;

/* Where a text is in an array. All zero is its beginning. */
typedef struct
{
  ArrayExpects expects;
  guint depth;             /* open brackets within an object */
  gboolean string, escape; /* in a string; behind a backslash */
  guint64 objects;         /* begun so far */
} ArrayState;

/* Converts the next part of the text. Returns FALSE and G_FILE_ERROR_INVAL if something else than
 * objects and commas is in the array; contents of objects are not checked. */
gboolean array_lines_convert (ArrayState *state, gchar *text, gsize length, GError **error);

G_END_DECLS
