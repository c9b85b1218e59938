/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz-core: makes a call of boxgen from the bytes, for which every engine must give the result of
 * the reference; and overwrites the options with raw bytes, which the library must accept or refuse
 * without a fault.
 *
 * Built for libFuzzer, or with corpusreplay.c as a plain program that runs files.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "fuzzbytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define MOST_BOXES 150

/* Makes a call with a method, or without one. Some calls have raw bytes for coordinates. */
static void
make_call (BoxCall *call, BoxRandom *random)
{
  const int temper = (int) boxrandom_below (random, BOXGEN_LAYOUTS);

  boxcall_random (call, random, temper, boxrandom_below (random, MOST_BOXES + 1));
  if (boxrandom_below (random, 2))
    boxcall_random_method (call, random, temper);
  /* ProbIoU and fused rotated boxes of the reference have more digits, so one number in 1e8 is
   * rounded to another float */
  if (call->options.metric == NMS_METRIC_PROBIOU || call->boxes.angle.data)
    call->options.method = NMS_METHOD_HARD;
  for (size_t i = 0; temper == BOXGEN_HOSTILE && random->left > 0 && i < 4 * call->boxes.count; i++)
    if (boxrandom_below (random, 4) == 0) {
      const uint32_t bits = (uint32_t) (boxrandom_bits (random) >> 32);
      memcpy (&call->corners[i], &bits, sizeof bits);
    }
}

/* Makes a well-formed call and compares every engine with the reference. */
static void
compare (nms_context *context, BoxRandom *random)
{
  BoxCall call;

  make_call (&call, random);
  fuzz_count (call.boxes.count);
  char *difference = enginecheck_run (context, &call.boxes, &call.options, ENGINECHECK_FULL);
  if (difference) {
    fprintf (stderr, "%zu boxes, method %u, metric %u: %s\n", call.boxes.count, call.options.method,
        call.options.metric, difference);
    abort ();
  }
  boxcall_clear (&call);
}

/* Makes options of raw bytes, except for their pointers. The call may return any code of the list,
 * must set an error text if it fails, and must leave the context usable. */
static void
scramble (nms_context *context, FuzzBytes *bytes)
{
  BoxRandom random = { 0, bytes->data, bytes->left };
  BoxCall call;
  nms_result result, before;
  int error;

  make_call (&call, &random);
  nms_options options = call.options;
  fuzz_take (bytes, &options, offsetof (nms_options, class_options));
  if (fuzz_take_byte (bytes) & 3)
    options.size = sizeof options;
  else
    options.size %= sizeof options + 1;
  for (size_t i = 0; i < options.class_option_count; i++) {
    fuzz_take (bytes, &call.class_options[i], sizeof call.class_options[i]);
    call.class_options[i].size = sizeof call.class_options[i];
  }
  if (fuzz_take_byte (bytes) & 1) {
    fuzz_take (bytes, &options.engine, sizeof options - offsetof (nms_options, engine));
    options.source_count = options.source_weights ? 0 : fuzz_take_byte (bytes);
  }
  if (fuzz_take_byte (bytes) == 1)
    call.boxes.y2.data = NULL;

  memset (&result, 0x3c, sizeof result);
  result.size = sizeof result;
  before = result;
  error = nms_run (context, &call.boxes, &options, &result);
  if (error) {
    if (strcmp (nms_strerror (error), "unknown error") == 0 || !*nms_context_error (context)
        || memcmp (&result, &before, sizeof result) != 0)
      abort ();
  } else if (result.kept_count + result.suppressed_count + result.over_cap_count
          + result.filtered_count + result.invalid_count + result.not_candidate_count
      != call.boxes.count)
    abort ();
  boxcall_clear (&call);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  nms_context *context = nms_context_new (); /* without earlier scratch memory */
  FuzzBytes bytes = { data, size };
  const uint8_t choices = fuzz_take_byte (&bytes);

  if (!context)
    abort ();
  /* refused if it does not run here; then the best one is used, as for NULL */
  nms_context_set_isa (context, enginecheck_isas[(choices >> 1) % 6]);
  if (choices & 1)
    scramble (context, &bytes);
  compare (context, &(BoxRandom) { 0, bytes.data, bytes.left });
  nms_context_free (&context);
  return 0;
}
