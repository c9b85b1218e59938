/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests engine xla on a real device, that of the plugin in NMS_TEST_XLA_PLUGIN, as it is, as a TPU,
 * and with faults (tests/accel/wrappedpjrt.c, at WRAPPED). The programs that run enginecheck use
 * that variable too and compare results with the reference. tests/tpu tests the arithmetic of the
 * kernel.
 */
#include "accel/xla/xladevice.h"
#include "frames.h"
#include "nmsxla.h"
#include "sanitized.h"
#include "testrunner.h"
#include "wrappedpjrt.h"

#include <dlfcn.h>
#include <string.h>

static WrappedPjrt *wrapped;

static const char *
find_plugin (const char *needs)
{
  void *library;

  if (!g_getenv ("NMS_TEST_XLA_PLUGIN"))
    return "NMS_TEST_XLA_PLUGIN names no plugin; tools/fetch-xla.sh fetches one";
  library = dlopen (WRAPPED, RTLD_NOW | RTLD_LOCAL);
  g_assert_nonnull (library);
  wrapped = dlsym (library, "wrappedpjrt");
  g_assert_nonnull (wrapped);
  return NULL;
}

/* Makes a frame for the wrapped device, which is as it is or a TPU. */
static void
start (Frame *f, size_t count, int strict, int tpu)
{
  wrapped->is_tpu = tpu;
  frame_init (f, count, WRAPPED, strict);
}

/* Checks that the device ran the last frame and is not refused. */
static void
check_in_use (const Frame *f)
{
  g_assert_cmpint (nms_context_engine (f->ctx), ==, NMS_ENGINE_ADDED);
  g_assert_true (
      g_str_has_prefix (nms_context_engine_in_use (f->ctx), wrapped->is_tpu ? "xla:tpu" : "xla:"));
  g_assert_null (nms_context_engine_reason (f->ctx));
}

/* Runs frames until the device runs or is refused; every result must be right. */
static void
run_until_settled (Frame *f)
{
  gint64 end = g_get_monotonic_time () + 200 * G_TIME_SPAN_SECOND;

  do {
    frame_check (f);
    g_usleep (1000);
  } while (nms_context_engine (f->ctx) != NMS_ENGINE_ADDED && !nms_context_engine_reason (f->ctx)
      && g_get_monotonic_time () < end);
}

/* ------------------------------------------------------------------- programs */

/* A stream has one program for each padded size, whatever the number of boxes, thresholds, caps,
 * switches and scores, and each frame has one launch. */
static void
test_programs (void)
{
  static const size_t sizes[] = { 0, 1, 2, 127, 128, 129, 200, 255, 256, 257, 511, 512, 513, 1 };
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  const long before = wrapped->compiled;
  Frame f;

  start (&f, 0, 1, 0);
  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    frame_fill (&f, sizes[i]);
    frame_check (&f);
    check_in_use (&f);
  }
  g_assert_cmpint (wrapped->compiled - before, ==, 4); /* 128, 256, 512, 1024 */
  for (size_t n = 1; n < 1024; n += 31) {
    const long launches = wrapped->executed;
    frame_fill (&f, n);
    frame_check (&f);
    g_assert_cmpint (wrapped->executed - launches, ==, 1);
  }
  frame_fill (&f, 60);
  for (int i = 0; i < 1000; i++) {
    f.options.iou_threshold = (float) g_rand_double_range (random, 0, 1);
    f.options.score_threshold = (float) g_rand_double_range (random, 0, 1);
    f.options.max_detections = (uint64_t) g_rand_int_range (random, 0, 20);
    f.options.inclusive = (uint8_t) g_rand_int_range (random, 0, 2);
    f.options.score_strict = (uint8_t) g_rand_int_range (random, 0, 2);
    frame_check (&f);
  }
  check_in_use (&f);
  g_assert_cmpint (wrapped->compiled - before, ==, 4);
  frame_close (&f);
}

/* Contexts share programs, and the last context closes the client. */
static void
test_shared (void)
{
  const long before = wrapped->compiled;
  Frame first, second;

  start (&first, 50, 1, 0);
  start (&second, 50, 1, 0);
  frame_check (&first);
  frame_check (&second);
  check_in_use (&second);
  g_assert_cmpint (wrapped->compiled - before, ==, 1);
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  frame_clear (&first);
  frame_check (&second);
  frame_close (&second);
  start (&first, 50, 1, 0);
  frame_check (&first);
  g_assert_cmpint (wrapped->compiled - before, ==, 2);
  frame_close (&first);
}

