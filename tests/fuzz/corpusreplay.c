/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * corpusreplay: the function main of a fuzzer that is built without libFuzzer. It runs
 * each file, and each file of each folder, named on the command line. If a file crashes
 * the program, the last line of output names it.
 *
 * `--random N` before the names runs N further inputs for each file: the file with eight bytes
 * replaced and up to 2,000 bytes added, all at random. The inputs of a run are always the same.
 * Without sanitizers this checks a hundred times as many boxes a second as libFuzzer.
 */
#include <dirent.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define ADDED 2000

static int files;
static long random_count;

/* Runs inputs that are made of one at random. */
static void
run_random (const guint8 *data, gsize size)
{
  g_autofree guint8 *input = g_malloc (size + ADDED);
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) files);

  for (long n = 0; n < random_count; n++) {
    const gsize length = size + (gsize) g_rand_int_range (random, 0, ADDED);

    memcpy (input, data, size);
    for (gsize i = size; i < length; i++)
      input[i] = (guint8) g_rand_int (random);
    for (int i = 0; i < 8 && size > 0; i++)
      input[g_rand_int (random) % size] = (guint8) g_rand_int (random);
    LLVMFuzzerTestOneInput (input, length);
  }
}

static void
run_file (const char *path)
{
  g_autofree char *text = NULL;
  GError *error = NULL;
  gsize size;

  g_file_get_contents (path, &text, &size, &error);
  g_assert_no_error (error);
  /* an allocation of the exact size, so that a sanitizer sees every overrun */
  g_autofree guint8 *exact = g_memdup2 (text, size);
  printf ("%s\n", path);
  fflush (stdout);
  LLVMFuzzerTestOneInput (exact, size);
  run_random (exact, size);
  files++;
}

static void
run_path (const char *path)
{
  struct dirent **entries;
  const int count = scandir (path, &entries, NULL, alphasort);

  if (count < 0)
    run_file (path);
  for (int i = 0; i < count; i++) {
    g_autofree char *name = g_build_filename (path, entries[i]->d_name, NULL);

    if (entries[i]->d_name[0] != '.')
      run_path (name);
    free (entries[i]);
  }
  if (count >= 0)
    free (entries);
}

int
main (int argc, char **argv)
{
  int first = 1;

  if (argc > 2 && strcmp (argv[1], "--random") == 0) {
    random_count = atol (argv[2]);
    first = 3;
  }
  for (int i = first; i < argc; i++)
    run_path (argv[i]);
  printf ("%d inputs\n", files);
  return files ? 0 : 1; /* fails without input */
}
