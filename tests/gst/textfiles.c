/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* textfiles: each process has a folder of its own, because a test case may run in a
 * fork. The main process removes all of them. */
#include "textfiles.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

static gchar *folder;
static pid_t owner;

static void
remove_folder (void)
{
  const gchar *name;
  GDir *dir;

  if (folder == NULL || getpid () != owner)
    return;
  dir = g_dir_open (folder, 0, NULL);
  while (dir && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_remove (path);
  }
  g_clear_pointer (&dir, g_dir_close);
  g_rmdir (folder);
  g_clear_pointer (&folder, g_free);
}

gchar *
text_file_path (const gchar *name)
{
  if (folder == NULL || getpid () != owner) {
    GError *error = NULL;

    g_free (folder);
    folder = g_dir_make_tmp ("gst-nms-test-XXXXXX", &error);
    g_assert_no_error (error);
    owner = getpid ();
    atexit (remove_folder);
  }
  return g_build_filename (folder, name, NULL);
}

gchar *
text_file_new (const gchar *name, const gchar *contents, gssize length)
{
  gchar *path = text_file_path (name);
  GError *error = NULL;

  g_file_set_contents (path, contents, length, &error);
  g_assert_no_error (error);
  return path;
}

gchar *
text_file_read (const gchar *path)
{
  GError *error = NULL;
  gchar *contents;

  g_file_get_contents (path, &contents, NULL, &error);
  g_assert_no_error (error);
  return contents;
}

void
text_file_must_be (const gchar *path, const gchar *expected)
{
  g_autofree gchar *contents = text_file_read (path);

  g_assert_cmpstr (contents, ==, expected);
}