/* Runs frames of many sizes; every other thread waits for programs, and threads from 4 on run on a
 * TPU. */
static gpointer
run_some (gpointer data)
{
  const size_t thread = GPOINTER_TO_SIZE (data);
  g_auto (Frame) f = { 0 };

  start (&f, 0, thread % 2 == 0, thread >= 4);
  for (size_t i = 0; i < 12; i++) {
    frame_fill (&f, 1 + (thread * 97 + i * 53) % 300);
    frame_check (&f);
  }
  g_assert_null (nms_context_engine_reason (f.ctx));
  return NULL;
}

static void
test_threads (void)
{
  for (size_t first = 0; first < 8; first += 4) {
    GThread *threads[4];
    for (size_t i = 0; i < G_N_ELEMENTS (threads); i++)
      threads[i] = g_thread_new ("frames", run_some, GSIZE_TO_POINTER (first + i));
    for (size_t i = 0; i < G_N_ELEMENTS (threads); i++)
      g_thread_join (threads[i]);
    frame_check_closed ();
  }
}

/* The native engines run until the program is ready, without a wait. */
static void
test_native_meanwhile (void)
{
  Frame f;

  start (&f, 90, 0, 0);
  frame_check (&f);
  g_assert_cmpint (nms_context_engine (f.ctx), !=, NMS_ENGINE_ADDED);
  g_assert_true (g_str_has_suffix (nms_context_engine_in_use (f.ctx), nms_context_isa (f.ctx)));
  run_until_settled (&f);
  check_in_use (&f);
  frame_fill (&f, 300);
  frame_check (&f);
  frame_close (&f); /* while its program is compiled */
}

/* ------------------------------------------------------------------------ TPU */

/* Runs random calls and compares them with the reference. */
static void
test_tpu_random (void)
{
  static const size_t counts[] = { 3, 40, 127, 128, 129, 300 };
  const uint64_t rounds = testrunner_rounds (300);
  Frame f;

  start (&f, 0, 1, 1);
  for (uint64_t seed = 1; seed <= rounds; seed++) {
    BoxRandom random = { seed };
    g_auto (BoxCall) call = { 0 };
    const size_t most = counts[seed / BOXGEN_TEMPERS % G_N_ELEMENTS (counts)];
    const long before = wrapped->executed;

    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS),
        seed % 3 ? most : boxrandom_below (&random, (uint32_t) most));
    if (seed % 4 == 0)
      call.options.max_detections = boxrandom_below (&random, (uint32_t) most + 40);
    call.boxes.parent = (nms_column) { .data = NULL };
    if (enginecheck_native_only (&call.boxes, &call.options))
      continue; /* reaches no added engine */
    f.boxes = call.boxes;
    f.options = call.options;
    f.options.outputs = ENGINECHECK_OUTCOMES;
    f.options.engine = NMS_ENGINE_ADDED;
    g_test_message ("seed %" G_GUINT64_FORMAT, seed);
    frame_check (&f);
    check_in_use (&f);
    g_assert_cmpint (wrapped->executed, >, before);
  }
  g_assert_cmpint (wrapped->kernels, >, 0);
  frame_close (&f);
}

/* Frames of the maximum size; a cap, or few picks, limit the time. */
static void
test_tpu_largest (void)
{
  for (int capped = 0; capped < 2; capped++) {
    Frame f;
    start (&f, NMS_XLA_MAX_BOXES, 1, 1);
    f.options.max_detections = capped ? 40 : 0;
    f.options.iou_threshold = capped ? 0.5f : 0.0f;
    for (size_t i = 0; !capped && i < f.boxes.count; i++)
      f.rows[4 * i] = f.rows[4 * i + 1] = 0.0f; /* all boxes overlap */
    frame_check (&f);
    check_in_use (&f);
    frame_close (&f);
  }
}

