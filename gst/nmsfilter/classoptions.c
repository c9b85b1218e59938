/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classoptions: parses the properties when they are set, and searches by bisection for
 * every box, because lists have from one to some hundred classes.
 */
#include "classoptions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optionvalue.h"

#define KEYS \
  "iou-threshold, score-threshold, max, min-width, max-width, min-height, max-height, " \
  "min-area, max-area, min-aspect-ratio, max-aspect-ratio"

typedef struct
{
  nms_class_options core;
  BoxLimits limits;
} ClassEntry;

typedef struct
{
  GArray *options; /* ClassEntry */
  gchar *error;
} Parser;

/* --------------------------------------------------------------- one value */

static gboolean
fail (Parser *parser, const gchar *label, const gchar *key, const GValue *value, const gchar *what)
{
  gchar *text = gst_value_serialize (value);

  parser->error = g_strdup_printf ("%s of class \"%s\" is %s, must be %s", key, label,
      text ? text : G_VALUE_TYPE_NAME (value), what);
  g_free (text);
  return FALSE;
}

static gboolean
parse_key (Parser *parser, ClassEntry *options, const gchar *label, const gchar *key,
    const GValue *value)
{
  nms_class_options *option = &options->core;
  const BoxLimit limit = box_limit_from_name (key);
  gdouble number = 0;
  gboolean is_number = option_value_number (value, &number) && !isnan (number);

  if (strcmp (key, "iou-threshold") == 0) {
    if (!is_number || number < 0 || number > 1)
      return fail (parser, label, key, value, "a number from 0 to 1");
    option->iou_threshold = (gfloat) number;
    option->set |= NMS_CLASS_IOU_THRESHOLD;
  } else if (strcmp (key, "score-threshold") == 0) {
    if (!is_number)
      return fail (parser, label, key, value, "a number");
    option->score_threshold = (gfloat) number;
    option->set |= NMS_CLASS_SCORE_THRESHOLD;
  } else if (strcmp (key, "max") == 0) {
    if (!is_number || number < 0 || number > G_MAXUINT32 || number != floor (number))
      return fail (parser, label, key, value, "a whole number from 0 (no limit) to 4294967295");
    option->max_detections = (guint64) number;
    option->set |= NMS_CLASS_MAX_DETECTIONS;
  } else if (limit != BOX_LIMIT_COUNT) {
    if (!is_number || number < 0 || number > G_MAXFLOAT)
      return fail (parser, label, key, value, "a finite number of 0 (no limit) or more");
    options->limits.limit[limit] = (gfloat) number;
  } else {
    parser->error = g_strdup_printf ("unknown key \"%s\" for class \"%s\"; the keys are " KEYS, key,
        label);
    return FALSE;
  }
  return TRUE;
}

/* --------------------------------------------------------------- one class */

/* Parses the options of the class that `label` names. `skip` names a field of `fields` that is not
 * an option ("class" in the list form), or is NULL. */
static gboolean
parse_class (Parser *parser, const gchar *label, const GstStructure *fields, const gchar *skip)
{
  ClassEntry option = { .core = { .size = sizeof option.core } };
  BoxLimit limit;
  gint i;

  if (*label == '\0') {
    parser->error = g_strdup ("the name of a class is empty");
    return FALSE;
  }
  box_limits_init (&option.limits, BOX_LIMIT_UNSET);
  option.core.class_id = CLASS_ID_OF_LABEL (g_quark_from_string (label));
  for (i = 0; i < gst_structure_n_fields (fields); i++) {
    const gchar *key = gst_structure_nth_field_name (fields, i);

    if ((skip == NULL || strcmp (key, skip) != 0)
        && !parse_key (parser, &option, label, key, gst_structure_get_value (fields, key)))
      return FALSE;
  }
  limit = box_limits_contradiction (&option.limits);
  if (limit != BOX_LIMIT_COUNT) {
    parser->error = g_strdup_printf ("%s of class \"%s\" exceeds %s, so no box would pass",
        box_limit_name (limit), label, box_limit_name ((BoxLimit) (limit + 1)));
    return FALSE;
  }
  g_array_append_val (parser->options, option);
  return TRUE;
}

