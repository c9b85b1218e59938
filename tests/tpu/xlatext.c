/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlatext: compiles or runs a StableHLO text with a PJRT plugin. Each text has a process
 * of its own, because plugins start threads and some abort.
 *
 *     xlatext ahead PLUGIN TOPOLOGY MODULE      compiles for that device
 *     xlatext run PLUGIN MODULE [ARRAY...]      runs on the plugin's device
 *
 * An ARRAY is in:TYPE:SHAPE:FILE or out:TYPE:SHAPE:FILE, in the order of the
 * module's arguments and results: in:f32:8x128:boxes, out:s32::count.
 */
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

static int
run (const char *plugin, const char *module, int count, char **words)
{
  nms_lazy_buffer in[MOST], out[MOST], next;
  const char *out_name[MOST];
  size_t ins = 0, outs = 0, length, given;
  char why[512], *text = slurp (module, &length);
  nms_lazy_backend *xla;
  void *program;

  for (int i = 0; i < count; i++) {
    int is_output = 0;
    char *name = parse (words[i], &next, &is_output);
    if (!name || ins == MOST || outs == MOST)
      return fail (words[i], "no array");
    size_t bytes = nms_lazy_shape_bytes (&next.shape);
    next.data = aligned_alloc (64, (bytes + 63) / 64 * 64);
    if (!next.data)
      return fail (name, "out of memory");
    if (is_output) {
      out_name[outs] = name;
      out[outs++] = next;
      continue;
    }
    char *data = slurp (name, &given);
    if (given != bytes)
      return fail (name, "not as long as its shape says");
    memcpy (next.data, data, bytes);
    free (data);
    in[ins++] = next;
  }

  if (nms_xla_open (plugin, &xla, why, sizeof why) < 0)
    return fail (plugin, why);
  if (xla->compile (xla, text, length, outs, &program, why, sizeof why) < 0)
    return fail (module, why);
  if (xla->run (xla, program, in, ins, out, outs, why, sizeof why) < 0)
    return fail (module, why);
  xla->free_program (xla, program);
  nms_xla_close (&xla);
  free (text);
  for (size_t i = 0; i < ins; i++)
    free (in[i].data);
  for (size_t i = 0; i < outs; i++) {
    FILE *file = fopen (out_name[i], "wb");
    size_t bytes = nms_lazy_shape_bytes (&out[i].shape);
    if (!file || fwrite (out[i].data, 1, bytes, file) != bytes || fclose (file))
      return fail (out_name[i], strerror (errno));
    free (out[i].data);
  }
  return 0;
}

int
main (int argc, char **argv)
{
  char why[4096], *text;
  size_t length;

  if (argc >= 4 && !strcmp (argv[1], "run"))
    return run (argv[2], argv[3], argc - 4, argv + 4);
  if (argc != 5 || strcmp (argv[1], "ahead"))
    return fail ("usage", "ahead PLUGIN TOPOLOGY MODULE, or run PLUGIN MODULE [ARRAY...]");
  text = slurp (argv[4], &length);
  int error = nms_xla_compile_ahead (argv[2], argv[3], NULL, text, length, why, sizeof why);
  free (text);
  return error < 0 ? fail (argv[4], why) : 0;
}
