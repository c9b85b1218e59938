/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests engine xla on a device that reports a TPU as its platform
 * (tests/accel/faketpu.h): its modules, their arguments, and the results derived from
 * the picks. tests/tpu tests the arithmetic of the kernel.
 */
#include "boxgen.h"
#include "faketpu.h"
#include "nmsxla.h"
#include "testrunner.h"
#include "xlaframes.h"

#include <dlfcn.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN FAKE_PLUGINS "/fakepjrt-tpu.so"

static void (*become) (int);
static long (*compiled) (void), (*ran) (void), (*others) (void), (*alive) (void);
static int (*other_divides) (void);

static const char *
find_functions (const char *needs)
{
  void *library = dlopen (PLUGIN, RTLD_NOW | RTLD_LOCAL);

  g_assert_nonnull (library);
  *(void **) &become = dlsym (library, "faketpu_become");
  *(void **) &compiled = dlsym (library, "faketpu_compiled");
  *(void **) &ran = dlsym (library, "faketpu_ran");
  *(void **) &others = dlsym (library, "faketpu_others");
  *(void **) &other_divides = dlsym (library, "faketpu_other_divides");
  *(void **) &alive = dlsym (library, "fakepjrt_objects");
  g_assert_true (become && compiled && ran && others && other_divides && alive);
  return NULL;
}

static void
start (Frame *f, size_t count, int strict)
{
  xlaframes_init (f, count, PLUGIN, strict);
}

static void
check_in_use (nms_context *ctx)
{
  xlaframes_check_in_use (ctx, "xla:tpu");
}

static guint64
rounds (guint64 otherwise)
{
  const char *text = g_getenv ("NMS_TEST_ROUNDS");
  guint64 asked = text ? g_ascii_strtoull (text, NULL, 10) : otherwise;

  return MIN (asked, otherwise);
}

/* -------------------------------------------------------------------- results */

/* Runs one random call and describes its difference from the reference. */
static char *
check_call (nms_context *ctx, BoxCall *call, uint32_t outputs)
{
  nms_result result = { .size = sizeof result };
  RefResult expected;
  char *difference;
  const long before = ran ();

  call->boxes.parent = (nms_column) { .data = NULL };
  call->options.outputs = outputs;
  call->options.engine = NMS_ENGINE_ADDED;
  int code = nms_run (ctx, &call->boxes, &call->options, &result);
  if (code)
    return g_strdup_printf ("%s: %s", nms_strerror (code), nms_context_error (ctx));
  check_in_use (ctx);
  g_assert_cmpint (ran (), >, before);
  ref_run (&call->boxes, &call->options, &expected);
  difference = enginecheck_difference_of (&result, &expected, outputs);
  ref_result_clear (&expected);
  return difference;
}

static void
test_random (void)
{
  static const size_t counts[] = { 3, 40, 127, 128, 129, 300 };
  nms_context *ctx = nms_context_new ();
  const long others_before = others ();

  xlaframes_ask (ctx, PLUGIN, 1);
  for (guint64 seed = 1; seed <= rounds (1000); seed++) {
    BoxRandom random = { seed };
    BoxCall call;
    const size_t most = counts[seed / BOXGEN_TEMPERS % G_N_ELEMENTS (counts)];
    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS),
        seed % 3 ? most : boxrandom_below (&random, (uint32_t) most));
    if (seed % 4 == 0)
      call.options.max_detections = boxrandom_below (&random, (uint32_t) most + 40);
    if (boxcall_is_native_only (&call)) { /* frames that no added engine gets */
      boxcall_clear (&call);
      continue;
    }
    char *difference = check_call (ctx, &call, boxrandom_below (&random, 4));
    if (difference)
      g_error ("seed %" G_GUINT64_FORMAT ", %zu boxes: %s", seed, call.boxes.count, difference);
    boxcall_clear (&call);
  }
  g_assert_cmpint (others (), ==, others_before);
  nms_context_free (&ctx);
  frame_check_closed ();
  g_assert_cmpint (alive (), ==, 0);
}

