/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-methods: times each method with scores, corners and suppressors as outputs, on each
 * instruction set. Prints the least processor times of a call in milliseconds.
 *
 *     bench-methods [BOXES ...]        default: 1000 10000
 *
 * BOXES is a number of detector-like boxes, or random:N for N large boxes at random places.
 */
#include "benchboxes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 0.7 /* seconds after which no call begins */

static const char *const sets[] = { "scalar", "sse2", "avx2", "avx512", "neon" };

#define SETS (sizeof sets / sizeof *sets)

/* Times every pair of method and metric that the library takes. */
static void
time_methods (const char *argument)
{
  const int random = !strncmp (argument, "random:", 7);
  const size_t count = strtoull (argument + (random ? 7 : 0), NULL, 10);
  nms_context *ctx = nms_context_new ();
  Frame f;

  frame_init (&f, count);
  frame_fill (&f, count, random ? frame_random : frame_kinds[0].fill);
  f.options.outputs = NMS_OUTPUT_SCORE | NMS_OUTPUT_BOX | NMS_OUTPUT_SUPPRESSED_BY;
  for (int method = 0; nms_method_name (method); method++)
    for (int metric = 0; nms_metric_name (metric); metric++) {
      if (nms_method_reason (method, metric))
        continue;
      f.options.method = (uint32_t) method;
      f.options.metric = (uint32_t) metric;
      printf ("%12s %-16s %-4s", argument, nms_method_name (method), nms_metric_name (metric));
      for (size_t s = 0; s < SETS; s++) {
        if (nms_context_set_isa (ctx, sets[s]) == NMS_OK)
          printf (" %9.4f", frame_time (ctx, &f, NULL, ENOUGH) * 1e3);
        else
          printf (" %9s", "-");
        fflush (stdout);
      }
      printf ("\n");
    }
  nms_context_free (&ctx);
  frame_clear (&f);
}

int
main (int argc, char **argv)
{
  printf ("%12s %-16s %-4s", "boxes", "method", "");
  for (size_t s = 0; s < SETS; s++)
    printf (" %9s", sets[s]);
  printf ("\n");
  for (int i = 1; i < argc; i++)
    time_methods (argv[i]);
  if (argc == 1) {
    time_methods ("1000");
    time_methods ("10000");
  }
  return 0;
}
