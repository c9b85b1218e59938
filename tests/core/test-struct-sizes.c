/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Structs of a shorter or longer version than the library's. The library completes
 * shorter ones with defaults, and accepts longer ones if the part that it does not know
 * is zero. Each struct is an allocation of exactly its size, so that a sanitizer sees
 * any access beyond.
 */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float corners[][4] = { { 0, 0, 4, 4 }, { 0, 0, 4, 3 }, { 9, 9, 12, 12 } };
static const float scores[] = { 0.1f, 0.2f, 0.3f };

static nms_boxes
plain_boxes (void)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = 3, .score = { scores, 0 } };
  nms_boxes_set_rows (&boxes, corners[0]);
  return boxes;
}

/* Returns a copy with `size` bytes, shorter or longer than the original, whose first
 * member is set to that size. */
static void *
resized (const void *data, size_t known, size_t size)
{
  char *copy = g_malloc0 (size);
  memcpy (copy, data, MIN (known, size));
  if (size >= sizeof size)
    memcpy (copy, &size, sizeof size);
  return copy;
}

static int
run (const void *boxes, const void *options, nms_result *result)
{
  *result = (nms_result) { .size = sizeof *result };
  return nms_run (context, boxes, options, result);
}

static void
test_boxes (void)
{
  nms_boxes boxes = plain_boxes ();
  nms_result result;

  /* without the score column and later members: the input order ranks */
  void *old = resized (&boxes, sizeof boxes, offsetof (nms_boxes, score));
  g_assert_cmpint (run (old, NULL, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
  g_assert_cmpint (result.kept[0], ==, 0);
  g_free (old);

  /* with it: box 2 is the best, box 1 suppresses 0 */
  old = resized (&boxes, sizeof boxes, offsetof (nms_boxes, class_id));
  g_assert_cmpint (run (old, NULL, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
  g_assert_cmpint (result.kept[0], ==, 2);
  g_assert_cmpint (result.kept[1], ==, 1);
  g_free (old);

  char *new = resized (&boxes, sizeof boxes, sizeof boxes + 40);
  g_assert_cmpint (run (new, NULL, &result), ==, NMS_OK);
  g_assert_cmpint (result.kept[1], ==, 1);
  for (size_t at = sizeof boxes; at < sizeof boxes + 40; at++) {
    new[at] = 1;
    g_assert_cmpint (run (new, NULL, &result), ==, NMS_ERROR_ARGUMENT);
    g_assert_true (g_str_has_prefix (nms_context_error (context), "boxes: a field this version"));
    new[at] = 0;
  }
  g_free (new);
}

static void
test_boxes_too_small (void)
{
  nms_boxes boxes = plain_boxes ();
  nms_result result;

  for (size_t size = 0; size < offsetof (nms_boxes, score); size += sizeof (size_t)) {
    boxes.size = size;
    g_assert_cmpint (run (&boxes, NULL, &result), ==, NMS_ERROR_ARGUMENT);
    char *begin = g_strdup_printf ("boxes: size is %zu, must be at least ", size);
    g_assert_true (g_str_has_prefix (nms_context_error (context), begin));
    g_free (begin);
  }
}

static void
test_options (void)
{
  nms_boxes boxes = plain_boxes ();
  nms_options options;
  nms_result result;

  nms_options_init (&options, sizeof options);
  options.iou_threshold = 0.75f; /* exactly the overlap of 0 and 1 */
  options.score_threshold = 0.15f;
  options.inclusive = 1;
  options.outputs = NMS_OUTPUT_OUTCOME;

  /* only the threshold is there: no score threshold, not inclusive, no outputs */
  void *old = resized (&options, sizeof options, offsetof (nms_options, score_threshold));
  g_assert_cmpint (run (&boxes, old, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 3);
  g_assert_null (result.outcome);
  g_free (old);

  /* the members up to the caps are there: the score threshold applies */
  old = resized (&options, sizeof options, offsetof (nms_options, inclusive));
  g_assert_cmpint (run (&boxes, old, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
  g_assert_cmpuint (result.filtered_count, ==, 1);
  g_free (old);

  options.score_threshold = -INFINITY;
  char *new = resized (&options, sizeof options, sizeof options + 24);
  g_assert_cmpint (run (&boxes, new, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
  g_assert_nonnull (result.outcome);
  new[sizeof options + 23] = 1;
  g_assert_cmpint (run (&boxes, new, &result), ==, NMS_ERROR_ARGUMENT);
  g_assert_true (g_str_has_prefix (nms_context_error (context), "options: a field this version"));
  g_free (new);

  for (size_t size = 0; size < offsetof (nms_options, score_threshold); size++) {
    options.size = size;
    g_assert_cmpint (run (&boxes, &options, &result), ==, NMS_ERROR_ARGUMENT);
  }
}

/* Runs every size from the first to the last of `ends`. Only those in `ends` are accepted. */
static void
check_ends (const char *name, const void *data, const size_t *ends, size_t end_count)
{
  const size_t known = ends[end_count - 1];
  const nms_boxes boxes = plain_boxes ();
  nms_result result;

  for (size_t size = ends[0], end = 0; size <= known; size++) {
    void *old = resized (data, known, size);
    int is_boxes = strcmp (name, "boxes") == 0;
    int error = run (is_boxes ? old : &boxes, is_boxes ? NULL : old, &result);
    if (size == ends[end]) {
      g_assert_cmpint (error, ==, NMS_OK);
      end++;
    } else {
      char *text = g_strdup_printf ("%s: size is %zu, which ends inside a field", name, size);
      g_assert_cmpint (error, ==, NMS_ERROR_ARGUMENT);
      g_assert_cmpstr (nms_context_error (context), ==, text);
      g_free (text);
    }
    g_free (old);
  }
}

/* A column or pointer of which only some bytes are there is not used. */
static void
test_ends_inside_field (void)
{
  static const size_t box_ends[] = { offsetof (nms_boxes, score), offsetof (nms_boxes, class_id),
    offsetof (nms_boxes, exclude), offsetof (nms_boxes, parent), offsetof (nms_boxes, angle),
    offsetof (nms_boxes, source), sizeof (nms_boxes) };
  static const size_t option_ends[] = { offsetof (nms_options, score_threshold),
    offsetof (nms_options, max_detections), offsetof (nms_options, max_per_class),
    offsetof (nms_options, inclusive), offsetof (nms_options, score_strict),
    offsetof (nms_options, class_agnostic), offsetof (nms_options, reserved1),
    offsetof (nms_options, engine), offsetof (nms_options, outputs),
    offsetof (nms_options, reserved2), offsetof (nms_options, class_options),
    offsetof (nms_options, class_option_count), offsetof (nms_options, max_candidates),
    offsetof (nms_options, method), offsetof (nms_options, metric), offsetof (nms_options, sigma),
    offsetof (nms_options, min_score), offsetof (nms_options, fused_score),
    offsetof (nms_options, reserved3), offsetof (nms_options, source_weights),
    offsetof (nms_options, source_count), sizeof (nms_options) };
  static const uint8_t exclude[3] = { 0 };
  static const int32_t ids[3] = { 0 }, parents[3] = { -1, -1, -1 };
  nms_class_options by_class = { .size = sizeof by_class };
  nms_boxes boxes = plain_boxes ();
  nms_options options;

  boxes.class_id.data = ids;
  boxes.exclude.data = exclude;
  boxes.parent.data = parents;
  boxes.angle.data = scores;
  boxes.source.data = ids;
  check_ends ("boxes", &boxes, box_ends, G_N_ELEMENTS (box_ends));

  nms_options_init (&options, sizeof options);
  options.max_detections = UINT64_MAX;
  options.class_options = &by_class;
  check_ends ("options", &options, option_ends, G_N_ELEMENTS (option_ends));
}

static void
test_options_init (void)
{
  const size_t sizes[] = { sizeof (size_t), offsetof (nms_options, score_threshold),
    offsetof (nms_options, max_detections), sizeof (nms_options), sizeof (nms_options) + 64 };

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    size_t size = sizes[i];
    char *memory = g_malloc (size + 8);
    nms_options whole = { 0 };

    memset (memory, 0x5a, size + 8);
    nms_options_init ((nms_options *) memory, size);
    for (size_t k = size; k < size + 8; k++)
      g_assert_cmpint (memory[k], ==, 0x5a);
    for (size_t k = sizeof whole; k < size; k++)
      g_assert_cmpint (memory[k], ==, 0);
    memcpy (&whole, memory, MIN (size, sizeof whole));
    g_assert_cmpuint (whole.size, ==, size);
    if (size >= offsetof (nms_options, score_threshold))
      g_assert_cmpfloat (whole.iou_threshold, ==, 0.5f);
    if (size >= offsetof (nms_options, max_detections))
      g_assert_cmpfloat (whole.score_threshold, ==, -INFINITY);
    if (size >= sizeof whole) {
      g_assert_cmpuint (whole.max_detections, ==, 0);
      g_assert_cmpuint (whole.max_per_class, ==, 0);
      g_assert_cmpuint (whole.inclusive, ==, 0);
      g_assert_cmpuint (whole.score_strict, ==, 0);
      g_assert_cmpuint (whole.class_agnostic, ==, 0);
      g_assert_cmpuint (whole.engine, ==, NMS_ENGINE_AUTO);
      g_assert_cmpuint (whole.outputs, ==, 0);
      g_assert_null (whole.class_options);
      g_assert_cmpuint (whole.class_option_count, ==, 0);
      g_assert_cmpuint (whole.method, ==, NMS_METHOD_HARD);
      g_assert_cmpuint (whole.metric, ==, NMS_METRIC_IOU);
      g_assert_cmpfloat (whole.sigma, ==, 0.0f);
      g_assert_cmpfloat (whole.min_score, ==, 0.001f);
      g_assert_cmpuint (whole.fused_score, ==, NMS_FUSED_AVG);
      g_assert_null (whole.source_weights);
      g_assert_cmpuint (whole.source_count, ==, 0);
    }
    g_free (memory);
  }
  nms_options_init (NULL, sizeof (nms_options));
}

/* NULL means the default options. */
static void
test_no_options (void)
{
  nms_boxes boxes = plain_boxes ();
  nms_options options;
  nms_result without, with;
  int32_t kept[3];

  nms_options_init (&options, sizeof options);
  g_assert_cmpint (run (&boxes, NULL, &without), ==, NMS_OK);
  memcpy (kept, without.kept, without.kept_count * sizeof *kept);
  g_assert_cmpint (run (&boxes, &options, &with), ==, NMS_OK);
  g_assert_cmpmem (kept, without.kept_count * sizeof *kept, with.kept,
      with.kept_count * sizeof *kept);
}

/* Entries of class options that are longer than the known struct: the library steps by
 * their size. */
static void
test_class_options (void)
{
  enum { EXTRA = 24, SIZE = sizeof (nms_class_options) + EXTRA };
  static const int32_t ids[] = { 3, 3, 4 };
  nms_boxes boxes = plain_boxes ();
  nms_options options;
  nms_result result;
  char *entries = g_malloc0 (2 * SIZE);

  boxes.class_id.data = ids;
  nms_options_init (&options, sizeof options);
  options.class_options = (const nms_class_options *) entries;
  options.class_option_count = 2;
  for (size_t i = 0; i < 2; i++) {
    nms_class_options c = { .size = SIZE,
      .class_id = (int32_t) i + 3,
      .set = i ? NMS_CLASS_SCORE_THRESHOLD : NMS_CLASS_IOU_THRESHOLD,
      .iou_threshold = 0.75f,
      .score_threshold = 0.5f };
    memcpy (entries + i * SIZE, &c, sizeof c);
  }
  g_assert_cmpint (run (&boxes, &options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);     /* 0 and 1 under 0.75 */
  g_assert_cmpuint (result.filtered_count, ==, 1); /* 2 under 0.5 */
  entries[2 * SIZE - 1] = 1;
  g_assert_cmpint (run (&boxes, &options, &result), ==, NMS_ERROR_ARGUMENT);
  g_free (entries);
}

/* The library does not write the unknown end of a longer result. */
static void
test_result (void)
{
  nms_boxes boxes = plain_boxes ();
  size_t size = sizeof (nms_result) + 16;
  char *memory = g_malloc0 (size);
  nms_result *result = (nms_result *) memory;

  result->size = size;
  g_assert_cmpint (nms_run (context, &boxes, NULL, result), ==, NMS_OK);
  g_assert_cmpuint (result->size, ==, size);
  g_assert_cmpuint (result->kept_count, ==, 2);
  for (size_t i = sizeof (nms_result); i < size; i++)
    g_assert_cmpint (memory[i], ==, 0);
  g_free (memory);
}

/* An entry that ends before a field leaves the field unset; an entry whose `set` names a field
 * beyond its end is an error. */
static void
test_class_option_ends (void)
{
  static const struct {
    size_t size;
    uint32_t set; /* bits of the fields that an entry of this size has */
  } ends[] = {
    { offsetof (nms_class_options, iou_threshold), 0 },
    { offsetof (nms_class_options, score_threshold), NMS_CLASS_IOU_THRESHOLD },
    { offsetof (nms_class_options, max_detections),
        NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_SCORE_THRESHOLD },
    { sizeof (nms_class_options), 7 },
  };
  const nms_class_options full = { .iou_threshold = 0.75f,
    .score_threshold = 0.15f,
    .max_detections = 1 };
  nms_boxes boxes = plain_boxes ();
  nms_options options;
  nms_result result;

  nms_options_init (&options, sizeof options);
  options.class_option_count = 1;
  for (size_t size = ends[0].size, end = 0; size <= sizeof full; size++)
    for (uint32_t set = 0; set < 8; set++) {
      nms_class_options *entry = resized (&full, sizeof full, size);
      entry->set = set;
      options.class_options = entry;
      int error = run (&boxes, &options, &result);
      if (size == ends[end].size && (set & ~ends[end].set) == 0) {
        g_assert_cmpint (error, ==, NMS_OK);
        g_assert_cmpuint (result.filtered_count, ==, (set & NMS_CLASS_SCORE_THRESHOLD) != 0);
        g_assert_cmpuint (result.over_cap_count > 0, ==, (set & NMS_CLASS_MAX_DETECTIONS) != 0);
      } else
        g_assert_cmpint (error, ==, NMS_ERROR_ARGUMENT);
      g_free (entry);
      end += set == 7 && size == ends[end].size;
    }
}

/* nms_result of the first version. */
typedef struct {
  size_t size, kept_count, suppressed_count, over_cap_count, filtered_count, invalid_count;
  const int32_t *kept;
  const uint8_t *outcome;
  const int32_t *suppressed_by;
} FirstResult;

/* Only the fields that fit into the size of an older caller's result are written. */
static void
test_result_ends (void)
{
  nms_boxes boxes = plain_boxes ();
  nms_result whole = { 0 };

  for (size_t size = 0; size <= sizeof whole; size++) {
    whole.size = size;
    nms_result *old = resized (&whole, sizeof whole, MAX (size, sizeof size));
    int error = nms_run (context, &boxes, NULL, old);
    if (size == sizeof (FirstResult) || size == offsetof (nms_result, kept_score)
        || size == offsetof (nms_result, kept_box) || size == sizeof whole) {
      g_assert_cmpint (error, ==, NMS_OK);
      g_assert_cmpuint (((FirstResult *) old)->size, ==, size);
      g_assert_cmpuint (((FirstResult *) old)->kept_count, ==, 2);
      g_assert_cmpint (((FirstResult *) old)->kept[0], ==, 2);
    } else
      g_assert_cmpint (error, ==, NMS_ERROR_ARGUMENT);
    g_free (old);
  }
}

/* Arrays that an older caller's struct does not have count as NULL. */
static void
test_arrays_ends (void)
{
  static const size_t ends[] = { offsetof (nms_arrays, outcome),
    offsetof (nms_arrays, suppressed_by), offsetof (nms_arrays, kept_score),
    offsetof (nms_arrays, kept_box), sizeof (nms_arrays) };
  nms_boxes boxes = plain_boxes ();
  int32_t kept[3], suppressed_by[3];
  uint8_t outcome[3];
  float kept_score[3], kept_box[12];
  const nms_arrays full = { .kept = kept,
    .kept_capacity = 3,
    .outcome = outcome,
    .suppressed_by = suppressed_by,
    .kept_score = kept_score,
    .kept_box = kept_box };

  for (size_t size = ends[0], end = 0; size <= sizeof full + 8; size++) {
    nms_arrays *arrays = resized (&full, sizeof full, size);
    nms_result result = { .size = sizeof result };
    int error = nms_run_into (context, &boxes, NULL, arrays, &result);
    if (size >= sizeof full || size == ends[end]) {
      g_assert_cmpint (error, ==, NMS_OK);
      g_assert_true (result.kept == kept);
      g_assert_true (result.outcome == (size > ends[0] ? outcome : NULL));
      g_assert_true (result.suppressed_by == (size > ends[1] ? suppressed_by : NULL));
      end++;
    } else
      g_assert_cmpint (error, ==, NMS_ERROR_ARGUMENT);
    if (size == sizeof full + 8) {
      ((char *) arrays)[size - 1] = 1;
      g_assert_cmpint (nms_run_into (context, &boxes, NULL, arrays, &result), ==,
          NMS_ERROR_ARGUMENT);
    }
    g_free (arrays);
  }
}

static const TestCase cases[] = { { "/struct-sizes/boxes", test_boxes },
  { "/struct-sizes/boxes-too-small", test_boxes_too_small },
  { "/struct-sizes/options", test_options },
  { "/struct-sizes/ends-inside-field", test_ends_inside_field },
  { "/struct-sizes/options-init", test_options_init },
  { "/struct-sizes/no-options", test_no_options },
  { "/struct-sizes/class-options", test_class_options },
  { "/struct-sizes/class-option-ends", test_class_option_ends },
  { "/struct-sizes/result", test_result }, { "/struct-sizes/result-ends", test_result_ends },
  { "/struct-sizes/arrays-ends", test_arrays_ends }, { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
