/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz-core: makes boxes and options of the bytes, for which every engine must give the
 * result of the reference; and makes structs of raw bytes, which the library must accept
 * or refuse without a fault.
 *
 * Built for libFuzzer, or with corpusreplay.c as a plain program that runs files.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "fuzzbytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define MOST_BOXES 150
#define MOST_CLASSES 4

/* Reads a coordinate in one of three forms: a small integer (overlaps of these equal
 * thresholds), half of an integer from a wider range, or any 32 bits. */
static float
take_coordinate (FuzzBytes *bytes, int form)
{
  int16_t wide;

  switch (form & 3) {
    case 0:
    case 1:
      return (float) (fuzz_take_byte (bytes) & 15);
    case 2:
      fuzz_take (bytes, &wide, sizeof wide);
      return (float) wide / 2;
    default:
      return fuzz_take_float (bytes);
  }
}

/* Takes a threshold from 0 to 1; half of the time a quotient of small integers. */
static float
take_threshold (FuzzBytes *bytes)
{
  uint8_t p = fuzz_take_byte (bytes), q = fuzz_take_byte (bytes);
  float t;

  if (p & 1)
    return (float) (p % 17) / (float) (q % 16 + 16);
  t = fabsf (fuzz_take_float (bytes));
  return t <= 1 ? t : 0.5f; /* may be NaN */
}

static float
take_score_threshold (FuzzBytes *bytes)
{
  float t = fuzz_take_byte (bytes) & 1 ? fuzz_take_float (bytes) : -INFINITY;
  return isnan (t) ? -INFINITY : t;
}

static void *
allocate (size_t count, size_t size)
{
  void *memory = malloc (count ? count * size : 1);
  if (!memory)
    abort ();
  return memory;
}

/* Takes class options, in an allocation of exactly their size. */
static nms_class_options *
take_class_options (FuzzBytes *bytes, nms_options *options)
{
  size_t count = fuzz_take_byte (bytes) % (MOST_CLASSES + 1);
  nms_class_options *list = allocate (count, sizeof *list);
  int32_t id = fuzz_take_byte (bytes) & 1 ? INT32_MIN : -1;

  for (size_t i = 0; i < count; i++) {
    const uint8_t set = fuzz_take_byte (bytes);
    list[i] = (nms_class_options) { .size = sizeof *list,
      .class_id = id + (int32_t) i,
      .set = set & 15,
      .group = id + (set >> 4 & 3),
      .iou_threshold = take_threshold (bytes),
      .score_threshold = take_score_threshold (bytes),
      .max_detections = fuzz_take_byte (bytes) % 5 };
  }
  options->class_options = count ? list : NULL;
  options->class_option_count = count;
  return list;
}

/* Takes a method, a metric that it takes, and their options. All are 0, method hard by IoU, after
 * the end of the input. */
static void
take_method (FuzzBytes *bytes, nms_options *options)
{
  static const float sigmas[] = { 0, 0.5f, 2, 1e-9f, 1e9f };
  uint8_t choice = fuzz_take_byte (bytes);

  options->method = choice & 15;
  options->metric = choice >> 4 & 7;
  if (!nms_method_name ((int) options->method))
    options->method = NMS_METHOD_HARD;
  if (nms_method_reason ((int) options->method, (int) options->metric))
    options->metric = NMS_METRIC_IOU;
  /* ProbIoU of the reference has more digits, so one pair in 1e8 is rounded to another float */
  if (options->metric == NMS_METRIC_PROBIOU)
    options->method = NMS_METHOD_HARD;
  options->sigma = sigmas[fuzz_take_byte (bytes) % (sizeof sigmas / sizeof *sigmas)];
  options->min_score = (float) (fuzz_take_byte (bytes) % 64) / 64;
  options->fused_score = fuzz_take_byte (bytes) & 3;
  options->source_count = fuzz_take_byte (bytes) & 3;
}

/* Takes the sources of the boxes and a weight for each, and sets the column if `wanted`. */
static void
take_sources (FuzzBytes *bytes, nms_boxes *boxes, nms_options *options, int32_t *source,
    float *weights, int wanted)
{
  for (size_t i = 0; i < boxes->count; i++)
    source[i] = fuzz_take_byte (bytes) % 5 - 1;
  for (size_t i = 0; i < 4; i++)
    weights[i] = (float) (fuzz_take_byte (bytes) + 1) / 16;
  boxes->source.data = wanted ? source : NULL;
  options->source_weights = wanted ? weights : NULL;
}

