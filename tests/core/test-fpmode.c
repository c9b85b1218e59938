/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other code of a process may leave flush-to-zero, denormals-are-zero or another
 * rounding mode set. The results must not depend on that, and after every call, also one
 * that fails, the mode must be the same as before.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#include <fenv.h>
#include <math.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

typedef enum { PLAIN, UPWARD, DOWNWARD, TOWARD_ZERO, FLUSH, FLUSH_UPWARD, MODES } Mode;

static const char *const mode_names[MODES + 1] = { "plain", "upward", "downward", "toward-zero",
  "flush", "flush-upward" };

static uint64_t
get_register (void)
{
#if defined(__SSE2__)
  return _mm_getcsr () & ~0x3fu; /* without the flags of exceptions */
#elif defined(__aarch64__)
  uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
#else
  return (uint64_t) fegetround ();
#endif
}

static void
set_flush (int on)
{
#if defined(__SSE2__)
  const unsigned bits = 0x8040; /* flush to zero, denormals are zero */
  _mm_setcsr ((_mm_getcsr () & ~bits) | (on ? bits : 0));
#elif defined(__aarch64__)
  uint64_t value, bit = (uint64_t) 1 << 24;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  value = on ? value | bit : value & ~bit;
  __asm__ volatile("msr fpcr, %0" : : "r"(value));
#else
  (void) on;
#endif
}

static void
enter (Mode mode)
{
  static const int rounding[MODES] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO,
    FE_TONEAREST, FE_UPWARD };

  fesetround (rounding[mode]);
  set_flush (mode == FLUSH || mode == FLUSH_UPWARD);
}

/* Returns whether the mode has an effect here; an emulator may not implement it. */
static int
takes_effect (Mode mode)
{
  volatile float one = 1, tiny = 0x1p-30f, least = 0x1p-126f, half = 0.5f;
  float up, down, flushed;

  enter (mode);
  up = one + tiny;
  down = -one - tiny;
  flushed = least * half;
  enter (PLAIN);
  switch (mode) {
    case UPWARD:
      return up > 1 && down == -1;
    case DOWNWARD:
      return up == 1 && down < -1;
    case TOWARD_ZERO:
      return up == 1 && down == -1;
    case FLUSH:
      return flushed == 0;
    case FLUSH_UPWARD:
      return flushed == 0 && up > 1;
    default:
      return up == 1 && flushed > 0;
  }
}

typedef struct {
  nms_result result;
  int32_t *kept;
  uint8_t *outcome;
  int32_t *suppressed_by;
} Copy;

static void
copy_init (Copy *copy, size_t n)
{
  *copy = (Copy) { .result = { .size = sizeof copy->result } };
  copy->kept = g_new0 (int32_t, n + 1);
  copy->outcome = g_new0 (uint8_t, n + 1);
  copy->suppressed_by = g_new0 (int32_t, n + 1);
}

static void
copy_clear (Copy *copy)
{
  g_free (copy->kept);
  g_free (copy->outcome);
  g_free (copy->suppressed_by);
}

/* Runs a batch of one image in `mode`. The test itself computes only with integers meanwhile. */
static void
run_in_mode (Mode mode, nms_context *context, const nms_boxes *boxes, const nms_options *options,
    Copy *copy)
{
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = copy->kept,
    .kept_capacity = boxes->count,
    .outcome = copy->outcome,
    .suppressed_by = copy->suppressed_by };
  uint64_t before, after;
  int error;

  enter (mode);
  before = get_register ();
  error = enginecheck_batch (context, boxes, options, &arrays, &copy->result);
  after = get_register ();
  enter (PLAIN);
  g_assert_cmpint (error, ==, NMS_OK);
  g_assert_cmphex (after, ==, before);
}

/* Calls nms_run_batch with one image in `mode`; any thread of the context may run it. */
static void
run_batch_in_mode (Mode mode, nms_context *context, const nms_boxes *boxes,
    const nms_options *options, Copy *copy)
{
  const size_t offsets[2] = { 0, boxes->count };
  size_t kept_offsets[2];
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = copy->kept,
    .kept_capacity = boxes->count,
    .kept_offsets = kept_offsets,
    .outcome = copy->outcome,
    .suppressed_by = copy->suppressed_by };
  uint64_t before, after;
  int error;

  enter (mode);
  before = get_register ();
  error = nms_run_batch (context, boxes, offsets, 1, options, &arrays, &copy->result);
  after = get_register ();
  enter (PLAIN);
  g_assert_cmpint (error, ==, NMS_OK);
  g_assert_cmphex (after, ==, before);
}

/* Makes boxes whose overlaps are exact or next to the threshold, and subnormal scores
 * and thresholds, so that each mode would change the result. */
