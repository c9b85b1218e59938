/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonguard: checks a line before json-glib parses it. json-glib 1.6 recurses
 * without limit, needs twenty times the length of a line in memory, and accepts
 * invalid JSON: it reads 010 as 8, ignores a second object on the line, allows
 * comments, and reads an integer beyond 64 bits as -1. The guard is a strict lexer:
 * it accepts only JSON's tokens, brackets in pairs and at most 64 deep, and exactly
 * one object. It also finds the elements of the top-level array "objects", so that
 * they can be parsed one at a time in little memory.
 *
 * The guard does not check commas, colons and keys except between the elements of
 * that array; json-glib does.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gsize start, end;             /* bytes start .. end - 1 of the line */
} JsonSpan;

/* Checks one line. If it is malformed, returns FALSE and RECORD_ERROR_MALFORMED.
 * Sets `objects` to the text between the brackets of the top-level array "objects",
 * or to 0, 0 if the line has no such array. Integers beyond 64 bits are rewritten
 * in place with an exponent, so that json-glib reads them as doubles. */
gboolean json_guard_check (gchar * text, gsize length, JsonSpan * objects, GError ** error);

/* Finds the next element of the array "objects" of a line that json_guard_check ()
 * accepted. `rest` is a copy of `objects` at the first call; it moves behind the
 * element. Sets `element` to the element, braces included. Returns FALSE after the
 * last one. */
gboolean json_guard_next (const gchar * text, JsonSpan * rest, JsonSpan * element);

G_END_DECLS
