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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
  uint8_t *input = malloc (size + ADDED);

  if (!input)
    abort ();
  for (long n = 0; n < random_count; n++) {
    const size_t length = size + random_number () % ADDED;

    memcpy (input, data, size);
    for (size_t i = size; i < length; i++)
      input[i] = (uint8_t) (random_number () >> 8);
    for (int i = 0; i < 8 && size > 0; i++)
      input[random_number () % size] = (uint8_t) (random_number () >> 8);
    LLVMFuzzerTestOneInput (input, length);
  }
  free (input);
}

static void
run_file (const char *path)
{
  FILE *file = fopen (path, "rb");
  uint8_t *data = NULL;
  size_t size = 0, room = 0, got;

  if (!file) {
    perror (path);
    exit (1);
  }
  do {
    if (size == room) {
      room = room ? 2 * room : 4096;
      data = realloc (data, room);
      if (!data)
        abort ();
    }
    got = fread (data + size, 1, room - size, file);
    size += got;
  } while (got);
  if (ferror (file)) {
    perror (path);
    exit (1);
  }
  fclose (file);

  /* an allocation of the exact size, so that a sanitizer sees every overrun */
  uint8_t *exact = malloc (size ? size : 1);
  if (!exact)
    abort ();
  memcpy (exact, data, size);
  free (data);
  printf ("%s\n", path);
  fflush (stdout);
  LLVMFuzzerTestOneInput (exact, size);
  run_random (exact, size);
  free (exact);
  files++;
}

static void
run_path (const char *path)
{
  struct stat info;
  struct dirent **entries;
  int count;

  if (stat (path, &info) != 0) {
    perror (path);
    exit (1);
  }
  if (!S_ISDIR (info.st_mode)) {
    run_file (path);
    return;
  }
  count = scandir (path, &entries, NULL, alphasort);
  if (count < 0) {
    perror (path);
    exit (1);
  }
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    if (name[0] != '.') {
      size_t length = strlen (path) + strlen (name) + 2;
      char *inner = malloc (length);
      if (!inner)
        abort ();
      snprintf (inner, length, "%s/%s", path, name);
      run_path (inner);
      free (inner);
    }
    free (entries[i]);
  }
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
