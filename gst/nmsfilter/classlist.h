/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classlist: properties that name classes: lists of labels, and structures with options of single
 * classes, in which users may have written any numeric type.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* -------------------------------------------------------------- lists of labels */

/* Parses the labels of classes, separated by commas; blanks around them and empty ones are
 * ignored. Returns an array of GQuark in ascending order, or NULL if none is left, which stands for
 * all classes. */
GArray *class_selection_parse (const gchar *text);

/* Returns whether a label is in the list: always if `selection` is NULL. An empty label (0) is in
 * no list. */
gboolean class_selection_has (const GArray *selection, GQuark label);

/* -------------------------------------------------------- options of single classes */

/* The options that an element has for a class, and how to read them. */
typedef struct
{
  const gchar *keys; /* all of them, for messages, separated by commas */
  gsize entry_size;  /* size of an entry, a struct that begins with the GQuark of its label */
  /* Sets all options of an entry to "not given"; its label is set. */
  void (*init) (gpointer entry);
  /* Takes the value of a key. Returns NULL, CLASS_LIST_UNKNOWN if there is no such key, or what the
   * value must be, as in "a number". */
  const gchar *(*take) (gpointer entry, const gchar *key, const GValue *value);
  /* Returns NULL, or why the options of an entry cannot be used together: a sentence without a full
   * stop, to be freed. The pointer is NULL if there is nothing to check. */
  gchar *(*check) (gconstpointer entry);
} ClassListForm;

#define CLASS_LIST_UNKNOWN ""

/* Parses options of single classes, in either form:
 *   o,person=[o,iou-threshold=0.3],car=[o,max=5]
 *   o,options=<[o,class="traffic light",score-threshold=0.2],[o,class=car,max=5]>
 * Returns an array of entries in ascending order of the labels, to be freed with g_array_unref.
 * Returns NULL if a key is unknown, a value does not fit, or a class is missing or listed twice;
 * *error is then one sentence without a full stop that names the class and the key, to be freed. */
GArray *class_list_parse (const GstStructure *structure, const ClassListForm *form, gchar **error);

/* Returns the entry of a label in such an array, or NULL. */
gpointer class_list_find (const GArray *entries, GQuark label);

/* Writes the number that `value` holds, of any numeric type or as text. Returns FALSE if it holds
 * none. */
gboolean class_list_number (const GValue *value, gdouble *number);

/* Takes a reference of an array, which the settings and the rules that frames use share and do not
 * change. Returns NULL for NULL. */
static inline GArray *
class_list_ref (GArray *array)
{
  return array ? g_array_ref (array) : NULL;
}

G_END_DECLS
