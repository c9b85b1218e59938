/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonscan: reads a line with one JSON object with simdjson, in one pass and without a
 * tree, and stores the members that a table names. All other members are checked to be
 * valid JSON and then ignored. Brackets may be nested 64 deep. Integers beyond 64 bits
 * become doubles, and numbers beyond a double become infinite.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  JSON_MISSING,
  JSON_INTEGER, /* of 64 bits, signed; `number` is set too */
  JSON_REAL,
  JSON_STRING,
  JSON_BOOLEAN, /* `integer` is 0 or 1 */
  JSON_OBJECT,
  JSON_ARRAY,
  JSON_NULL,
} JsonKind;

typedef struct
{
  JsonKind kind;
  gint64 integer;
  gdouble number;
  const gchar *text; /* UTF-8 without NUL characters, not terminated, not owned */
  gsize length;      /* of the text, in bytes */
} JsonValue;

#define JSON_NO_GROUP (-1)

/* A member to be read. A group is a number for the objects of one kind; 0 is the line. */
typedef struct
{
  const gchar *name;
  gint group;    /* of the object that has this member */
  gint contents; /* group of the object in this member, or JSON_NO_GROUP */
  gint elements; /* group of the objects in the array that this member is, or
                                 * JSON_NO_GROUP; one member of the line may have this */
} JsonMember;

typedef struct _JsonScan JsonScan;

/* Called for each object of the array whose values have been read. Returns FALSE after it
 * has set an error, which ends the scan. */
typedef gboolean (*JsonElementFunc) (gint element, gpointer data, GError **error);

/* `members`, which has `count` rows, must stay valid. `values` has room for `count` values.
 * While an object is read, the values of its group hold its members that were read; if
 * a name is there twice, the last one. */
JsonScan *json_scan_new (const JsonMember *members, guint count, JsonValue *values);
void json_scan_free (JsonScan *self);

/* Reads one line. `each` is called for each object of the array; if it is NULL, the array
 * is passed over and its contents are not checked. The texts of `values` are valid until
 * the next call. If the line is malformed, returns FALSE and RECORD_ERROR_MALFORMED. */
gboolean json_scan_line (JsonScan *self, const gchar *line, gsize length, JsonElementFunc each,
    gpointer data, GError **error);

/* Sets the error "objects[<element>].<path> <what>" and returns FALSE. `element` is -1
 * outside of the array. `path` may be empty. */
gboolean json_scan_refuse (gint element, const gchar *path, const gchar *what, GError **error);

G_END_DECLS
