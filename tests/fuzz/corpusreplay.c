/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * corpusreplay: the function main of a fuzzer that is built without libFuzzer. It runs
 * each file, and each file of each folder, named on the command line. If a file crashes
 * the program, the last line of output names it.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static int files;

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
  for (int i = 1; i < argc; i++)
    run_path (argv[i]);
  printf ("%d inputs\n", files);
  return files ? 0 : 1; /* fails without input */
}
