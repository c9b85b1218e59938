/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filteroptions: parses the three properties when they are set. */
#include "filteroptions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classlist.h"

#define DEFAULT_MIN_SCORE 0.001f

/* ------------------------------------------------------------- class-options */

typedef struct
{
  GQuark label;
  nms_class_options core;
} ClassEntry;

static void
init_entry (gpointer data)
{
  ClassEntry *entry = data;

  entry->core = (nms_class_options) { .size = sizeof entry->core,
    .class_id = CLASS_ID_OF_LABEL (entry->label) };
}

static const gchar *
take_key (gpointer data, const gchar *key, const GValue *value)
{
  nms_class_options *option = &((ClassEntry *) data)->core;
  gdouble number = 0;
  const gboolean is_number = class_list_number (value, &number) && !isnan (number);

  if (strcmp (key, "iou-threshold") == 0) {
    if (!is_number || number < 0 || number > 1)
      return "a number from 0 to 1";
    option->iou_threshold = (gfloat) number;
    option->set |= NMS_CLASS_IOU_THRESHOLD;
  } else if (strcmp (key, "score-threshold") == 0) {
    if (!is_number)
      return "a number";
    option->score_threshold = (gfloat) number;
    option->set |= NMS_CLASS_SCORE_THRESHOLD;
  } else if (strcmp (key, "max") == 0) {
    if (!is_number || number < 0 || number > G_MAXUINT32 || number != floor (number))
      return "a whole number from 0 (no limit) to 4294967295";
    option->max_detections = (guint64) number;
    option->set |= NMS_CLASS_MAX_DETECTIONS;
  } else {
    return CLASS_LIST_UNKNOWN;
  }
  return NULL;
}

GArray *
class_options_parse (const GstStructure *structure, gchar **error)
{
  static const ClassListForm form = {
    .keys = "iou-threshold, score-threshold, max",
    .entry_size = sizeof (ClassEntry),
    .init = init_entry,
    .take = take_key,
  };
  GArray *entries = class_list_parse (structure, &form, error), *options;

  if (entries == NULL)
    return NULL;
  options = g_array_sized_new (FALSE, FALSE, sizeof (nms_class_options), entries->len);
  for (guint k = 0; k < entries->len; k++)
    g_array_append_val (options, g_array_index (entries, ClassEntry, k).core);
  g_array_unref (entries);
  return options;
}

static gint
compare_class_ids (gconstpointer a, gconstpointer b)
{
  gint32 left = ((const nms_class_options *) a)->class_id;
  gint32 right = ((const nms_class_options *) b)->class_id;

  return (left > right) - (left < right);
}

gfloat
class_options_score_threshold (const GArray *options, gint32 class_id, gfloat otherwise)
{
  const nms_class_options key = { .class_id = class_id }, *found = NULL;

  if (options && options->len > 0)
    found = bsearch (&key, options->data, options->len, sizeof key, compare_class_ids);
  if (found && (found->set & NMS_CLASS_SCORE_THRESHOLD))
    return found->score_threshold;
  return otherwise;
}

/* -------------------------------------------------------------- class-groups */

/* Appends the classes of one rank, such as "cup,glass". Returns FALSE if one has no name. */
static gboolean
take_rank (GArray *groups, guint first, guint rank, const gchar *text)
{
  gchar **labels = g_strsplit (text, ",", -1);
  gboolean named = labels[0] != NULL;

  for (guint i = 0; labels[i]; i++) {
    ClassGroup class = { .label = g_quark_from_string (g_strstrip (labels[i])), .rank = rank };

    named &= *labels[i] != '\0';
    g_array_append_val (groups, class);
    g_array_index (groups, ClassGroup, groups->len - 1).group = CLASS_ID_OF_LABEL (
        g_array_index (groups, ClassGroup, first).label);
  }
  g_strfreev (labels);
  return named;
}

/* Appends the classes of a group, such as "bus>truck>car". Returns why they cannot be used, or
 * NULL. */
static gchar *
take_group (GArray *groups, const gchar *text)
{
  gchar **ranks = g_strsplit (text, ">", -1);
  const guint first = groups->len;
  gchar *error = NULL;

  for (guint rank = 0; ranks[rank] && error == NULL; rank++)
    if (rank == CLASS_GROUPS_MOST_RANKS)
      error = g_strdup_printf ("the group \"%s\" has more than %d ranks", text, (gint) rank);
    else if (!take_rank (groups, first, rank, ranks[rank]))
      error = g_strdup_printf ("a class of the group \"%s\" has no name", text);
  if (error == NULL && groups->len == first + 1)
    error = g_strdup_printf ("the group \"%s\" has only one class", text);
  g_strfreev (ranks);
  return error;
}