/* Frames of the maximum size; a cap, or few picks, limit the time. */
static void
test_largest (void)
{
  for (int capped = 0; capped < 2; capped++) {
    g_autoptr (nms_context) ctx = nms_context_new ();
    nms_result result = { .size = sizeof result };
    const long others_before = others ();
    int32_t kept[40];
    g_auto (Frame) f = { 0 };
    start (&f, NMS_XLA_MAX_BOXES, 1);
    f.options.max_detections = capped ? 40 : 0;
    f.options.iou_threshold = capped ? 0.5f : 0.0f;
    for (size_t i = 0; !capped && i < f.boxes.count; i++)
      f.rows[4 * i] = f.rows[4 * i + 1] = 0.0f; /* all boxes overlap */
    g_assert_cmpint (frame_run (&f, ctx, &result), ==, NMS_OK);
    check_in_use (ctx);
    g_assert_cmpuint (result.kept_count, ==, capped ? 40 : 1);
    memcpy (kept, result.kept, result.kept_count * sizeof *kept);
    g_assert_cmpint (others (), ==, others_before);
    f.options.engine = NMS_ENGINE_SORTED;
    g_assert_cmpint (frame_run (&f, ctx, &result), ==, NMS_OK);
    g_assert_cmpmem (kept, (capped ? 40 : 1) * sizeof *kept, result.kept,
        result.kept_count * sizeof *kept);
  }
  frame_check_closed ();
  g_assert_cmpint (alive (), ==, 0);
}

/* ------------------------------------------------------------------- programs */

/* There is one kernel for each padded size and each power of two of the cap. */
static void
test_programs (void)
{
  static const struct {
    size_t count, cap;
    long kernels;
  } rows[] = {
    { 60, 0, 1 }, { 128, 7, 1 }, { 1, 128, 1 }, { 100, 500, 1 },   /* 128 of 128 */
    { 129, 0, 2 }, { 256, 129, 2 }, { 200, 1000, 2 },              /* 256 of 256 */
    { 200, 1, 3 }, { 250, 128, 3 },                                /* 128 of 256 */
    { 400, 0, 4 }, { 400, 257, 4 }, { 400, 200, 5 }, { 300, 5, 6 } /* of 512 */
  };
  nms_lazy_counters counters = { .size = sizeof counters };
  nms_context *ctx = nms_context_new ();
  const long before = compiled ();

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    for (int k = 0; k < 3; k++) {
      g_auto (Frame) f = { 0 };
      start (&f, rows[i].count, 1);
      f.has_engine = i + (size_t) k > 0;
      f.options.max_detections = rows[i].cap;
      f.options.iou_threshold = 0.2f + 0.1f * (float) i / 4.0f;
      f.options.inclusive = k & 1;
      frame_check (&f, ctx);
      g_assert_cmpint (compiled () - before, ==, rows[i].kernels);
    }
  g_assert_cmpint (nms_xla_engine_counters (PLUGIN, &counters), ==, NMS_OK);
  g_assert_cmpuint (counters.traces, ==, counters.hits + counters.misses);
  g_assert_cmpuint (counters.programs, ==, 6);
  g_assert_cmpuint (counters.misses, ==, 6);
  g_assert_cmpuint (counters.hits, ==, counters.runs);
  g_assert_cmpuint (counters.runs, >=, 3 * G_N_ELEMENTS (rows));
  nms_context_free (&ctx);
  frame_check_closed ();
  g_assert_cmpint (alive (), ==, 0);
}

static void
test_threads (void)
{
  xlaframes_check_threads (PLUGIN);
  g_assert_cmpint (alive (), ==, 0);
}

/* Frames with parents run the graph, which must not divide on a TPU. */
static void
test_parents (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  int32_t parent[50];
  const long kernels = compiled (), graphs = others ();
  g_auto (Frame) f = { 0 };

  start (&f, G_N_ELEMENTS (parent), 1);
  for (size_t i = 0; i < G_N_ELEMENTS (parent); i++)
    parent[i] = (int32_t) i - 1;
  f.boxes.parent.data = parent;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, "cannot compile: client_compile takes the kernel alone");
  g_assert_cmpint (compiled (), ==, kernels);
  g_assert_cmpint (others (), ==, graphs + 1);
  g_assert_false (other_divides ());
}

/* No program of a device supports rotated boxes. */
static void
test_turned (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  float angle[50];
  g_auto (Frame) f = { 0 };

  start (&f, G_N_ELEMENTS (angle), 1);
  for (size_t i = 0; i < G_N_ELEMENTS (angle); i++)
    angle[i] = 0.3f * (float) (i % 5);
  f.boxes.angle.data = angle;
  frame_fails (&f, ctx, NMS_ERROR_UNSUPPORTED, "engine xla: it does not take rotated boxes");
  f.strict = 0;
  for (int i = 0; i < 3; i++) {
    nms_result result = { .size = sizeof result };
    g_assert_cmpint (frame_run (&f, ctx, &result), ==, NMS_OK);
    g_assert_cmpint (nms_context_engine (ctx), ==, NMS_ENGINE_SORTED);
  }
  g_assert_null (nms_context_engine_reason (ctx));
}

