/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpuprint: prints a module, so that the tests in Python get the same text as a
 * compiler.
 *
 *     tpuprint [kernel|memory|most] boxes=N picks=K [images=B] [form=0..1] [memory=BYTES]
 *         [classes=1] [class_agnostic=1] [box_limits=1] [class_caps=1] [parents=1]
 *     tpuprint limit THRESHOLD INCLUSIVE
 *
 * THRESHOLD is the bits of a float in hexadecimal; `limit` prints its numbers in the
 * same form.
 */
#include "accel/tpu/tpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
print_limit (char **argv)
{
  uint32_t bits = (uint32_t) strtoul (argv[0], NULL, 16);
  float threshold, limit[3];

  memcpy (&threshold, &bits, sizeof threshold);
  nms__tpu_threshold_limit (threshold, atoi (argv[1]), limit);
  for (int i = 0; i < 3; i++) {
    memcpy (&bits, &limit[i], sizeof bits);
    printf ("%08lx%c", (unsigned long) bits, i < 2 ? ' ' : '\n');
  }
  return 0;
}

static int
set (nms__tpu_spec *spec, const char *word)
{
  const char *value = strchr (word, '=');
  size_t n = value ? (size_t) (value - word) : 0;

  if (!value)
    return 0;
  long long number = atoll (value + 1);
#define FIELD(name) \
  if (n == strlen (#name) && !strncmp (word, #name, n)) \
  return spec->name = number, 1
  FIELD (boxes);
  FIELD (picks);
  FIELD (images);
  FIELD (memory);
  FIELD (form);
  FIELD (classes);
  FIELD (class_agnostic);
  FIELD (box_limits);
  FIELD (class_caps);
  FIELD (parents);
  return 0;
}

int
main (int argc, char **argv)
{
  nms__tpu_spec spec = { .boxes = 1024, .picks = 128 };
  const char *what = "module";
  char error[256], *text;
  size_t length;
  int i = 1;

  if (argc == 4 && !strcmp (argv[1], "limit"))
    return print_limit (argv + 2);
  if (argc > 1 && !strchr (argv[1], '='))
    what = argv[i++];
  for (; i < argc; i++)
    if (!set (&spec, argv[i])) {
      fprintf (stderr, "tpuprint: unknown argument '%s'\n", argv[i]);
      return 2;
    }
  if (!strcmp (what, "memory"))
    return printf ("%zu\n", nms__tpu_memory_of (&spec)) < 0;
  if (!strcmp (what, "most"))
    return printf ("%ld\n", (long) nms__tpu_most_boxes (&spec)) < 0;
  text = !strcmp (what, "kernel") ? nms__tpu_kernel (&spec, &length, error, sizeof error)
                                  : nms__tpu_module (&spec, &length, error, sizeof error);
  if (!text) {
    fprintf (stderr, "%s\n", error);
    return 1;
  }
  int failed = fwrite (text, 1, length, stdout) != length;
  free (text);
  return failed;
}