/* There is one kernel for each padded size and each power of two of the cap. */
static void
test_tpu_programs (void)
{
  static const struct {
    size_t count, cap;
    long kernels;
  } rows[] = {
    { 60, 0, 1 }, { 128, 7, 1 }, { 1, 128, 1 }, { 100, 500, 1 },   /* 128 of 128 */
    { 129, 0, 2 }, { 256, 129, 2 }, { 200, 1000, 2 },              /* 256 of 256 */
    { 250, 128, 3 }, { 200, 1, 3 },                                /* 128 of 256 */
    { 400, 0, 4 }, { 400, 257, 4 }, { 400, 200, 5 }, { 300, 5, 6 } /* of 512 */
  };
  nms_lazy_counters counters = { .size = sizeof counters };
  const long before = wrapped->kernels;
  Frame f;

  start (&f, 0, 1, 1);
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    for (int k = 0; k < 3; k++) {
      frame_fill (&f, rows[i].count);
      f.options.max_detections = rows[i].cap;
      f.options.iou_threshold = 0.2f + 0.1f * (float) i / 4.0f;
      f.options.inclusive = k & 1;
      frame_check (&f);
      g_assert_cmpint (wrapped->kernels - before, ==, rows[i].kernels);
    }
  g_assert_cmpint (nms_xla_engine_counters (WRAPPED, &counters), ==, NMS_OK);
  g_assert_cmpuint (counters.traces, ==, counters.hits + counters.misses);
  g_assert_cmpuint (counters.programs, ==, 6);
  g_assert_cmpuint (counters.misses, ==, 6);
  g_assert_cmpuint (counters.hits, ==, counters.runs);
  g_assert_cmpuint (counters.runs, >=, 3 * G_N_ELEMENTS (rows));
  frame_close (&f);
}

/* Frames with parents run the graph, which must not divide on a TPU. */
static void
test_tpu_parents (void)
{
  const long kernels = wrapped->kernels, divisions = wrapped->divisions;
  int32_t parent[50];
  Frame f;

  start (&f, G_N_ELEMENTS (parent), 1, 1);
  for (size_t i = 0; i < G_N_ELEMENTS (parent); i++)
    parent[i] = (int32_t) i - 1;
  f.boxes.parent.data = parent;
  frame_check (&f);
  check_in_use (&f);
  g_assert_cmpint (wrapped->kernels, ==, kernels);
  g_assert_cmpint (wrapped->divisions, ==, divisions);
  frame_close (&f);
}

/* No program of a device supports rotated boxes. */
static void
test_turned (void)
{
  float angle[50];
  Frame f;

  start (&f, G_N_ELEMENTS (angle), 1, 0);
  for (size_t i = 0; i < G_N_ELEMENTS (angle); i++)
    angle[i] = 0.3f * (float) (i % 5);
  f.boxes.angle.data = angle;
  frame_fails (&f, NMS_ERROR_UNSUPPORTED, "engine xla: it does not take rotated boxes");
  frame_use (&f, WRAPPED, 0);
  for (int i = 0; i < 3; i++) {
    frame_check (&f);
    g_assert_cmpint (nms_context_engine (f.ctx), ==, NMS_ENGINE_SORTED);
  }
  g_assert_null (nms_context_engine_reason (f.ctx));
  frame_close (&f);
}

/* --------------------------------------------------------------- lazy tensors */

static nms_lazy_cache *cache;
static nms_lazy *lz;

/* Checks the copies since the last call, by the plugin's count and by that of the cache. */
static void
expect_copies (long there, long back)
{
  static nms_lazy_counters before;
  static long sent, received;
  nms_lazy_counters c = { .size = sizeof c };

  g_assert_cmpint (nms_lazy_cache_counters (cache, &c), ==, NMS_OK);
  if (before.size) {
    g_assert_cmpint (wrapped->sent - sent, ==, there);
    g_assert_cmpint (wrapped->received - received, ==, back);
    g_assert_cmpint ((long) (c.sent - before.sent), ==, there);
    g_assert_cmpint ((long) (c.fetched - before.fetched), ==, back);
  }
  before = c;
  sent = wrapped->sent;
  received = wrapped->received;
}

static nms_lazy_tensor
times (nms_lazy_tensor a, nms_lazy_tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_MUL, a, b);
}