/* Makes a well-formed call and compares every engine with the reference. */
static void
compare (nms_context *context, FuzzBytes *bytes)
{
  uint8_t switches = fuzz_take_byte (bytes), columns = fuzz_take_byte (bytes);
  int form = fuzz_take_byte (bytes);
  size_t n = fuzz_take_byte (bytes) % (MOST_BOXES + 1);
  nms_options options;
  nms_boxes boxes = { .size = sizeof boxes, .count = n };
  BoxCall c = { .corners = allocate (4 * n, sizeof *c.corners),
    .score = allocate (n, sizeof *c.score),
    .class_id = allocate (n, sizeof *c.class_id),
    .parent = allocate (n, sizeof *c.parent),
    .source = allocate (n, sizeof *c.source),
    .exclude = allocate (n, sizeof *c.exclude) };

  nms_options_init (&options, sizeof options);
  options.inclusive = switches & 1;
  options.score_strict = switches & 2;
  options.class_agnostic = switches & 4;
  options.iou_threshold = take_threshold (bytes);
  options.score_threshold = take_score_threshold (bytes);
  if (switches & 8)
    options.max_detections = fuzz_take_byte (bytes);
  if (switches & 16)
    options.max_per_class = fuzz_take_byte (bytes) % 8;
  nms_class_options *classes = take_class_options (bytes, &options);

  if (n > bytes->left / 4 + 2) /* a short input makes a small frame */
    n = boxes.count = bytes->left / 4 + 2;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < 4; k++)
      c.corners[4 * i + k] = take_coordinate (bytes, form);
    if (form & 4)
      c.score[i] = fuzz_take_float (bytes);
    else
      c.score[i] = (float) (int8_t) fuzz_take_byte (bytes);
    if (form & 8)
      fuzz_take (bytes, &c.class_id[i], sizeof c.class_id[i]);
    else
      c.class_id[i] = columns & 2 ? (fuzz_take_byte (bytes) & 3) - 1 : 0;
    c.exclude[i] = columns & 4 ? fuzz_take_byte (bytes) & 0x11 : 0;
    c.parent[i] = columns & 8 ? (int8_t) fuzz_take_byte (bytes) : -1;
  }
  if (switches & 32)
    options.max_candidates = fuzz_take_byte (bytes);
  nms_boxes_set_rows (&boxes, c.corners);
  boxes.score.data = columns & 1 ? c.score : NULL;
  boxes.class_id.data = columns & 2 ? c.class_id : NULL;
  boxes.exclude.data = columns & 4 ? c.exclude : NULL;
  boxes.parent.data = columns & 8 ? c.parent : NULL;
  take_method (bytes, &options);
  take_sources (bytes, &boxes, &options, c.source, c.weights, columns & 16);
  options.min_size_ratio = (float) (fuzz_take_byte (bytes) % 65) / 64;

  fuzz_count (n);
  char *difference = enginecheck_run (context, &boxes, &options, ENGINECHECK_FULL);
  if (difference) {
    fprintf (stderr, "%zu boxes, method %u, metric %u: %s\n", n, options.method, options.metric,
        difference);
    abort ();
  }
  free (classes);
  boxcall_clear (&c);
}

/* Makes structs of raw bytes, except for their pointers. The call may return any code of
 * the list, must set an error text if it fails, and must leave the context usable. */
static void
scramble (nms_context *context, FuzzBytes *bytes)
{
  enum { ROOM = 40 };
  float columns[ROOM * 4] = { 0 };
  nms_boxes boxes;
  nms_options options;
  nms_class_options *classes;
  nms_result result = { .size = sizeof result }, before;
  int error;

  nms_options_init (&options, sizeof options);
  fuzz_take (bytes, &options, offsetof (nms_options, max_candidates));
  if (fuzz_take_byte (bytes) & 3)
    options.size = sizeof options;
  else
    options.size %= sizeof options + 1;
  if (options.class_option_count > 1)
    options.class_option_count %= 4;
  classes = allocate (options.class_option_count, sizeof *classes);
  for (size_t i = 0; i < options.class_option_count; i++) {
    fuzz_take (bytes, &classes[i], sizeof classes[i]);
    classes[i].size = sizeof *classes;
  }
  options.class_options = fuzz_take_byte (bytes) & 7 ? classes : NULL;

  boxes = (nms_boxes) { .size = sizeof boxes, .count = fuzz_take_byte (bytes) % (ROOM + 1) };
  for (size_t i = 0; i < boxes.count * 4; i++)
    columns[i] = take_coordinate (bytes, fuzz_take_byte (bytes));
  nms_boxes_set_rows (&boxes, columns);
  boxes.score = boxes.x1;
  if (fuzz_take_byte (bytes) == 1)
    boxes.y2.data = NULL;
  fuzz_take (bytes, &options.max_candidates, sizeof options.max_candidates);
  if (fuzz_take_byte (bytes) & 1) {
    fuzz_take (bytes, &options.engine, sizeof options - offsetof (nms_options, engine));
    options.source_count = fuzz_take_byte (bytes);
  }

  memset (&result, 0x3c, sizeof result);
  result.size = sizeof result;
  before = result;
  error = nms_run (context, &boxes, &options, &result);
  if (error) {
    if (strcmp (nms_strerror (error), "unknown error") == 0 || !*nms_context_error (context)
        || memcmp (&result, &before, sizeof result) != 0)
      abort ();
  } else if (result.kept_count + result.suppressed_count + result.over_cap_count
          + result.filtered_count + result.invalid_count + result.not_candidate_count
      != boxes.count)
    abort ();
  free (classes);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  nms_context *context = nms_context_new (); /* without earlier scratch memory */
  FuzzBytes bytes = { data, size };

  static const char *const levels[] = { NULL, "scalar", "sse2", "avx2", "avx512", "neon" };
  uint8_t choices = fuzz_take_byte (&bytes);

  if (!context)
    abort ();
  /* refused if it does not run here; then the best one is used */
  nms_context_set_isa (context, levels[(choices >> 1) % (sizeof levels / sizeof *levels)]);
  if (choices & 1)
    scramble (context, &bytes);
  compare (context, &bytes);
  nms_context_free (&context);
  return 0;
}
