/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonguard: what must hold of a line before json-glib may see it. json-glib
 * 1.6 recurses without bound, needs twenty times a line's length of memory, and
 * is lenient: it takes 010 for 8, a second object for nothing, comments, and
 * an integer beyond 64 bits for -1. The guard is a strict lexer: JSON's tokens
 * only, brackets in pairs and at most 64 deep, exactly one object on the line.
 * It also finds the elements of the top-level array "objects", so that they
 * are parsed one at a time, in little memory.
 *
 * Grammar (commas, colons, keys) is left to json-glib, but for that array.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gsize start, end;             /* bytes start .. end - 1 of the line */
} JsonSpan;

/* Checks one line. FALSE and RECORD_ERROR_MALFORMED if it is refused. Sets
 * `objects` to what is between the brackets of the top-level array "objects",
 * to 0, 0 if there is none. Integers beyond 64 bits are rewritten in place with
 * an exponent, so that json-glib makes doubles of them. */
gboolean json_guard_check (gchar * text, gsize length, JsonSpan * objects, GError ** error);

/* Steps through the array "objects" of a line that passed the check: moves
 * `rest` (a copy of `objects` at first) behind its next element and sets
 * `element` to that, braces included. FALSE: there is none. */
gboolean json_guard_next (const gchar * text, JsonSpan * rest, JsonSpan * element);

G_END_DECLS
