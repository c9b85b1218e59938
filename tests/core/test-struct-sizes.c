/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Structs of another size than the library's: smaller ones are refused, larger ones are accepted if
 * the part that the library does not know is zero. Each struct is an allocation of exactly its
 * size, so that a sanitizer sees any access beyond.
 */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <string.h>

#define FURTHER 40 /* bytes of a later version */

static const float corners[][4] = { { 0, 0, 4, 4 }, { 0, 0, 4, 3 }, { 9, 9, 12, 12 } };
static const float scores[] = { 0.1f, 0.2f, 0.3f };

/* The structs of a call. */
typedef struct {
  void *boxes, *options, *class_options, *result, *arrays;
} Call;

/* Calls nms_run, or nms_run_batch if there are arrays. */
static int
run (const Call *call)
{
  static const size_t offsets[] = { 0, 3 };

  return call->arrays
      ? nms_run_batch (context, call->boxes, offsets, 1, call->options, call->arrays, call->result)
      : nms_run (context, call->boxes, call->options, call->result);
}

/* Replaces the `count` structs at `member`, of `known` bytes each, with copies of another size, and
 * runs the call: once for each size up to `known` + FURTHER. */
static void
check (const char *name, Call *call, void **member, size_t count, size_t known)
{
  char *original = *member;

  for (size_t size = sizeof size; size <= known + FURTHER; size++) {
    g_autofree char *copy = g_malloc0 (count * size);
    char *text;
    for (size_t i = 0; i < count; i++) {
      memcpy (copy + i * size, original + i * known, MIN (size, known));
      memcpy (copy + i * size, &size, sizeof size);
    }
    *member = copy;
    if (call->options && (member != &call->options || size >= known))
      ((nms_options *) call->options)->class_options = call->class_options;
    if (size < known) {
      g_assert_cmpint (run (call), ==, NMS_ERROR_ARGUMENT);
      text = g_strdup_printf ("%s: size is %zu, must be at least %zu", name, size, known);
      g_assert_cmpstr (nms_context_error (context), ==, text);
      g_free (text);
    } else if (size == known || strcmp (name, "class_options") != 0
        || size % sizeof (void *) == 0) { /* (entries are aligned) */
      g_assert_cmpint (run (call), ==, NMS_OK);
      g_assert_cmpstr (nms_context_error (context), ==, "");
      g_assert_cmpmem (copy, sizeof size, &size, sizeof size);
      for (size_t at = known; at < size; at++) {
        g_assert_cmpint (copy[at], ==, 0); /* a later version's result keeps it */
        copy[at] = 1;
        g_assert_cmpint (run (call), ==, NMS_ERROR_ARGUMENT);
        text = g_strdup_printf ("%s: a field this version does not know is set, at byte %zu", name,
            at);
        g_assert_cmpstr (nms_context_error (context), ==, text);
        g_free (text);
        copy[at] = 0;
      }
    }
  }
  *member = original;
}

static void
test_sizes (void)
{
  nms_boxes boxes = { .size = sizeof boxes, .count = 3, .score = { scores, 0 } };
  nms_class_options class_options[] = {
    { .size = sizeof *class_options, .class_id = 1 },
    { .size = sizeof *class_options, .set = NMS_CLASS_MAX_DETECTIONS, .max_detections = 2 },
  };
  nms_options options;
  nms_result result = { .size = sizeof result };
  int32_t kept[3];
  size_t kept_offsets[2];
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = 3,
    .kept_offsets = kept_offsets };
  Call call = { &boxes, &options, class_options, &result, NULL };

  nms_boxes_set_rows (&boxes, corners[0]);
  nms_options_init (&options, sizeof options);
  options.class_option_count = G_N_ELEMENTS (class_options);
  check ("boxes", &call, &call.boxes, 1, sizeof boxes);
  check ("options", &call, &call.options, 1, sizeof options);
  check ("class_options", &call, &call.class_options, G_N_ELEMENTS (class_options),
      sizeof *class_options);
  check ("result", &call, &call.result, 1, sizeof result);
  call.arrays = &arrays;
  check ("arrays", &call, &call.arrays, 1, sizeof arrays);
  options.class_options = class_options;
  g_assert_cmpint (run (&call), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
}

/* Writes the defaults that fit, and zeros in place of later fields. */
static void
test_init (void)
{
  nms_options options;
  struct {
    nms_options options;
    uint64_t later;
  } wide;

  memset (&wide, 0x3c, sizeof wide);
  nms_options_init (&wide.options, sizeof wide);
  g_assert_cmpuint (wide.options.size, ==, sizeof wide);
  g_assert_cmpuint (wide.later, ==, 0);
  g_assert_cmpfloat (wide.options.min_score, ==, 0.001f);
  memset (&options, 0x3c, sizeof options);
  nms_options_init (&options, offsetof (nms_options, score_threshold));
  g_assert_cmpfloat (options.iou_threshold, ==, 0.5f);
  g_assert_cmphex (*(unsigned char *) &options.score_threshold, ==, 0x3c);
  nms_options_init (NULL, sizeof options);
  options.size = 99;
  nms_options_init (&options, sizeof options.size - 1);
  g_assert_cmpuint (options.size, ==, 99);
}

static const TestCase cases[] = { CASE (test_sizes), CASE (test_init), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