/* ---------------------------------------------------------------- misbehaviour */

static const struct {
  int what;
  const char *reason;
} wrongs[] = {
  { FAKETPU_REFUSES, "cannot compile: client_compile has no room for it" },
  { FAKETPU_FAILS, "the device failed: execute is out of order" },
  { FAKETPU_TIES, "impossible results" }, /* equal keys, out of order */
  { FAKETPU_EQUAL, "does not compute as IEEE binary32 requires (" },
  { FAKETPU_CAPS, "impossible results" },
  { FAKETPU_MOST, "impossible results" },
  { FAKETPU_CLASSES, "does not compute as IEEE binary32 requires (a frame of mixed boxes)" },
  { FAKETPU_TWICE, "impossible results" },
  { FAKETPU_BEYOND, "impossible results" },
  { FAKETPU_AFTER_END, "impossible results" },
};

/* A frame whose program has classes and caps. */
static void
start_classes (Frame *f, int32_t *class_id, int strict)
{
  start (f, 80, strict);
  for (int32_t i = 0; i < 80; i++)
    class_id[i] = i % 3 - 1;
  f->boxes.class_id.data = class_id;
  f->options.max_per_class = 9;
}

/* A fault in the check before use: the native engines run, with one reason, and there is
 * no other attempt. */
static void
test_refused (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (wrongs); i++) {
    nms_context *ctx = nms_context_new ();
    gint64 end = g_get_monotonic_time () + 100 * G_TIME_SPAN_SECOND;
    int32_t class_id[80];
    Frame f;
    become (wrongs[i].what);
    start_classes (&f, class_id, 0);
    while (!nms_context_engine_reason (ctx) && g_get_monotonic_time () < end) {
      frame_check (&f, ctx);
      if (nms_context_engine (ctx) == NMS_ENGINE_ADDED)
        g_error ("way %d is trusted", wrongs[i].what);
      g_usleep (500);
    }
    if (!strstr (nms_context_engine_reason (ctx), wrongs[i].reason))
      g_error ("way %d: \"%s\" does not say \"%s\"", wrongs[i].what,
          nms_context_engine_reason (ctx), wrongs[i].reason);
    const long kernels = compiled (), runs = ran ();
    for (int again = 0; again < 3; again++)
      frame_check (&f, ctx);
    g_assert_cmpint (compiled (), ==, kernels);
    g_assert_cmpint (ran (), ==, runs);
    nms_context_free (&ctx);

    ctx = nms_context_new ();
    f.strict = 1;
    frame_fails (&f, ctx, NMS_ERROR_DEVICE, wrongs[i].reason);
    nms_context_free (&ctx);
    frame_clear (&f);
    become (FAKETPU_RIGHT);
    frame_check_closed ();
    g_assert_cmpint (alive (), ==, 0);
  }
}

/* A fault in the middle of a stream: the native engines run the same frame, which is
 * unchanged. */
static void
test_breaks (void)
{
  static const int ways[] = { FAKETPU_FAILS, FAKETPU_TWICE, FAKETPU_BEYOND, FAKETPU_AFTER_END };

  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++) {
    nms_context *ctx = nms_context_new ();
    gint64 end = g_get_monotonic_time () + 100 * G_TIME_SPAN_SECOND;
    int32_t class_id[80];
    Frame f;
    start_classes (&f, class_id, 0);
    do
      frame_check (&f, ctx);
    while (nms_context_engine (ctx) != NMS_ENGINE_ADDED && g_get_monotonic_time () < end);
    check_in_use (ctx);
    become (ways[i]);
    frame_check (&f, ctx);
    g_assert_nonnull (nms_context_engine_reason (ctx));
    g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
    become (FAKETPU_RIGHT);
    nms_context_free (&ctx);
    frame_clear (&f);
    frame_check_closed ();
    g_assert_cmpint (alive (), ==, 0);
  }
}

static const TestCase cases[] = { CASE (test_random), CASE (test_largest), CASE (test_programs),
  CASE (test_threads), CASE (test_parents), CASE (test_turned), CASE (test_refused),
  CASE (test_breaks), { NULL } };

TEST_PROGRAM (cases, find_functions);
