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
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define ADDED 2000

static int files;
static long random_count;

static uint32_t
random_number (void)
{
  static uint32_t state = 2463534242u; /* xorshift */

  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

/* Runs inputs that are made of one at random. */
static void
run_random (const uint8_t *data, size_t size)
{
  g_autofree uint8_t *input = g_malloc (size + ADDED);

  for (long n = 0; n < random_count; n++) {
    const size_t length = size + random_number () % ADDED;

    memcpy (input, data, size);
    for (size_t i = size; i < length; i++)
      input[i] = (uint8_t) (random_number () >> 8);
    for (int i = 0; i < 8 && size > 0; i++)
      input[random_number () % size] = (uint8_t) (random_number () >> 8);
    LLVMFuzzerTestOneInput (input, length);
  }
}

static void
run_file (const char *path)
{
  g_autofree char *text = NULL;
  gsize size;

  if (!g_file_get_contents (path, &text, &size, NULL)) {
    perror (path);
    exit (1);
  }
  /* an allocation of the exact size, so that a sanitizer sees every overrun */
  g_autofree uint8_t *exact = g_memdup2 (text, size);
  printf ("%s\n", path);
  fflush (stdout);
  LLVMFuzzerTestOneInput (exact, size);
  run_random (exact, size);
  files++;
}

static void
run_path (const char *path)
{
  GDir *folder = g_dir_open (path, 0, NULL);
  GList *names = NULL;
  const char *name;

  if (!folder) {
    run_file (path);
    return;
  }
  while ((name = g_dir_read_name (folder)))
    if (name[0] != '.')
      names = g_list_insert_sorted (names, g_build_filename (path, name, NULL),
          (GCompareFunc) strcmp);
  g_dir_close (folder);
  for (const GList *l = names; l; l = l->next)
    run_path (l->data);
  g_list_free_full (names, g_free);
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
