/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classlist: parses the properties when they are set, and searches by bisection for
 * every box, because lists have from one to some hundred classes.
 */
#include "classlist.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- lists of labels */

static gint
compare_quarks (gconstpointer a, gconstpointer b)
{
  GQuark left = *(const GQuark *) a, right = *(const GQuark *) b;

  return (left > right) - (left < right);
}

GArray *
class_selection_parse (const gchar *text)
{
  GArray *labels = g_array_new (FALSE, FALSE, sizeof (GQuark));
  gchar **words = g_strsplit (text ? text : "", ",", -1);

  for (guint i = 0; words[i]; i++)
    if (*g_strstrip (words[i]) != '\0') {
      const GQuark label = g_quark_from_string (words[i]);
      g_array_append_val (labels, label);
    }
  g_strfreev (words);
  g_array_sort (labels, compare_quarks);
  if (labels->len == 0)
    g_clear_pointer (&labels, g_array_unref);
  return labels;
}

gboolean
class_selection_has (const GArray *selection, GQuark label)
{
  return selection == NULL || class_list_find (selection, label);
}

/* -------------------------------------------------------- options of single classes */

#define LABEL_OF(entry) (*(const GQuark *) (entry))

typedef struct
{
  const ClassListForm *form;
  GArray *entries;
  gchar *error;
} Parser;

static void
refuse_value (Parser *parser, const gchar *label, const gchar *key, const GValue *value,
    const gchar *what)
{
  gchar *text = gst_value_serialize (value);

  if (strcmp (what, CLASS_LIST_UNKNOWN) == 0)
    parser->error = g_strdup_printf ("unknown key \"%s\" for class \"%s\"; the keys are %s", key,
        label, parser->form->keys);
  else
    parser->error = g_strdup_printf ("%s of class \"%s\" is %s, must be %s", key, label,
        text ? text : G_VALUE_TYPE_NAME (value), what);
  g_free (text);
}

/* Parses the options of the class that `label` names. `skip` names a field of `fields` that is not
 * an option ("class" in the list form), or is NULL. */
static void
parse_class (Parser *parser, const gchar *label, const GstStructure *fields, const gchar *skip)
{
  const ClassListForm *form = parser->form;
  const guint at = parser->entries->len;
  gpointer entry;

  if (*label == '\0') {
    parser->error = g_strdup ("the name of a class is empty");
    return;
  }
  g_array_set_size (parser->entries, at + 1);
  entry = parser->entries->data + at * form->entry_size;
  *(GQuark *) entry = g_quark_from_string (label);
  form->init (entry);
  for (gint i = 0; i < gst_structure_n_fields (fields) && parser->error == NULL; i++) {
    const gchar *key = gst_structure_nth_field_name (fields, i);
    const GValue *value = gst_structure_get_value (fields, key);
    const gchar *what = NULL;

    if (skip == NULL || strcmp (key, skip) != 0)
      what = form->take (entry, key, value);
    if (what)
      refuse_value (parser, label, key, value, what);
  }
  if (parser->error == NULL && form->check)
    parser->error = form->check (entry);
}

/* Parses one [o,class=...,...] of the list form. GStreamer reads a name of digits as a
 * number, so it is turned into text again. */
static void
parse_entry (Parser *parser, const GValue *entry, guint position)
{
  const GstStructure *fields = NULL;
  const GValue *value = NULL;
  gchar *label;

  if (GST_VALUE_HOLDS_STRUCTURE (entry))
    fields = gst_value_get_structure (entry);
  if (fields)
    value = gst_structure_get_value (fields, "class");
  if (value && G_VALUE_HOLDS_STRING (value))
    label = g_value_dup_string (value);
  else
    label = value ? gst_value_serialize (value) : NULL;
  if (label)
    parse_class (parser, label, fields, "class");
  else
    parser->error = g_strdup_printf ("entry %u of options has no class; "
                                     "an entry is [o,class=car,...] with the keys %s",
        position, parser->form->keys);
  g_free (label);
}

