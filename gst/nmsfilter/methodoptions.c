/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* methodoptions: parses the property when it is set. */
#include "methodoptions.h"

#include <string.h>

#include "optionvalue.h"

#define DEFAULT_MIN_SCORE 0.001f

static gboolean
take_number (const GValue *value, gfloat *number)
{
  gdouble found;

  /* (false for NaN) */
  if (!option_value_number (value, &found) || !(found >= 0 && found <= G_MAXFLOAT))
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