static void
test_results (gconstpointer data)
{
  const Mode mode = (Mode) ((const char *const *) data - mode_names);
  nms_context *context = nms_context_new ();

  if (!takes_effect (mode)) {
    g_test_skip ("this machine does not have the mode");
    nms_context_free (&context);
    return;
  }
  enter (mode); /* because new threads start in the mode of the caller */
  int started = nms_context_set_threads (context, 2);
  enter (PLAIN);
  g_assert_cmpint (started, ==, NMS_OK);
  for (uint64_t seed = 0; seed < 600; seed++) {
    BoxRandom random = { 77000 + seed };
    g_auto (BoxCall) call = { 0 };
    Copy copy;
    g_auto (RefResult) expected = { 0 };
    uint32_t *neighbors, *must;

    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), boxrandom_below (&random, 150));
    if (call.score)
      for (size_t i = 0; i < call.boxes.count; i += 3)
        call.score[i] *= 0x1p-140f; /* subnormal, all different or tied */
    ref_run (&call.boxes, &call.options, &expected);
    copy_init (&copy, call.boxes.count);
    for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
      char *difference;
      call.options.engine = enginecheck_engines[e];
      run_in_mode (mode, context, &call.boxes, &call.options, &copy);
      difference = enginecheck_difference (&copy.result, &expected);
      if (difference)
        g_error ("seed %" G_GUINT64_FORMAT ", engine %d: %s", seed, e, difference);
    }
    run_batch_in_mode (mode, context, &call.boxes, &call.options, &copy);
    g_assert_cmpstr (enginecheck_difference (&copy.result, &expected), ==, NULL);

    neighbors = g_new0 (uint32_t, call.boxes.count + 1);
    must = g_new0 (uint32_t, call.boxes.count + 1);
    ref_count_neighbors (&call.boxes, &call.options, must);
    enter (mode);
    uint64_t before = get_register ();
    int error = nms_count_neighbors (context, &call.boxes, &call.options, neighbors);
    uint64_t after = get_register ();
    enter (PLAIN);
    g_assert_cmpint (error, ==, NMS_OK);
    g_assert_cmphex (after, ==, before);
    g_assert_cmpmem (neighbors, call.boxes.count * sizeof *neighbors, must,
        call.boxes.count * sizeof *must);

    g_free (neighbors);
    g_free (must);
    copy_clear (&copy);
  }
  nms_context_free (&context);
}

/* Calls that fail do not change the mode. */
static void
test_errors (gconstpointer data)
{
  const Mode mode = (Mode) ((const char *const *) data - mode_names);
  g_autoptr (nms_context) context = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes, .count = 3 };
  nms_result result = { .size = sizeof result };
  nms_options options;
  uint64_t before, after[6];
  int error[G_N_ELEMENTS (after)];
  float nan = NAN;

  nms_options_init (&options, sizeof options);
  options.score_threshold = nan;
  enter (mode);
  before = get_register ();
  error[0] = nms_run (context, &boxes, NULL, &result);
  after[0] = get_register ();
  boxes.count = 0;
  error[1] = nms_run (context, &boxes, &options, &result);
  after[1] = get_register ();
  error[2] = nms_count_neighbors (context, &boxes, &options, NULL);
  after[2] = get_register ();
  error[3] = nms_run (NULL, &boxes, &options, &result);
  after[3] = get_register ();
  error[4] = nms_run (context, &boxes, &options, NULL);
  after[4] = get_register ();
  error[5] = nms_context_reserve (context, NMS_MAX_BOXES + 1, 0);
  after[5] = get_register ();
  enter (PLAIN);
  for (size_t i = 0; i < G_N_ELEMENTS (after); i++) {
    g_assert_cmpint (error[i], <, 0);
    g_assert_cmphex (after[i], ==, before);
  }
}

/* The functions of nmscore.h that compute without a context. */
static void
test_helpers (gconstpointer data)
{
  const Mode mode = (Mode) ((const char *const *) data - mode_names);
  /* sums that are rounded, and products and halves that are subnormal */
  static const float in[][4] = { { 0.1f, 0.2f, 0.3f, 0.7f }, { -0.1f, 16777216, 3, 1 },
    { 0, 0, 0x1p-126f, 0x1p-149f }, { 0x1p-149f, -0x1p-126f, 0x1p-130f, 0x1.8p-126f },
    { 1, 1, 0x1p-24f, 0x1.000002p-24f } };
  static const float pairs[][2][4] = { { { 0, 0, 3, 3 }, { 1, 1, 4, 4 } },
    { { 0, 0, 7, 3 }, { 0.1f, 0.2f, 5, 3.3f } },
    { { 0, 0, 0x1p56f, 0x1p56f }, { 0, 0, 0x1p-12f, 0x1p-8f } } };
  enum { N = G_N_ELEMENTS (in), PAIRS = G_N_ELEMENTS (pairs) };
  float center[2][N][4], corner[2][N][4], iou[2][PAIRS];
  uint64_t before, after;

  if (!takes_effect (mode)) {
    g_test_skip ("this machine does not have the mode");
    return;
  }
  for (int k = 0; k < 2; k++) {
    enter (k ? mode : PLAIN);
    before = get_register ();
    nms_rows_from_cxcywh (in[0], N, center[k][0]);
    nms_rows_from_xywh (in[0], N, corner[k][0]);
    for (int p = 0; p < PAIRS; p++)
      iou[k][p] = nms_iou (pairs[p][0], pairs[p][1]);
    after = get_register ();
    enter (PLAIN);
    g_assert_cmphex (after, ==, before);
  }
  g_assert_cmpmem (center[1], sizeof center[1], center[0], sizeof center[0]);
  g_assert_cmpmem (corner[1], sizeof corner[1], corner[0], sizeof corner[0]);
  g_assert_cmpmem (iou[1], sizeof iou[1], iou[0], sizeof iou[0]);
  for (int p = 0; p < PAIRS; p++)
    g_assert_cmpfloat (iou[0][p], ==, ref_iou (pairs[p][0], pairs[p][1]));
}

static const TestCase cases[] = { TEST_ROWS ("/fpmode/%s/results", test_results, mode_names),
  TEST_ROWS ("/fpmode/%s/errors", test_errors, mode_names),
  TEST_ROWS ("/fpmode/%s/helpers", test_helpers, mode_names),

  { NULL } };

TEST_PROGRAM (cases);