/* Returns whether `name` is among the keys. */
static gboolean
is_key (const ClassListForm *form, const gchar *name)
{
  gchar **keys = g_strsplit (form->keys, ", ", -1);
  const gboolean found = g_strv_contains ((const gchar *const *) keys, name);

  g_strfreev (keys);
  return found;
}

/* Refuses a field that has neither form. The message shows both forms, with the name of
 * the field as the class unless that name is a key. */
static void
refuse_field (Parser *parser, const gchar *name)
{
  const gboolean no_class = strcmp (name, "options") == 0 || is_key (parser->form, name);
  const gchar *example = parser->form->keys + strcspn (parser->form->keys, ",");
  gchar *key = g_strndup (parser->form->keys, example - parser->form->keys);

  parser->error = g_strdup_printf ("field \"%s\" is not a class with its options in brackets, as "
                                   "in o,%s=[o,%s=0.3], nor a list of them, as in "
                                   "o,options=<[o,class=car,%s=0.3]>; the keys are %s",
      name, no_class ? "person" : name, key, key, parser->form->keys);
  g_free (key);
}

static void
parse_field (Parser *parser, const gchar *name, const GValue *value)
{
  guint i, n;

  if (GST_VALUE_HOLDS_STRUCTURE (value) && gst_value_get_structure (value)) {
    parse_class (parser, name, gst_value_get_structure (value), NULL);
  } else if (strcmp (name, "options") == 0 && GST_VALUE_HOLDS_ARRAY (value)) {
    for (i = 0, n = gst_value_array_get_size (value); i < n && parser->error == NULL; i++)
      parse_entry (parser, gst_value_array_get_value (value, i), i);
  } else if (strcmp (name, "options") == 0 && GST_VALUE_HOLDS_LIST (value)) {
    for (i = 0, n = gst_value_list_get_size (value); i < n && parser->error == NULL; i++)
      parse_entry (parser, gst_value_list_get_value (value, i), i);
  } else {
    refuse_field (parser, name);
  }
}

static void
refuse_twice (Parser *parser)
{
  const gsize size = parser->form->entry_size;

  for (guint i = 1; i < parser->entries->len && parser->error == NULL; i++) {
    const GQuark label = LABEL_OF (parser->entries->data + i * size);

    if (label == LABEL_OF (parser->entries->data + (i - 1) * size))
      parser->error = g_strdup_printf ("class \"%s\" is listed twice", g_quark_to_string (label));
  }
}

GArray *
class_list_parse (const GstStructure *structure, const ClassListForm *form, gchar **error)
{
  Parser parser = { form, g_array_new (FALSE, TRUE, (guint) form->entry_size), NULL };

  for (gint i = 0; i < gst_structure_n_fields (structure) && parser.error == NULL; i++) {
    const gchar *name = gst_structure_nth_field_name (structure, i);

    parse_field (&parser, name, gst_structure_get_value (structure, name));
  }
  g_array_sort (parser.entries, compare_quarks);
  if (parser.error == NULL)
    refuse_twice (&parser);
  *error = parser.error;
  if (parser.error)
    g_clear_pointer (&parser.entries, g_array_unref);
  return parser.entries;
}

gpointer
class_list_find (const GArray *entries, GQuark label)
{
  if (entries->len == 0)
    return NULL; /* an empty GArray has no data, which bsearch must get */
  return bsearch (&label, entries->data, entries->len,
      g_array_get_element_size ((GArray *) entries), compare_quarks);
}

gboolean
class_list_number (const GValue *value, gdouble *number)
{
  GValue converted = G_VALUE_INIT;

  if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value)) {
    gchar *text = g_strstrip (g_strdup (g_value_get_string (value)));
    gchar *end;
    gboolean ok;

    *number = g_ascii_strtod (text, &end);
    ok = *text != '\0' && *end == '\0';
    g_free (text);
    return ok;
  }
  g_value_init (&converted, G_TYPE_DOUBLE);
  if (G_VALUE_HOLDS_STRING (value) || !g_value_transform (value, &converted))
    return FALSE;
  *number = g_value_get_double (&converted);
  return TRUE;
}