/* Reads x, or only computes it if `data` is NULL. */
static void
read_one (nms_lazy_tensor x, float *data)
{
  if (nms_lazy_read (lz, 1, &x, (void *[]) { data }) < 0)
    g_error ("%s", nms_lazy_error (lz));
}

/* The copies between a program and the device: a tensor is sent once, a result that a later program
 * uses is neither read nor sent, and a result is read once. */
static void
test_copies (void)
{
  static const int32_t two = 2;
  const float data[] = { 3.0f, 7.0f };
  float result[2];
  nms_lazy_backend *backend;
  nms_lazy_tensor x, y[2], z;

  wrapped->is_tpu = 0;
  g_assert_cmpint (nms_xla_open (WRAPPED, &backend, NULL, 0), ==, NMS_OK);
  cache = nms_lazy_cache_new (backend, 0);
  lz = nms_lazy_new (cache);
  expect_copies (0, 0); /* the first call only notes the counts */
  x = nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data);
  expect_copies (0, 0);
  y[0] = times (x, x);
  read_one (y[0], NULL);
  expect_copies (1, 0); /* x */
  z = times (y[0], x);
  read_one (z, NULL);
  expect_copies (0, 0); /* both are there */
  read_one (z, result);
  expect_copies (0, 1);
  g_assert_cmpfloat (result[0], ==, 27.0f);
  g_assert_cmpfloat (result[1], ==, 343.0f);
  read_one (z, result);
  read_one (x, result);
  expect_copies (0, 0); /* their values are here */
  g_assert_cmpfloat (result[1], ==, 7.0f);

  /* A run that fails leaves its input on the device, so that the next one copies nothing there.
   * Only the output that is read is copied back. */
  nms_lazy_clear (lz);
  x = nms_lazy_input (lz, NMS_LAZY_F32, 1, &two, data);
  y[0] = times (x, x);
  y[1] = times (y[0], x);
  wrapped->fault = WRAPPED_EXECUTE_FAILS;
  g_assert_cmpint (nms_lazy_read (lz, 2, y, (void *[]) { NULL, result }), ==, NMS_ERROR_DEVICE);
  wrapped->fault = WRAPPED_AS_IT_IS;
  expect_copies (1, 0);
  g_assert_cmpint (nms_lazy_read (lz, 2, y, (void *[]) { NULL, result }), ==, NMS_OK);
  expect_copies (0, 1);
  g_assert_cmpfloat (result[0], ==, 27.0f);
  nms_lazy_free (&lz);
  nms_lazy_cache_free (&cache);
  nms_xla_close (&backend);
}

/* ---------------------------------------------------------------- misbehaviour */

#define ARITHMETIC "the device does not compute as IEEE binary32 requires ("
#define IMPOSSIBLE "impossible results"

/* Faults of the device, and the text that the reason contains: when the program is checked before
 * use, and in the middle of a stream. NULL: that case is not tested. */
static const struct {
  int tpu, what;
  const char *refused, *broken;
} faults[] = {
  { 0, WRAPPED_CONTRACTS, ARITHMETIC "it contracts a product and a sum, in ", NULL },
  { 0, WRAPPED_COMPILE_FAILS, "cannot compile: ", NULL },
  { 0, WRAPPED_EXECUTE_FAILS, "the device failed: ", "the device failed: " },
  { 0, WRAPPED_SPOILS_1, NULL, IMPOSSIBLE },
  { 0, WRAPPED_SPOILS_2, NULL, IMPOSSIBLE },
  { 1, WRAPPED_COMPILE_FAILS, "cannot compile: ", NULL },
  { 1, WRAPPED_EXECUTE_FAILS, "the device failed: ", "the device failed: " },
  { 1, WRAPPED_TIES, IMPOSSIBLE, NULL }, /* equal keys, out of order */
  { 1, WRAPPED_EQUAL, ARITHMETIC, NULL },
  { 1, WRAPPED_CAPS, IMPOSSIBLE, NULL },
  { 1, WRAPPED_MOST, IMPOSSIBLE, NULL },
  { 1, WRAPPED_CLASSES, ARITHMETIC "a frame of mixed boxes)", NULL },
  { 1, WRAPPED_TWICE, IMPOSSIBLE, IMPOSSIBLE },
  { 1, WRAPPED_BEYOND, IMPOSSIBLE, IMPOSSIBLE },
  { 1, WRAPPED_AFTER_END, IMPOSSIBLE, IMPOSSIBLE },
};

