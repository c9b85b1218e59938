/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sourceoptions: a list that is searched linearly, because there are few branches. */
#include "sourceoptions.h"

#include <nmscore.h>
#include <string.h>

#define MOST_WEIGHT 4294967296.0 /* the largest weight that nmscore accepts */

/* ------------------------------------------------------------------- parsing */

/* Reads a number. The text may contain nothing else except blanks. */
static gboolean
read_number (const gchar *text, gdouble *number)
{
  gchar *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && end[strspn (end, " \t")] == '\0';
}

/* Parses "name" or "name=weight". Returns why it cannot be used, or NULL. */
static gchar *
take_name (SourceOption *self, gchar *text)
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
  self->name = g_quark_from_string (text);
  self->weight = (gfloat) weight;
  return NULL;
}

/* Parses a priority. Returns why it cannot be used, or NULL. */
static gchar *
take_priority (SourceOption *self, const gchar *value)
{
  const gint most = SOURCE_OPTIONS_MOST_PRIORITY;
  gdouble number;

  if (!read_number (value, &number) || number != (gint) CLAMP (number, -most, most))
    return g_strdup_printf ("the priority of %s is \"%s\", must be a whole number from %d to %d",
        g_quark_to_string (self->name), value, -most, most);
  self->priority = (gint) number;
  return NULL;
}

static gchar *
take_score_threshold (SourceOption *self, const gchar *value)
{
  gdouble number;

  if (!read_number (value, &number) || isnan (number))
    return g_strdup_printf ("the score-threshold of %s is \"%s\", must be a number",
        g_quark_to_string (self->name), value);
  self->score_threshold = (gfloat) number;
  return NULL;
}

/* Parses "priority=1" or "score-threshold=0.4". Returns why it cannot be used, or NULL. */
static gchar *
take_option (SourceOption *self, const gchar *text)
{
  gchar **option = g_strsplit (text, "=", 2);
  gchar *error;

  if (option[0] && option[1] && strcmp (g_strstrip (option[0]), "priority") == 0)
    error = take_priority (self, option[1]);
  else if (option[0] && option[1] && strcmp (option[0], "score-threshold") == 0)
    error = take_score_threshold (self, option[1]);
  else
    error = g_strdup_printf ("%s has \"%s\"; there are only priority=NUMBER and "
                             "score-threshold=NUMBER",
        g_quark_to_string (self->name), text);
  g_strfreev (option);
  return error;
}

/* Parses the text of a source. Returns why it cannot be used, or NULL. */
static gchar *
take_source (SourceOption *self, const gchar *text)
{
  gchar **parts = g_strsplit (text, ":", -1);
  gchar *error = take_name (self, parts[0]);

  for (guint k = 1; error == NULL && parts[k]; k++)
    error = take_option (self, g_strstrip (parts[k]));
  g_strfreev (parts);
  return error;
}

/* Returns why sources cannot be used together, or NULL. */
static gchar *
check_sources (const GArray *sources)
{
  const SourceOption *first = (const SourceOption *) sources->data;

  if (sources->len > NMS_MAX_SOURCES)
    return g_strdup_printf ("there are more than %d names", NMS_MAX_SOURCES);
  if (sources->len == 1 && (first->priority != 0 || first->score_threshold != -INFINITY))
    return g_strdup_printf ("all boxes belong to the only name, %s; begin with the main stream, "
                            "as in main,%s:priority=1",
        g_quark_to_string (first->name), g_quark_to_string (first->name));
  return NULL;
}

GArray *
source_options_parse (const gchar *text, gchar **error)
{
  gchar **words = g_strsplit (text ? text : "", ",", -1);
  GArray *sources = g_array_new (FALSE, FALSE, sizeof (SourceOption));

  *error = NULL;
  for (guint i = 0; words[i] && *error == NULL; i++)
    if (*g_strstrip (words[i]) != '\0') {
      SourceOption source = { .score_threshold = -INFINITY };
      *error = take_source (&source, words[i]);
      g_array_append_val (sources, source);
    }
  g_strfreev (words);
  if (*error == NULL)
    *error = check_sources (sources);
  if (*error || sources->len == 0)
    g_clear_pointer (&sources, g_array_unref);
  return sources;
}

/* --------------------------------------------------------------------- using */

gboolean
source_options_have_priorities (const GArray *self)
{
  for (guint i = 1; self && i < self->len; i++)
    if (g_array_index (self, SourceOption, i).priority
        != g_array_index (self, SourceOption, 0).priority)
      return TRUE;
  return FALSE;
}

gboolean
source_options_have_thresholds (const GArray *self)
{
  for (guint i = 0; self && i < self->len; i++)
    if (g_array_index (self, SourceOption, i).score_threshold > -INFINITY)
      return TRUE;
  return FALSE;
}

guint
source_options_find (const GArray *self, GQuark name)
{
  for (guint i = 0; i < self->len; i++)
    if (g_array_index (self, SourceOption, i).name == name)
      return i;
  return 0;
}
