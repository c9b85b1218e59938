/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sourceweights: a list that is searched linearly, because there are few branches. */
#include "sourceweights.h"

#include <nmscore.h>
#include <string.h>

#define MOST_WEIGHT 4294967296.0        /* of the core */

/* Parses "name" or "name=weight" and adds it. Returns why it cannot be used, or NULL. */
static gchar *
add_word (SourceWeights * self, gchar * word)
{
  gchar *equals = strrchr (word, '='), *end;
  gdouble weight = 1;

  if (equals) {
    *equals = '\0';
    weight = g_ascii_strtod (equals + 1, &end);
    if (end == equals + 1 || *g_strchug (end) != '\0'
        || !((gfloat) weight > 0 && weight <= MOST_WEIGHT))
      return g_strdup_printf ("the weight of %s is \"%s\", must be above 0 and at most 2^32", word,
          equals + 1);
    g_strchomp (word);
  }
  if (*word == '\0')
    return g_strdup ("a weight has no name");
  if (self->count == NMS_MAX_SOURCES)
    return g_strdup_printf ("there are more than %d names", NMS_MAX_SOURCES);
  self->names[self->count] = g_quark_from_string (word);
  self->weights[self->count++] = (gfloat) weight;
  return NULL;
}

SourceWeights *
source_weights_parse (const gchar * text, gchar ** error)
{
  gchar **words = g_strsplit (text ? text : "", ",", -1);
  const guint most = g_strv_length (words);
  SourceWeights *self = g_new0 (SourceWeights, 1);
  guint i;

  *error = NULL;
  self->ref_count = 1;
  self->names = g_new (GQuark, most);
  self->weights = g_new (gfloat, most);
  for (i = 0; words[i] && *error == NULL; i++)
    if (*g_strstrip (words[i]) != '\0')
      *error = add_word (self, words[i]);
  g_strfreev (words);
  if (*error || self->count == 0) {
    source_weights_unref (self);
    return NULL;
  }
  return self;
}

SourceWeights *
source_weights_ref (SourceWeights * self)
{
  if (self)
    g_atomic_int_inc (&self->ref_count);
  return self;
}

void
source_weights_unref (SourceWeights * self)
{
  if (self == NULL || !g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_free (self->names);
  g_free (self->weights);
  g_free (self);
}

gint
source_weights_find (const SourceWeights * self, GQuark name)
{
  guint i;

  for (i = 0; i < self->count; i++)
    if (self->names[i] == name)
      return (gint) i;
  return 0;
}
