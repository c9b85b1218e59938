/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results in the caller's arrays: their capacity, and what is written when. */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Four boxes that do not overlap, and a copy of the first. */
enum { N = 5 };
static const float corners[N][4] = { { 0, 0, 4, 4 }, { 10, 0, 14, 4 }, { 20, 0, 24, 4 },
  { 30, 0, 34, 4 }, { 0, 0, 4, 4 } };
static const float scores[N] = { 4, 3, 2, 1, 0 };

typedef struct {
  nms_boxes boxes;
  nms_options options;
  nms_arrays arrays;
  nms_result result;
  int32_t kept[N];
  uint8_t outcome[N];
  int32_t suppressed_by[N];
} Call;

static void
call_init (Call *call, uint32_t engine)
{
  *call = (Call) { .boxes = { .size = sizeof call->boxes, .count = N, .score = { scores, 0 } },
    .arrays = { .size = sizeof call->arrays },
    .result = { .size = sizeof call->result } };
  nms_boxes_set_rows (&call->boxes, corners[0]);
  nms_options_init (&call->options, sizeof call->options);
  call->options.engine = engine;
  memset (call->kept, 0x3c, sizeof call->kept);
  memset (call->outcome, 0x3c, sizeof call->outcome);
  memset (call->suppressed_by, 0x3c, sizeof call->suppressed_by);
}

static int
run (Call *call)
{
  return nms_run_into (context, &call->boxes, &call->options, &call->arrays, &call->result);
}

static void
assert_untouched (const void *memory, size_t size)
{
  for (size_t i = 0; i < size; i++)
    g_assert_cmpint (((const char *) memory)[i], ==, 0x3c);
}

/* Without output arrays only the counts are written. */
static void
test_counts_only (void)
{
  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    Call call;
    call_init (&call, enginecheck_engines[e]);
    call.options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY; /* ignored */
    g_assert_cmpint (run (&call), ==, NMS_OK);
    g_assert_cmpuint (call.result.kept_count, ==, 4);
    g_assert_cmpuint (call.result.suppressed_count, ==, 1);
    g_assert_null (call.result.kept);
    g_assert_null (call.result.outcome);
    g_assert_null (call.result.suppressed_by);
  }
}

static void
test_all (void)
{
  static const int32_t kept[] = { 0, 1, 2, 3 }, by[] = { -1, -1, -1, -1, 0 };
  static const uint8_t outcome[] = { NMS_KEPT, NMS_KEPT, NMS_KEPT, NMS_KEPT, NMS_SUPPRESSED };

  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    Call call;
    call_init (&call, enginecheck_engines[e]);
    call.arrays.kept = call.kept;
    call.arrays.kept_capacity = N;
    call.arrays.outcome = call.outcome;
    call.arrays.suppressed_by = call.suppressed_by;
    g_assert_cmpint (run (&call), ==, NMS_OK);
    g_assert_true (call.result.kept == call.kept);
    g_assert_true (call.result.outcome == call.outcome);
    g_assert_true (call.result.suppressed_by == call.suppressed_by);
    g_assert_cmpmem (call.kept, 4 * sizeof *kept, kept, sizeof kept);
    assert_untouched (&call.kept[4], sizeof call.kept[4]);
    g_assert_cmpmem (call.outcome, N, outcome, sizeof outcome);
    g_assert_cmpmem (call.suppressed_by, sizeof call.suppressed_by, by, sizeof by);
  }
}

/* Too small a capacity is an error, and not a byte is written. */
static void
test_space (void)
{
  for (size_t capacity = 0; capacity <= 4; capacity++)
    for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
      Call call;
      nms_result before;
      call_init (&call, enginecheck_engines[e]);
      call.arrays.kept = call.kept;
      call.arrays.kept_capacity = capacity;
      call.arrays.outcome = call.outcome;
      call.arrays.suppressed_by = call.suppressed_by;
      before = call.result;
      if (capacity == 4) {
        g_assert_cmpint (run (&call), ==, NMS_OK);
        continue;
      }
      g_assert_cmpint (run (&call), ==, NMS_ERROR_SPACE);
      char *detail = g_strdup_printf ("4 boxes were kept, kept_capacity is %zu", capacity);
      g_assert_cmpstr (nms_context_error (context), ==, detail);
      g_free (detail);
      assert_untouched (call.kept, sizeof call.kept);
      assert_untouched (call.outcome, sizeof call.outcome);
      assert_untouched (call.suppressed_by, sizeof call.suppressed_by);
      g_assert_cmpmem (&call.result, sizeof call.result, &before, sizeof before);
    }
}

/* A capacity equal to the cap is enough for any number of boxes. */
static void
test_capacity_of_the_cap (void)
{
  for (size_t cap = 1; cap <= 5; cap++)
    for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
      Call call;
      call_init (&call, enginecheck_engines[e]);
      call.options.max_detections = cap;
      call.arrays.kept = call.kept;
      call.arrays.kept_capacity = cap;
      g_assert_cmpint (run (&call), ==, NMS_OK);
      g_assert_cmpuint (call.result.kept_count, ==, MIN (cap, 4));
    }
}

/* A result of nms_run is valid until the next call. Results in the caller's arrays stay
 * after the context is freed. */
static void
test_outlives (void)
{
  nms_context *own = nms_context_new ();
  Call call;

  call_init (&call, NMS_ENGINE_AUTO);
  call.arrays.kept = call.kept;
  call.arrays.kept_capacity = N;
  g_assert_cmpint (nms_run_into (own, &call.boxes, &call.options, &call.arrays, &call.result), ==,
      NMS_OK);
  nms_context_free (&own);
  for (int32_t k = 0; k < 4; k++)
    g_assert_cmpint (call.result.kept[k], ==, k);
}

static const TestCase cases[] = { { "/run-into/counts-only", test_counts_only },
  { "/run-into/all", test_all }, { "/run-into/space", test_space },
  { "/run-into/capacity-of-the-cap", test_capacity_of_the_cap },
  { "/run-into/outlives", test_outlives }, { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
