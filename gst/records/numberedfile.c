/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numberedfile: parses the pattern, because printf would accept any conversion in it. */
#include "numberedfile.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WIDTH 10

/* Reads a conversion from after its percent sign. Returns the text that follows it, or NULL if
 * it is not %d. */
static const gchar *
parse_conversion (const gchar *text, guint *width)
{
  gchar *end;
  gulong number;

  if (*text != 'd' && *text != '0')
    return NULL;
  number = *text == '0' ? strtoul (text, &end, 10) : 0;
  end = *text == '0' ? end : (gchar *) text;
  *width = (guint) number;
  return *end == 'd' && number <= MAX_WIDTH ? end + 1 : NULL;
}

gboolean
numbered_file_init (NumberedFile *self, const gchar *pattern, GError **error)
{
  GString *part = g_string_new (NULL);
  gboolean ok = TRUE;

  *self = (NumberedFile) { NULL, NULL, 0 };
  while (ok && *pattern) {
    if (*pattern != '%' || pattern[1] == '%') {
      g_string_append_c (part, *pattern);
      pattern += *pattern == '%' ? 2 : 1;
    } else {
      pattern = parse_conversion (pattern + 1, &self->width);
      ok = pattern != NULL && self->prefix == NULL;
      if (ok) {
        self->prefix = g_string_free (part, FALSE);
        part = g_string_new (NULL);
      }
    }
  }
  self->suffix = g_string_free (part, FALSE);
  if (ok && self->prefix)
    return TRUE;
  g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
      "numbered files need a location with one %d, such as boxes%05d.jsonl");
  return FALSE;
}

void
numbered_file_clear (NumberedFile *self)
{
  g_clear_pointer (&self->prefix, g_free);
  g_clear_pointer (&self->suffix, g_free);
}

gchar *
numbered_file_path (const NumberedFile *self, guint number)
{
  return g_strdup_printf ("%s%0*u%s", self->prefix, (int) self->width, number, self->suffix);
}

/* Returns whether `name` is the name of a numbered file, and sets *number to its number. */
static gboolean
parse_name (const NumberedFile *self, const gchar *name, guint *number)
{
  const gchar *prefix = strrchr (self->prefix, '/');
  gchar *path, *end = NULL;
  guint64 value = 0;
  gboolean same;

  prefix = prefix ? prefix + 1 : self->prefix;
  if (!g_str_has_prefix (name, prefix) || !g_ascii_isdigit (name[strlen (prefix)]))
    return FALSE;
  value = g_ascii_strtoull (name + strlen (prefix), &end, 10);
  if (value > G_MAXINT || strcmp (end, self->suffix) != 0)
    return FALSE;
  *number = (guint) value;
  /* 7 and 007 are different files */
  path = numbered_file_path (self, *number);
  same = g_str_has_suffix (path, name);
  g_free (path);
  return same;
}

guint
numbered_file_last (const NumberedFile *self)
{
  gchar *folder = g_path_get_dirname (self->prefix);
  GDir *dir = g_dir_open (folder, 0, NULL);
  guint last = 0, number;
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir)) != NULL)
    if (parse_name (self, name, &number))
      last = MAX (last, number);
  g_clear_pointer (&dir, g_dir_close);
  g_free (folder);
  return last;
}