/* Parses one [o,class=...,...] of the list form. GStreamer reads a name of digits as a
 * number, so it is turned into text again. */
static gboolean
parse_entry (Parser *parser, const GValue *entry, guint position)
{
  const GstStructure *fields = NULL;
  const GValue *value = NULL;
  gchar *label;
  gboolean ok;

  if (GST_VALUE_HOLDS_STRUCTURE (entry))
    fields = gst_value_get_structure (entry);
  if (fields)
    value = gst_structure_get_value (fields, "class");
  if (value && G_VALUE_HOLDS_STRING (value))
    label = g_value_dup_string (value);
  else
    label = value ? gst_value_serialize (value) : NULL;
  if (label == NULL) {
    parser->error = g_strdup_printf ("entry %u of options has no class; "
                                     "an entry is [o,class=car,...] with the keys " KEYS,
        position);
    return FALSE;
  }
  ok = parse_class (parser, label, fields, "class");
  g_free (label);
  return ok;
}

/* Refuses a field that has neither form. The message shows both forms, with the name of
 * the field as the class unless that name is a key. */
static gboolean
fail_field (Parser *parser, const gchar *name)
{
  static const gchar *const no_classes[] = { "iou-threshold", "score-threshold", "max", "options",
    NULL };
  const gboolean no_class = g_strv_contains (no_classes, name)
      || box_limit_from_name (name) != BOX_LIMIT_COUNT;

  parser->error = g_strdup_printf ("field \"%s\" is not a class with its options in brackets, as "
                                   "in o,%s=[o,iou-threshold=0.3], nor a list of them, as in "
                                   "o,options=<[o,class=car,max=5]>; the keys are " KEYS,
      name, no_class ? "person" : name);
  return FALSE;
}

static gboolean
parse_field (Parser *parser, const gchar *name, const GValue *value)
{
  guint i, n;

  if (GST_VALUE_HOLDS_STRUCTURE (value) && gst_value_get_structure (value))
    return parse_class (parser, name, gst_value_get_structure (value), NULL);
  if (strcmp (name, "options") != 0
      || !(GST_VALUE_HOLDS_ARRAY (value) || GST_VALUE_HOLDS_LIST (value)))
    return fail_field (parser, name);
  if (GST_VALUE_HOLDS_ARRAY (value)) {
    for (i = 0, n = gst_value_array_get_size (value); i < n; i++)
      if (!parse_entry (parser, gst_value_array_get_value (value, i), i))
        return FALSE;
  } else {
    for (i = 0, n = gst_value_list_get_size (value); i < n; i++)
      if (!parse_entry (parser, gst_value_list_get_value (value, i), i))
        return FALSE;
  }
  return TRUE;
}

/* ------------------------------------------------------------- all of them */

static gint
compare_class_ids (gconstpointer a, gconstpointer b)
{
  gint32 left = ((const nms_class_options *) a)->class_id;
  gint32 right = ((const nms_class_options *) b)->class_id;

  return (left > right) - (left < right);
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  return compare_class_ids (&((const ClassEntry *) a)->core, &((const ClassEntry *) b)->core);
}

static void
refuse_twice (Parser *parser)
{
  guint i;

  for (i = 1; i < parser->options->len; i++) {
    gint32 id = g_array_index (parser->options, ClassEntry, i).core.class_id;

    if (id == g_array_index (parser->options, ClassEntry, i - 1).core.class_id) {
      parser->error = g_strdup_printf ("class \"%s\" is listed twice",
          g_quark_to_string ((GQuark) id));
      return;
    }
  }
}

/* Returns the options in the form that is used on every frame. */
static ClassOptions *
make_options (const GArray *entries)
{
  ClassOptions *result = g_new0 (ClassOptions, 1);
  gboolean any = FALSE;
  guint k;

  result->ref_count = 1;
  result->count = entries->len;
  result->options = g_new (nms_class_options, entries->len);
  result->unscored = g_new (nms_class_options, entries->len);
  result->limits = g_new (BoxLimits, entries->len);
  for (k = 0; k < entries->len; k++) {
    const ClassEntry *entry = &g_array_index (entries, ClassEntry, k);

    result->options[k] = result->unscored[k] = entry->core;
    result->unscored[k].set &= ~(guint32) NMS_CLASS_SCORE_THRESHOLD;
    result->limits[k] = entry->limits;
    any = any || box_limits_differ (&entry->limits, BOX_LIMIT_UNSET);
  }
  if (!any)
    g_clear_pointer (&result->limits, g_free);
  return result;
}