/* Makes a frame whose kernel, on a TPU, has classes and caps. */
static void
start_classes (Frame *f, int strict, int tpu)
{
  static int32_t class_id[80];

  start (f, G_N_ELEMENTS (class_id), strict, tpu);
  for (int32_t i = 0; i < (int32_t) G_N_ELEMENTS (class_id); i++)
    class_id[i] = i % 3 - 1;
  if (tpu)
    f->boxes.class_id.data = class_id;
  f->options.max_per_class = tpu ? 9 : 0;
}

/* Checks a fault that begins before the first frame, or in the middle of a stream. The native
 * engines run the frame that failed and all later ones; one reason is reported, and XLA is not
 * tried again. A strict engine fails with the reason. */
static void
check_fault (int what, int tpu, int in_stream, const char *must)
{
  Frame f;

  start_classes (&f, 0, tpu);
  if (in_stream) {
    run_until_settled (&f);
    check_in_use (&f);
  }
  wrapped->fault = what;
  run_until_settled (&f);
  g_assert_nonnull (nms_context_engine_reason (f.ctx));
  const long compilations = wrapped->compiled, runs = wrapped->executed;
  for (int again = 0; again < 3; again++)
    frame_check (&f);
  g_assert_cmpint (wrapped->compiled, ==, compilations);
  g_assert_cmpint (wrapped->executed, ==, runs);
  if (!strstr (nms_context_engine_reason (f.ctx), must))
    g_error ("\"%s\" does not say \"%s\"", nms_context_engine_reason (f.ctx), must);
  g_assert_cmpint (nms_context_engine (f.ctx), !=, NMS_ENGINE_ADDED);
  frame_use (&f, WRAPPED, 1);
  frame_fails (&f, NMS_ERROR_DEVICE, must);
  frame_close (&f);
  if (!in_stream) {
    start_classes (&f, 1, tpu);
    frame_fails (&f, NMS_ERROR_DEVICE, must);
    frame_close (&f);
  }
  wrapped->fault = WRAPPED_AS_IT_IS;
}

static void
test_faults (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (faults); i++) {
    g_test_message ("fault %zu", i);
    if (faults[i].refused)
      check_fault (faults[i].what, faults[i].tpu, 0, faults[i].refused);
    if (faults[i].broken)
      check_fault (faults[i].what, faults[i].tpu, 1, faults[i].broken);
  }
}

/* Checks in a forked child that the parent's engine cannot be used. */
static void
check_forked (Frame *f)
{
  if (f->strict) {
    frame_fails (f, NMS_ERROR_DEVICE, "forked");
    return;
  }
  frame_check (f);
  g_assert_cmpint (nms_context_engine (f->ctx), !=, NMS_ENGINE_ADDED);
  g_assert_nonnull (strstr (nms_context_engine_reason (f->ctx), "forked"));
}

static void
in_child (void *data)
{
  Frame *f = data, other;

  check_forked (f);
  frame_use (f, WRAPPED, !f->strict);
  check_forked (f);
  frame_init (&other, 40, WRAPPED, 1);
  check_forked (&other);
  frame_clear (&other);
  frame_clear (f);
}

/* A forked child returns an error instead of waiting for threads of the parent, which
 * has a program or, without the address sanitizer (see sanitized.h), is compiling one. */
static void
test_fork (void)
{
  for (int strict = SANITIZED; strict < 2; strict++) {
    Frame f;
    start (&f, 40, strict, 0);
    frame_check (&f);
    frame_fork (in_child, &f);
    run_until_settled (&f);
    check_in_use (&f);
    frame_close (&f);
  }
}

static const TestCase cases[] = { CASE (test_programs), CASE (test_shared), CASE (test_threads),
  CASE (test_native_meanwhile), CASE (test_tpu_random), CASE (test_tpu_largest),
  CASE (test_tpu_programs), CASE (test_tpu_parents), CASE (test_turned), CASE (test_copies),
  CASE (test_faults), CASE (test_fork), { NULL } };

TEST_PROGRAM (cases, find_plugin);
