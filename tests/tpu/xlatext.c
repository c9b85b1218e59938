/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlatext: compiles or runs StableHLO texts with a PJRT plugin. It is a process of its own,
 * because plugins start threads and some abort.
 *
 *     xlatext ahead PLUGIN TOPOLOGY MODULE      compiles for that device
 *     xlatext run PLUGIN                        runs modules on the plugin's device
 *
 * `run` reads lines `MODULE [ARRAY...]` and prints `ok` for each. A module that is named twice, one
 * after the other, is compiled once. An ARRAY is in:TYPE:SHAPE:FILE or out:TYPE:SHAPE:FILE, in the
 * order of the module's arguments and results: in:f32:8x128:boxes, out:s32::count.
 */
#define _GNU_SOURCE
#include "nmsxla.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

static int
fail (const char *what, const char *why)
{
  fprintf (stderr, "xlatext: %s: %s\n", what, why);
  return 1;
}

/* Reads a whole file; exits on an error. */
static char *
slurp (const char *name, size_t *length)
{
  FILE *file = fopen (name, "rb");
  size_t room = 1 << 20, n;
  char *data = malloc (room);

  *length = 0;
  while (file && data && (n = fread (data + *length, 1, room - *length, file)) > 0)
    if ((*length += n) == room)
      data = realloc (data, room *= 2);
  if (!file || !data || ferror (file))
    exit (fail (name, strerror (errno)));
  fclose (file);
  return data;
}

/* Parses in:f32:8x128:name. Returns the file's name, or NULL on an error. */
static char *
parse (char *word, nms_lazy_buffer *buffer, int *is_output)
{
  static const char *const types[] = { "", "f32", "s32", "pred" };
  char *direction = strtok (word, ":"), *type = strtok (NULL, ":");
  char *shape = type ? type + strlen (type) + 1 : NULL, *name = shape ? strchr (shape, ':') : NULL;

  memset (buffer, 0, sizeof *buffer);
  if (!direction || !name)
    return NULL;
  *is_output = !strcmp (direction, "out");
  for (int i = 1; i <= 3; i++)
    if (!strcmp (type, types[i]))
      buffer->shape.type = i;
  while (shape < name && buffer->shape.rank < NMS_LAZY_MAX_RANK) {
    buffer->shape.dims[buffer->shape.rank++] = (int32_t) strtol (shape, &shape, 10);
    shape += *shape == 'x';
  }
  return shape == name && buffer->shape.type ? name + 1 : NULL;
}

/* The device, and the program that ran last. */
static nms_lazy_backend *xla;
static char *module;
static void *program;

static int
compile (const char *name, size_t outs)
{
  char why[4096];
  size_t length;

  if (module && !strcmp (module, name))
    return 0;
  if (module)
    xla->free_program (xla, program);
  free (module);
  module = NULL;
  char *text = slurp (name, &length);
  if (xla->compile (xla, text, length, outs, &program, why, sizeof why) < 0)
    return fail (name, why);
  free (text);
  module = strdup (name);
  return 0;
}

/* Runs a module with the arrays of the rest of the line. */
static int
run (char *line)
{
  nms_lazy_buffer in[MOST], out[MOST], next;
  const char *out_name[MOST];
  char *rest, *name = strtok_r (line, " \n", &rest), why[512];
  size_t ins = 0, outs = 0, given;

  for (char *word; (word = strtok_r (NULL, " \n", &rest));) {
    int is_output = 0;
    char *file = parse (word, &next, &is_output);
    if (!file || ins == MOST || outs == MOST)
      return fail (word, "no array");
    size_t bytes = nms_lazy_shape_bytes (&next.shape);
    next.data = aligned_alloc (64, (bytes + 63) / 64 * 64);
    if (!next.data)
      return fail (file, "out of memory");
    if (is_output) {
      out_name[outs] = file;
      out[outs++] = next;
      continue;
    }
    char *data = slurp (file, &given);
    if (given != bytes)
      return fail (file, "not as long as its shape says");
    memcpy (next.data, data, bytes);
    free (data);
    in[ins++] = next;
  }
  if (compile (name, outs))
    return 1;
  if (xla->run (xla, program, in, ins, out, outs, why, sizeof why) < 0)
    return fail (name, why);
  for (size_t i = 0; i < ins; i++)
    free (in[i].data);
  for (size_t i = 0; i < outs; i++) {
    FILE *file = fopen (out_name[i], "wb");
    size_t bytes = nms_lazy_shape_bytes (&out[i].shape);
    if (!file || fwrite (out[i].data, 1, bytes, file) != bytes || fclose (file))
      return fail (out_name[i], strerror (errno));
    free (out[i].data);
  }
  return printf ("ok\n") < 0 || fflush (stdout);
}

static int
run_all (const char *plugin)
{
  char why[512], *line = NULL;
  size_t room = 0;
  int failed = 0;

  if (nms_xla_open (plugin, &xla, why, sizeof why) < 0)
    return fail (plugin, why);
  while (!failed && getline (&line, &room, stdin) > 0)
    failed = run (line);
  free (line);
  if (module)
    xla->free_program (xla, program);
  free (module);
  nms_xla_close (&xla);
  return failed;
}

int
main (int argc, char **argv)
{
  char why[4096], *text;
  size_t length;

  if (argc == 3 && !strcmp (argv[1], "run"))
    return run_all (argv[2]);
  if (argc != 5 || strcmp (argv[1], "ahead"))
    return fail ("usage", "ahead PLUGIN TOPOLOGY MODULE, or run PLUGIN");
  text = slurp (argv[4], &length);
  int error = nms_xla_compile_ahead (argv[2], argv[3], NULL, text, length, why, sizeof why);
  free (text);
  return error < 0 ? fail (argv[4], why) : 0;
}
