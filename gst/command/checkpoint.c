/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* checkpoint: a GKeyFile, which is replaced as a whole. */
#include "checkpoint.h"

#define GROUP "checkpoint"

/* The numbers of a checkpoint by name. */
static const struct
{
  const gchar *name;
  gsize offset;
} fields[] = {
  { "input-offset", G_STRUCT_OFFSET (Checkpoint, input.offset) },
  { "input-line", G_STRUCT_OFFSET (Checkpoint, input.line) },
  { "input-frame", G_STRUCT_OFFSET (Checkpoint, input.frame) },
  { "output", G_STRUCT_OFFSET (Checkpoint, output) },
  { "frames", G_STRUCT_OFFSET (Checkpoint, counts.frames) },
  { "boxes", G_STRUCT_OFFSET (Checkpoint, counts.boxes) },
  { "kept", G_STRUCT_OFFSET (Checkpoint, counts.kept) },
};

gboolean
checkpoint_save (const gchar *location, const gchar *run, const Checkpoint *checkpoint,
    GError **error)
{
  GKeyFile *file = g_key_file_new ();
  gboolean saved;
  gchar *text;
  gsize length;

  g_key_file_set_string (file, GROUP, "run", run);
  for (gsize i = 0; i < G_N_ELEMENTS (fields); i++)
    g_key_file_set_uint64 (file, GROUP, fields[i].name,
        G_STRUCT_MEMBER (guint64, checkpoint, fields[i].offset));
  text = g_key_file_to_data (file, &length, NULL);
  saved = g_file_set_contents_full (location, text, (gssize) length,
      G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0666, error);
  g_free (text);
  g_key_file_free (file);
  return saved;
}

gboolean
checkpoint_load (const gchar *location, const gchar *run, Checkpoint *checkpoint, GError **error)
{
  GKeyFile *file = g_key_file_new ();
  gboolean loaded = g_key_file_load_from_file (file, location, G_KEY_FILE_NONE, error);
  gchar *made_by = loaded ? g_key_file_get_string (file, GROUP, "run", error) : NULL;

  loaded = made_by != NULL;
  if (loaded && !g_str_equal (made_by, run)) {
    loaded = FALSE;
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "it is of a run with another input or other options:\n%s", made_by);
  }
  for (gsize i = 0; loaded && i < G_N_ELEMENTS (fields); i++) {
    GError *missing = NULL;

    G_STRUCT_MEMBER (guint64, checkpoint, fields[i].offset) = g_key_file_get_uint64 (file, GROUP,
        fields[i].name, &missing);
    if (missing) {
      g_propagate_error (error, missing);
      loaded = FALSE;
    }
  }
  g_free (made_by);
  g_key_file_free (file);
  return loaded;
}
