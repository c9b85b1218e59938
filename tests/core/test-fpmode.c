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

/* Does something in `mode`, which must not change it. The test itself computes only with integers
 * meanwhile. */
#define IN_MODE(mode, ...) \
  do { \
    enter (mode); \
    const uint64_t before = get_register (); \
    __VA_ARGS__; \
    const uint64_t after = get_register (); \
    enter (PLAIN); \
    g_assert_cmphex (after, ==, before); \
  } while (0)

/* Makes boxes whose overlaps are exact or next to the threshold, and subnormal scores
 * and thresholds, so that each mode would change the result. */
static void
check_results (Mode mode, nms_context *context, uint64_t seed)
{
  BoxRandom random = { 77000 + seed };
  g_auto (BoxCall) call = { 0 };
  g_auto (RefResult) expected = { 0 };
  const size_t n = boxrandom_below (&random, 150);
  int32_t kept[150], by[150];
  uint8_t outcome[150];
  uint32_t neighbors[150], must[150];
  nms_result result = { .size = sizeof result };
  const nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = n,
    .outcome = outcome,
    .suppressed_by = by };
  int error;

  boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), n);
  for (size_t i = 0; call.score && i < n; i += 3)
    call.score[i] *= 0x1p-140f; /* subnormal, all different or tied */
  ref_run (&call.boxes, &call.options, &expected);
  ref_count_neighbors (&call.boxes, &call.options, must);
  call.options.outputs = ENGINECHECK_OUTCOMES;
  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    call.options.engine = enginecheck_engines[e];
    IN_MODE (mode, error = nms_run (context, &call.boxes, &call.options, &result));
    g_assert_cmpint (error, ==, NMS_OK);
    g_assert_cmpstr (enginecheck_difference (&result, &expected, ENGINECHECK_OUTCOMES), ==, NULL);
  }
  /* any thread of the context may run the image */
  IN_MODE (mode, error = enginecheck_batch (context, &call.boxes, &call.options, &arrays, &result));
  g_assert_cmpint (error, ==, NMS_OK);
  g_assert_cmpstr (enginecheck_difference (&result, &expected, ENGINECHECK_OUTCOMES), ==, NULL);
  IN_MODE (mode, error = nms_count_neighbors (context, &call.boxes, &call.options, neighbors));
  g_assert_cmpint (error, ==, NMS_OK);
  g_assert_cmpmem (neighbors, n * sizeof *neighbors, must, n * sizeof *must);
}

/* The functions of nmscore.h that compute without a context. */
static void
check_helpers (Mode mode)
{
  /* sums that are rounded, and products and halves that are subnormal */
  static const float in[][4] = { { 0.1f, 0.2f, 0.3f, 0.7f }, { -0.1f, 16777216, 3, 1 },
    { 0, 0, 0x1p-126f, 0x1p-149f }, { 0x1p-149f, -0x1p-126f, 0x1p-130f, 0x1.8p-126f },
    { 1, 1, 0x1p-24f, 0x1.000002p-24f } };
  static const float pairs[][2][4] = { { { 0, 0, 3, 3 }, { 1, 1, 4, 4 } },
    { { 0, 0, 7, 3 }, { 0.1f, 0.2f, 5, 3.3f } },
    { { 0, 0, 0x1p56f, 0x1p56f }, { 0, 0, 0x1p-12f, 0x1p-8f } } };
  enum { N = G_N_ELEMENTS (in), PAIRS = G_N_ELEMENTS (pairs) };
  float rows[2][2][N][4], iou;

  for (int k = 0; k < 2; k++) {
    IN_MODE (k ? mode : PLAIN, nms_rows_from_cxcywh (in[0], N, rows[k][0][0]));
    IN_MODE (k ? mode : PLAIN, nms_rows_from_xywh (in[0], N, rows[k][1][0]));
  }
  g_assert_cmpmem (rows[1], sizeof rows[1], rows[0], sizeof rows[0]);
  for (int p = 0; p < PAIRS; p++) {
    IN_MODE (mode, iou = nms_iou (pairs[p][0], pairs[p][1]));
    g_assert_cmpfloat (iou, ==, ref_iou (pairs[p][0], pairs[p][1]));
  }
}

static void
test_mode (gconstpointer data)
{
  const Mode mode = (Mode) ((const char *const *) data - mode_names);
  g_autoptr (nms_context) context = nms_context_new ();
  int error;

  if (!takes_effect (mode)) {
    g_test_skip ("this machine does not have the mode");
    return;
  }
  IN_MODE (mode, error = nms_context_set_threads (context, 2)); /* (threads inherit the mode) */
  g_assert_cmpint (error, ==, NMS_OK);
  for (uint64_t seed = 0; seed < 600; seed++)
    check_results (mode, context, seed);
  check_helpers (mode);

  /* calls that fail do not change the mode either */
  nms_boxes boxes = { .size = sizeof boxes, .count = 3 };
  nms_result result = { .size = sizeof result };
  nms_options options;
  nms_options_init (&options, sizeof options);
  options.score_threshold = NAN;
  IN_MODE (mode, error = nms_run (context, &boxes, NULL, &result) < 0);
  boxes.count = 0;
  IN_MODE (mode, error += nms_run (context, &boxes, &options, &result) < 0);
  IN_MODE (mode, error += nms_count_neighbors (context, &boxes, &options, NULL) < 0);
  IN_MODE (mode, error += nms_run (NULL, &boxes, &options, &result) < 0);
  IN_MODE (mode, error += nms_run (context, &boxes, &options, NULL) < 0);
  IN_MODE (mode, error += nms_context_reserve (context, NMS_MAX_BOXES + 1, 0) < 0);
  g_assert_cmpint (error, ==, 6);
}

static const TestCase cases[] = { TEST_ROWS ("/fpmode/%s", test_mode, mode_names), { NULL } };

TEST_PROGRAM (cases);