static gint
compare_labels (gconstpointer a, gconstpointer b)
{
  const GQuark left = ((const ClassGroup *) a)->label, right = ((const ClassGroup *) b)->label;

  return (left > right) - (left < right);
}

GArray *
class_groups_parse (const gchar *text, gchar **error)
{
  gchar **words = g_strsplit (text ? text : "", ";", -1);
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (ClassGroup));

  *error = NULL;
  for (guint i = 0; words[i] && *error == NULL; i++)
    if (*g_strstrip (words[i]) != '\0')
      *error = take_group (groups, words[i]);
  g_strfreev (words);
  g_array_sort (groups, compare_labels);
  for (guint i = 1; i < groups->len && *error == NULL; i++)
    if (compare_labels (&g_array_index (groups, ClassGroup, i - 1),
            &g_array_index (groups, ClassGroup, i))
        == 0)
      *error = g_strdup_printf ("class \"%s\" is listed twice",
          g_quark_to_string (g_array_index (groups, ClassGroup, i).label));
  if (*error || groups->len == 0)
    g_clear_pointer (&groups, g_array_unref);
  return groups;
}

gboolean
class_groups_have_ranks (const GArray *groups)
{
  for (guint i = 0; groups && i < groups->len; i++)
    if (g_array_index (groups, ClassGroup, i).rank > 0)
      return TRUE;
  return FALSE;
}

GArray *
class_options_with_groups (const GArray *options, const GArray *groups)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (nms_class_options));

  if (options)
    g_array_append_vals (all, options->data, options->len);
  for (guint i = 0; groups && i < groups->len; i++) {
    const ClassGroup *class = &g_array_index (groups, ClassGroup, i);
    nms_class_options own = { .size = sizeof own, .class_id = CLASS_ID_OF_LABEL (class->label) };
    nms_class_options *found = options && options->len > 0
        ? bsearch (&own, all->data, options->len, sizeof own, compare_class_ids)
        : NULL;

    if (found == NULL) {
      g_array_append_val (all, own);
      found = &g_array_index (all, nms_class_options, all->len - 1);
    }
    found->set |= NMS_CLASS_GROUP;
    found->group = class->group;
  }
  g_array_sort (all, compare_class_ids);
  return all;
}

/* ------------------------------------------------------------ method-options */

static gboolean
take_number (const GValue *value, gfloat *number)
{
  gdouble found;

  /* (false for NaN) */
  if (!class_list_number (value, &found) || !(found >= 0 && found <= G_MAXFLOAT))
    return FALSE;
  *number = (gfloat) found;
  return TRUE;
}

static gboolean
take_fused_score (const GValue *value, nms_fused_score *fused_score)
{
  const gchar *text = G_VALUE_HOLDS_STRING (value) ? g_value_get_string (value) : NULL;

  if (G_VALUE_HOLDS_INT (value) && g_value_get_int (value) == G_MAXINT)
    text = "max"; /* GStreamer reads the word max as the greatest integer */
  for (gint i = 0; text && nms_fused_score_name (i); i++)
    if (strcmp (text, nms_fused_score_name (i)) == 0) {
      *fused_score = (nms_fused_score) i;
      return TRUE;
    }
  return FALSE;
}

/* Returns "must be ...", or NULL if the value of `key` was taken. */
static const gchar *
take_option (MethodOptions *self, const gchar *key, const GValue *value)
{
  if (strcmp (key, "sigma") == 0)
    return take_number (value, &self->sigma)
        ? NULL
        : "must be a finite number of 0 (the default of the method) or more";
  if (strcmp (key, "min-score") == 0)
    return take_number (value, &self->min_score) ? NULL : "must be a finite number of 0 or more";
  if (strcmp (key, "fused-score") == 0)
    return take_fused_score (value, &self->fused_score)
        ? NULL
        : "must be avg, max, box-and-model-avg or absent-model-aware-avg";
  return "is unknown; the keys are sigma, min-score and fused-score";
}

gboolean
method_options_parse (const GstStructure *structure, MethodOptions *options, gchar **error)
{
  const MethodOptions defaults = { 0, DEFAULT_MIN_SCORE, NMS_FUSED_AVG };
  MethodOptions found = defaults;
  const gint count = structure ? gst_structure_n_fields (structure) : 0;

  *error = NULL;
  for (gint i = 0; i < count && *error == NULL; i++) {
    const gchar *key = gst_structure_nth_field_name (structure, i);
    const GValue *value = gst_structure_get_value (structure, key);
    const gchar *fault = take_option (&found, key, value);

    if (fault) {
      gchar *text = gst_value_serialize (value);

      *error = g_strdup_printf ("%s=%s %s", key, text ? text : G_VALUE_TYPE_NAME (value), fault);
      g_free (text);
    }
  }
  *options = *error ? defaults : found;
  return *error == NULL;
}