ClassOptions *
class_options_parse (const GstStructure *structure, gchar **error)
{
  Parser parser = { g_array_new (FALSE, FALSE, sizeof (ClassEntry)), NULL };
  ClassOptions *result = NULL;
  gint i;

  for (i = 0; i < gst_structure_n_fields (structure) && parser.error == NULL; i++) {
    const gchar *name = gst_structure_nth_field_name (structure, i);
    parse_field (&parser, name, gst_structure_get_value (structure, name));
  }
  if (parser.error == NULL) {
    g_array_sort (parser.options, compare_entries);
    refuse_twice (&parser);
  }
  if (parser.error == NULL)
    result = make_options (parser.options);
  *error = parser.error;
  g_array_unref (parser.options);
  return result;
}

ClassOptions *
class_options_ref (ClassOptions *options)
{
  if (options)
    g_atomic_int_inc (&options->ref_count);
  return options;
}

void
class_options_unref (ClassOptions *options)
{
  if (options && g_atomic_int_dec_and_test (&options->ref_count)) {
    g_free (options->options);
    g_free (options->unscored);
    g_free (options->limits);
    g_free (options);
  }
}

/* Returns the options of a class, or NULL if it has none. */
static const nms_class_options *
find_options (const ClassOptions *options, gint32 class_id)
{
  nms_class_options key = { .class_id = class_id };

  if (options == NULL || options->count == 0)
    return NULL;
  return bsearch (&key, options->options, options->count, sizeof key, compare_class_ids);
}

gfloat
class_options_score_threshold (const ClassOptions *options, gint32 class_id, gfloat otherwise)
{
  const nms_class_options *found = find_options (options, class_id);

  if (found && (found->set & NMS_CLASS_SCORE_THRESHOLD))
    return found->score_threshold;
  return otherwise;
}

const BoxLimits *
class_options_limits (const ClassOptions *options, gint32 class_id)
{
  const nms_class_options *found;

  if (options == NULL || options->limits == NULL)
    return NULL;
  found = find_options (options, class_id);
  return found ? &options->limits[found - options->options] : NULL;
}

/* -------------------------------------------------- classes that take part */

static gint
compare_quarks (gconstpointer a, gconstpointer b)
{
  GQuark left = *(const GQuark *) a, right = *(const GQuark *) b;

  return (left > right) - (left < right);
}

ClassSelection *
class_selection_parse (const gchar *text)
{
  ClassSelection *selection = NULL;
  gchar **words;
  guint i, count = 0;

  if (text == NULL)
    return NULL;
  words = g_strsplit (text, ",", -1);
  for (i = 0; words[i]; i++)
    count += *g_strstrip (words[i]) != '\0';
  if (count > 0) {
    selection = g_malloc (sizeof *selection + count * sizeof (GQuark));
    selection->ref_count = 1;
    selection->count = 0;
    for (i = 0; words[i]; i++)
      if (*words[i] != '\0')
        selection->labels[selection->count++] = g_quark_from_string (words[i]);
    qsort (selection->labels, count, sizeof (GQuark), compare_quarks);
  }
  g_strfreev (words);
  return selection;
}

ClassSelection *
class_selection_ref (ClassSelection *selection)
{
  if (selection)
    g_atomic_int_inc (&selection->ref_count);
  return selection;
}

void
class_selection_unref (ClassSelection *selection)
{
  if (selection && g_atomic_int_dec_and_test (&selection->ref_count))
    g_free (selection);
}

gboolean
class_selection_has (const ClassSelection *selection, GQuark label)
{
  return selection == NULL
      || bsearch (&label, selection->labels, selection->count, sizeof label, compare_quarks)
      != NULL;
}
