/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sourceoptions: a list that is searched linearly, because there are few branches. */
#include "sourceoptions.h"

#include <nmscore.h>
#include <string.h>

#define MOST_WEIGHT 4294967296.0 /* of the core */

/* ------------------------------------------------------------------- parsing */

/* Reads a number that fills the text but for blanks. */
static gboolean
read_number (const gchar *text, gdouble *number)
{
  gchar *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && end[strspn (end, " \t")] == '\0';
}

/* Parses "name" or "name=weight". Returns why it cannot be used, or NULL. */
static gchar *
take_name (SourceOptions *self, guint i, gchar *text)
{
  gchar *equals = strrchr (text, '=');
  gdouble weight = 1;

  if (equals) {
    *equals = '\0';
    g_strchomp (text);
    if (!read_number (equals + 1, &weight) || !((gfloat) weight > 0 && weight <= MOST_WEIGHT))
      return g_strdup_printf ("the weight of %s is \"%s\", must be above 0 and at most 2^32", text,
          equals + 1);
  }
  if (*g_strstrip (text) == '\0')
    return g_strdup ("a weight has no name");
  self->names[i] = g_quark_from_string (text);
  self->weights[i] = (gfloat) weight;
  return NULL;
}

/* Parses a priority. Returns why it cannot be used, or NULL. */
static gchar *
take_priority (SourceOptions *self, guint i, const gchar *value)
{
  const gint most = SOURCE_OPTIONS_MOST_PRIORITY;
  gdouble number;

  if (!read_number (value, &number) || number != (gint) CLAMP (number, -most, most))
    return g_strdup_printf ("the priority of %s is \"%s\", must be a whole number from %d to %d",
        g_quark_to_string (self->names[i]), value, -most, most);
  self->priorities[i] = (gint) number;
  return NULL;
}

static gchar *
take_score_threshold (SourceOptions *self, guint i, const gchar *value)
{
  gdouble number;

  if (!read_number (value, &number) || isnan (number))
    return g_strdup_printf ("the score-threshold of %s is \"%s\", must be a number",
        g_quark_to_string (self->names[i]), value);
  self->score_thresholds[i] = (gfloat) number;
  self->has_score_thresholds = TRUE;
  return NULL;
}

/* Parses "priority=1" or "score-threshold=0.4". Returns why it cannot be used, or NULL. */
static gchar *
take_option (SourceOptions *self, guint i, const gchar *text)
{
  gchar **option = g_strsplit (text, "=", 2);
  gchar *error;

  if (option[0] && option[1] && strcmp (g_strstrip (option[0]), "priority") == 0)
    error = take_priority (self, i, option[1]);
  else if (option[0] && option[1] && strcmp (option[0], "score-threshold") == 0)
    error = take_score_threshold (self, i, option[1]);
  else
    error = g_strdup_printf ("%s has \"%s\"; there are only priority=NUMBER and "
                             "score-threshold=NUMBER",
        g_quark_to_string (self->names[i]), text);
  g_strfreev (option);
  return error;
}

/* Parses the text of a source and adds it. Returns why it cannot be used, or NULL. */
static gchar *
add_source (SourceOptions *self, const gchar *text)
{
  gchar **parts = g_strsplit (text, ":", -1);
  const guint i = self->count;
  gchar *error;

  if (i == NMS_MAX_SOURCES) {
    g_strfreev (parts);
    return g_strdup_printf ("there are more than %d names", NMS_MAX_SOURCES);
  }
  self->priorities[i] = 0;
  self->score_thresholds[i] = -INFINITY;
  error = take_name (self, i, parts[0]);
  for (guint k = 1; error == NULL && parts[k]; k++)
    error = take_option (self, i, g_strstrip (parts[k]));
  g_strfreev (parts);
  self->has_priorities |= i > 0 && self->priorities[i] != self->priorities[0];
  self->count++;
  return error;
}

SourceOptions *
source_options_parse (const gchar *text, gchar **error)
{
  gchar **words = g_strsplit (text ? text : "", ",", -1);
  const guint most = g_strv_length (words);
  SourceOptions *self = g_new0 (SourceOptions, 1);
  guint i;

  *error = NULL;
  self->ref_count = 1;
  self->names = g_new (GQuark, most);
  self->weights = g_new (gfloat, most);
  self->priorities = g_new (gint, most);
  self->score_thresholds = g_new (gfloat, most);
  for (i = 0; words[i] && *error == NULL; i++)
    if (*g_strstrip (words[i]) != '\0')
      *error = add_source (self, words[i]);
  g_strfreev (words);
  if (*error == NULL && self->count == 1
      && (self->priorities[0] != 0 || self->has_score_thresholds))
    *error = g_strdup_printf ("all boxes belong to the only name, %s; begin with the main stream, "
                              "as in main,%s:priority=1",
        g_quark_to_string (self->names[0]), g_quark_to_string (self->names[0]));
  if (*error || self->count == 0) {
    source_options_unref (self);
    return NULL;
  }
  return self;
}

SourceOptions *
source_options_ref (SourceOptions *self)
{
  if (self)
    g_atomic_int_inc (&self->ref_count);
  return self;
}

void
source_options_unref (SourceOptions *self)
{
  if (self == NULL || !g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_free (self->names);
  g_free (self->weights);
  g_free (self->priorities);
  g_free (self->score_thresholds);
  g_free (self);
}

/* --------------------------------------------------------------------- using */

gboolean
source_options_apply (const SourceOptions *self, gint method)
{
  return self
      && (method == NMS_METHOD_WEIGHTED || self->has_priorities || self->has_score_thresholds);
}

gint
source_options_find (const SourceOptions *self, GQuark name)
{
  guint i;

  for (i = 0; i < self->count; i++)
    if (self->names[i] == name)
      return (gint) i;
  return 0;
}

gint
source_options_priority (const SourceOptions *self, const Box *box)
{
  return self ? self->priorities[source_options_find (self, box->source)] : 0;
}

gboolean
source_options_drop (const SourceOptions *self, const Box *box)
{
  return self && self->has_score_thresholds && (box->flags & BOX_HAS_CONFIDENCE)
      && (gfloat) box->confidence < self->score_thresholds[source_options_find (self, box->source)];
}
