/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests engine xla on a real device, that of the plugin in NMS_TEST_XLA_PLUGIN, as it is, as a TPU,
 * and with faults (tests/accel/wrappedpjrt.c, at WRAPPED). The programs that run enginecheck use
 * that variable too and compare results with the reference. tests/tpu tests the arithmetic of the
 * kernel.
 */
#include "accel/xla/xladevice.h"
#include "boxgen.h"
#include "frames.h"
#include "nmsxla.h"
#include "rounds.h"
#include "sanitized.h"
#include "testrunner.h"
#include "wrappedpjrt.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*become) (int);
static void (*be_tpu) (int);
static long (*compiled) (void);
static long (*executed) (void);
static long (*kernels) (void);
static long (*divisions) (void);
static long (*sent) (void);
static long (*received) (void);

static const char *
find_functions (const char *needs)
{
  void *library;

  if (!g_getenv ("NMS_TEST_XLA_PLUGIN"))
    return "NMS_TEST_XLA_PLUGIN names no plugin; tools/fetch-xla.sh fetches one";
  library = dlopen (WRAPPED, RTLD_NOW | RTLD_LOCAL);
  g_assert_nonnull (library);
#define FIND(name) \
  *(void **) &name = dlsym (library, "wrappedpjrt_" #name); \
  g_assert_nonnull (name)
  FIND (become);
  FIND (be_tpu);
  FIND (compiled);
  FIND (executed);
  FIND (kernels);
  FIND (divisions);
  FIND (sent);
  FIND (received);
  return NULL;
}

/* Makes a frame for the wrapped device, with or without NMS_XLA_STRICT. */
static void
start (Frame *f, size_t count, int strict)
{
  frame_init (f, count, (uint32_t) count);
  f->options.engine = NMS_ENGINE_ADDED;
  f->plugin = WRAPPED;
  f->strict = strict;
}

/* Checks that the device ran the last frame and is not refused. */
static void
check_in_use (nms_context *ctx, const char *name)
{
  g_assert_cmpint (nms_context_engine (ctx), ==, NMS_ENGINE_ADDED);
  g_assert_cmpstr (nms_context_engine_in_use (ctx), ==, name);
  g_assert_null (nms_context_engine_reason (ctx));
}

/* Runs frames until the device runs or is refused; every result must be right. */
static void
run_until_settled (Frame *f, nms_context *ctx)
{
  gint64 end = g_get_monotonic_time () + 200 * G_TIME_SPAN_SECOND;

  do {
    frame_check (f, ctx);
    g_usleep (1000);
  } while (nms_context_engine (ctx) != NMS_ENGINE_ADDED && !nms_context_engine_reason (ctx)
      && g_get_monotonic_time () < end);
}

/* ------------------------------------------------------------------- programs */

/* A stream whose number of boxes changes: one program for each padded size. */
static void
test_sizes (void)
{
  static const size_t sizes[] = { 0, 1, 2, 127, 128, 129, 200, 255, 256, 257, 511, 512, 513, 1 };
  nms_context *ctx = nms_context_new ();
  long before = compiled ();

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_auto (Frame) f = { 0 };
    start (&f, sizes[i], 1);
    f.has_engine = i > 0;
    frame_check (&f, ctx);
    check_in_use (ctx, "xla:cpu");
  }
  g_assert_cmpint (compiled () - before, ==, 4); /* 128, 256, 512, 1024 */
  for (size_t n = 1; n < 1024; n += 31) {
    g_auto (Frame) f = { 0 };
    start (&f, n, 1);
    f.has_engine = 1;
    frame_check (&f, ctx);
  }
  g_assert_cmpint (compiled () - before, ==, 4);
  nms_context_free (&ctx);
  frame_check_closed ();
}

/* Changed thresholds, caps, switches and scores use the same program. */
static void
test_thousand_settings (void)
{
  nms_context *ctx = nms_context_new ();
  GRand *random = g_rand_new_with_seed (1);
  long before = compiled ();
  Frame f;

  start (&f, 60, 1);
  for (int i = 0; i < 1000; i++) {
    f.options.iou_threshold = (float) g_rand_double_range (random, 0, 1);
    f.options.score_threshold = (float) g_rand_double_range (random, 0, 1);
    f.options.max_detections = (uint64_t) g_rand_int_range (random, 0, 20);
    f.options.inclusive = (uint8_t) g_rand_int_range (random, 0, 2);
    f.options.score_strict = (uint8_t) g_rand_int_range (random, 0, 2);
    frame_check (&f, ctx);
  }
  check_in_use (ctx, "xla:cpu");
  g_assert_cmpint (compiled () - before, ==, 1);
  frame_clear (&f);
  g_rand_free (random);
  nms_context_free (&ctx);
  frame_check_closed ();
}

/* Each frame has one launch. */
static void
test_one_launch (void)
{
  nms_context *ctx = nms_context_new ();
  long before;
  Frame f;

  start (&f, 100, 1);
  frame_check (&f, ctx);
  before = executed ();
  for (int i = 0; i < 10; i++)
    frame_check (&f, ctx);
  g_assert_cmpint (executed () - before, ==, 10);
  frame_clear (&f);
  nms_context_free (&ctx);
  frame_check_closed ();
}

/* Contexts share programs, and the last context closes the client. */
static void
test_shared (void)
{
  nms_context *first = nms_context_new (), *second = nms_context_new ();
  long before = compiled ();
  Frame f;

  start (&f, 50, 1);
  frame_check (&f, first);
  frame_check (&f, second);
  check_in_use (second, "xla:cpu");
  g_assert_cmpint (compiled () - before, ==, 1);
  g_assert_cmpuint (nms__xla_device_count (), ==, 1);
  nms_context_free (&first);
  frame_check (&f, second);
  nms_context_free (&second);
  frame_check_closed ();
  first = nms_context_new ();
  f.added_to = NULL;
  frame_check (&f, first);
  g_assert_cmpint (compiled () - before, ==, 2);
  nms_context_free (&first);
  frame_clear (&f);
  frame_check_closed ();
}

static gpointer
run_some (gpointer seed)
{
  g_autoptr (nms_context) ctx = nms_context_new ();

  for (size_t i = 0; i < 12; i++) {
    g_auto (Frame) f = { 0 };
    start (&f, 1 + (GPOINTER_TO_SIZE (seed) * 97 + i * 53) % 300, GPOINTER_TO_SIZE (seed) % 2 == 0);
    f.has_engine = i > 0;
    frame_check (&f, ctx);
  }
  g_assert_null (nms_context_engine_reason (ctx));
  return NULL;
}

/* Threads with a context each run frames of many sizes. */
static void
test_threads (void)
{
  for (int tpu = 0; tpu < 2; tpu++) {
    GThread *threads[4];
    be_tpu (tpu);
    for (size_t i = 0; i < G_N_ELEMENTS (threads); i++)
      threads[i] = g_thread_new ("frames", run_some, GSIZE_TO_POINTER (i));
    for (size_t i = 0; i < G_N_ELEMENTS (threads); i++)
      g_thread_join (threads[i]);
    frame_check_closed ();
  }
  be_tpu (0);
}

/* The native engines run until the program is ready, without a wait. */
static void
test_native_meanwhile (void)
{
  nms_context *ctx = nms_context_new ();
  Frame f;

  start (&f, 90, 0);
  frame_check (&f, ctx);
  g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
  g_assert_true (g_str_has_suffix (nms_context_engine_in_use (ctx), nms_context_isa (ctx)));
  run_until_settled (&f, ctx);
  check_in_use (ctx, "xla:cpu");
  frame_clear (&f);

  /* a context freed while its program is compiled */
  start (&f, 300, 0);
  frame_check (&f, ctx);
  nms_context_free (&ctx);
  frame_clear (&f);
  frame_check_closed ();
}

/* ------------------------------------------------------------------------ TPU */

/* Runs random calls and compares them with the reference. */
static void
test_tpu_random (void)
{
  static const size_t counts[] = { 3, 40, 127, 128, 129, 300 };
  nms_context *ctx = nms_context_new ();
  Frame f;

  be_tpu (1);
  start (&f, 0, 1);
  frame_add_engine (&f, ctx);
  for (uint64_t seed = 1; seed <= MIN (1000, rounds_from_environment ("NMS_TEST_ROUNDS", 300));
       seed++) {
    BoxRandom random = { seed };
    BoxCall call;
    const size_t most = counts[seed / BOXGEN_TEMPERS % G_N_ELEMENTS (counts)];
    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS),
        seed % 3 ? most : boxrandom_below (&random, (uint32_t) most));
    if (seed % 4 == 0)
      call.options.max_detections = boxrandom_below (&random, (uint32_t) most + 40);
    call.boxes.parent = (nms_column) { .data = NULL };
    if (!boxcall_is_native_only (&call)) { /* others reach no added engine */
      const long before = executed ();
      f.boxes = call.boxes;
      f.options = call.options;
      f.options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
      f.options.engine = NMS_ENGINE_ADDED;
      g_test_message ("seed %" G_GUINT64_FORMAT, seed);
      frame_check (&f, ctx);
      check_in_use (ctx, "xla:tpu");
      g_assert_cmpint (executed (), >, before);
    }
    boxcall_clear (&call);
  }
  g_assert_cmpint (kernels (), >, 0);
  nms_context_free (&ctx);
  frame_clear (&f);
  frame_check_closed ();
  be_tpu (0);
}

/* Frames of the maximum size; a cap, or few picks, limit the time. */
static void
test_tpu_largest (void)
{
  be_tpu (1);
  for (int capped = 0; capped < 2; capped++) {
    g_autoptr (nms_context) ctx = nms_context_new ();
    g_auto (Frame) f = { 0 };
    start (&f, NMS_XLA_MAX_BOXES, 1);
    f.options.max_detections = capped ? 40 : 0;
    f.options.iou_threshold = capped ? 0.5f : 0.0f;
    for (size_t i = 0; !capped && i < f.boxes.count; i++)
      f.rows[4 * i] = f.rows[4 * i + 1] = 0.0f; /* all boxes overlap */
    frame_check (&f, ctx);
    check_in_use (ctx, "xla:tpu");
  }
  frame_check_closed ();
  be_tpu (0);
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
  nms_context *ctx = nms_context_new ();
  const long before = kernels ();

  be_tpu (1);
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    for (int k = 0; k < 3; k++) {
      g_auto (Frame) f = { 0 };
      start (&f, rows[i].count, 1);
      f.has_engine = i + (size_t) k > 0;
      f.options.max_detections = rows[i].cap;
      f.options.iou_threshold = 0.2f + 0.1f * (float) i / 4.0f;
      f.options.inclusive = k & 1;
      frame_check (&f, ctx);
      g_assert_cmpint (kernels () - before, ==, rows[i].kernels);
    }
  g_assert_cmpint (nms_xla_engine_counters (WRAPPED, &counters), ==, NMS_OK);
  g_assert_cmpuint (counters.traces, ==, counters.hits + counters.misses);
  g_assert_cmpuint (counters.programs, ==, 6);
  g_assert_cmpuint (counters.misses, ==, 6);
  g_assert_cmpuint (counters.hits, ==, counters.runs);
  g_assert_cmpuint (counters.runs, >=, 3 * G_N_ELEMENTS (rows));
  nms_context_free (&ctx);
  frame_check_closed ();
  be_tpu (0);
}

/* Frames with parents run the graph, which must not divide on a TPU. */
static void
test_tpu_parents (void)
{
  nms_context *ctx = nms_context_new ();
  int32_t parent[50];
  const long before = kernels ();
  g_auto (Frame) f = { 0 };

  be_tpu (1);
  start (&f, G_N_ELEMENTS (parent), 1);
  for (size_t i = 0; i < G_N_ELEMENTS (parent); i++)
    parent[i] = (int32_t) i - 1;
  f.boxes.parent.data = parent;
  frame_check (&f, ctx);
  check_in_use (ctx, "xla:tpu");
  g_assert_cmpint (kernels (), ==, before);
  g_assert_cmpint (divisions (), ==, 0);
  nms_context_free (&ctx);
  frame_check_closed ();
  be_tpu (0);
}

/* No program of a device supports rotated boxes. */
static void
test_turned (void)
{
  nms_context *ctx = nms_context_new ();
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
  nms_context_free (&ctx);
  frame_check_closed ();
}

/* --------------------------------------------------------------- lazy tensors */

/* The copies between a program and the device: a tensor is sent once, a result that a later program
 * uses is neither read nor sent, and a result is read once. */
typedef nms_lazy_tensor Tensor;

#define COPIED 1000

static nms_lazy_cache *cache;
static nms_lazy *lz;
static const int32_t dims[] = { COPIED };

static long sent_before, received_before;

/* The copies since the last call, by the plugin's count and by that of the cache. */
static void
expect_copies (long there, long back)
{
  static nms_lazy_counters before;
  nms_lazy_counters c = { .size = sizeof c };

  g_assert_cmpint (nms_lazy_cache_counters (cache, &c), ==, NMS_OK);
  g_assert_cmpint (sent () - sent_before, ==, there);
  g_assert_cmpint (received () - received_before, ==, back);
  g_assert_cmpint ((long) (c.sent - before.sent), ==, there);
  g_assert_cmpint ((long) (c.fetched - before.fetched), ==, back);
  before = c;
  sent_before = sent ();
  received_before = received ();
}

static Tensor
times (Tensor a, Tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_MUL, a, b);
}

/* Reads x, or only computes it if `data` is NULL. */
static void
read_one (Tensor x, float *data)
{
  void *into[] = { data };

  if (nms_lazy_read (lz, 1, &x, into) < 0)
    g_error ("%s", nms_lazy_error (lz));
}

static void
check_copies (void)
{
  float data[COPIED], result[COPIED];
  Tensor x, y, z;

  for (int i = 0; i < COPIED; i++)
    data[i] = (float) i;
  x = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, data);
  expect_copies (0, 0);
  y = times (x, x);
  read_one (y, NULL);
  expect_copies (1, 0); /* x */
  z = times (y, x);
  read_one (z, NULL);
  expect_copies (0, 0); /* both are there */
  read_one (z, result);
  expect_copies (0, 1);
  for (int i = 0; i < COPIED; i++)
    g_assert_cmpfloat (result[i], ==, data[i] * data[i] * data[i]);
  read_one (z, result);
  read_one (x, result);
  expect_copies (0, 0); /* their values are here */
  g_assert_cmpfloat (result[7], ==, 7.0f);
  nms_lazy_clear (lz);
}

/* A loop whose state stays on the device: one copy there, one back. */
static void
check_loop (void)
{
  const int32_t scalar[] = { 1 };
  float sum;
  Tensor acc = nms_lazy_input_f32 (lz, 0.0f), step[2];

  step[1] = nms_lazy_input (lz, NMS_LAZY_F32, 1, scalar, (float[]) { 0.5f });
  step[1] = nms_lazy_reshape (lz, step[1], 0, NULL);
  read_one (step[1], NULL);
  expect_copies (1, 0);
  for (int i = 0; i < 100; i++) {
    step[0] = acc = nms_lazy_binary (lz, NMS_LAZY_ADD, acc, step[1]);
    read_one (acc, NULL);
    nms_lazy_keep (lz, 2, step);
  }
  expect_copies (1, 0); /* the 0 */
  read_one (acc, &sum);
  g_assert_cmpfloat (sum, ==, 50.0f);
  expect_copies (0, 1);
  nms_lazy_clear (lz);
}

/* Several outputs stay, of which one is read. A failed run leaves what it needs. */
static void
check_failed_run (void)
{
  float data[COPIED] = { 3.0f }, result[COPIED];
  Tensor x = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, data), y[2];

  y[0] = times (x, x);
  y[1] = times (y[0], x);
  become (WRAPPED_EXECUTE_FAILS);
  g_assert_cmpint (nms_lazy_read (lz, 2, y, (void *[]) { NULL, result }), ==, NMS_ERROR_DEVICE);
  become (WRAPPED_AS_IT_IS);
  expect_copies (1, 0);
  g_assert_cmpint (nms_lazy_read (lz, 2, y, (void *[]) { NULL, result }), ==, NMS_OK);
  expect_copies (0, 1);
  g_assert_cmpfloat (result[0], ==, 27.0f);
  nms_lazy_clear (lz);
}

static void
test_copies (void)
{
  nms_lazy_backend *backend;

  g_assert_cmpint (nms_xla_open (WRAPPED, &backend, NULL, 0), ==, NMS_OK);
  cache = nms_lazy_cache_new (backend, 0);
  lz = nms_lazy_new (cache);
  sent_before = sent ();
  received_before = received ();
  check_copies ();
  check_loop ();
  check_failed_run ();
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
start_classes (Frame *f, int tpu)
{
  static int32_t class_id[80];

  start (f, G_N_ELEMENTS (class_id), 0);
  for (int32_t i = 0; i < (int32_t) G_N_ELEMENTS (class_id); i++)
    class_id[i] = i % 3 - 1;
  if (tpu)
    f->boxes.class_id.data = class_id;
  f->options.max_per_class = tpu ? 9 : 0;
}

/* Checks the reason, and that a strict frame fails with it. */
static void
check_reason (Frame *f, nms_context *ctx, size_t row, const char *must)
{
  const char *reason = nms_context_engine_reason (ctx);

  if (!reason || !strstr (reason, must))
    g_error ("fault %zu: \"%s\" does not say \"%s\"", row, reason, must);
  g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
  f->strict = 1;
  frame_fails (f, ctx, NMS_ERROR_DEVICE, must);
}

/* A fault in the check before use: the native engines run, with one reason, and there is no other
 * attempt. */
static void
test_refused (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (faults); i++) {
    if (!faults[i].refused)
      continue;
    nms_context *ctx = nms_context_new ();
    Frame f;
    be_tpu (faults[i].tpu);
    become (faults[i].what);
    start_classes (&f, faults[i].tpu);
    run_until_settled (&f, ctx);
    g_assert_nonnull (nms_context_engine_reason (ctx));
    const long compilations = compiled (), runs = executed ();
    for (int again = 0; again < 3; again++)
      frame_check (&f, ctx);
    g_assert_cmpint (compiled (), ==, compilations);
    g_assert_cmpint (executed (), ==, runs);
    check_reason (&f, ctx, i, faults[i].refused);
    nms_context_free (&ctx);

    ctx = nms_context_new ();
    f.added_to = NULL;
    frame_fails (&f, ctx, NMS_ERROR_DEVICE, faults[i].refused);
    nms_context_free (&ctx);
    become (WRAPPED_AS_IT_IS);
    be_tpu (0);
    frame_clear (&f);
    frame_check_closed ();
  }
}

/* A fault in the middle of a stream: the native engines run the same frame, which is unchanged. */
static void
test_broken (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (faults); i++) {
    if (!faults[i].broken)
      continue;
    nms_context *ctx = nms_context_new ();
    Frame f;
    be_tpu (faults[i].tpu);
    start_classes (&f, faults[i].tpu);
    run_until_settled (&f, ctx);
    check_in_use (ctx, faults[i].tpu ? "xla:tpu" : "xla:cpu");
    become (faults[i].what);
    frame_check (&f, ctx);
    check_reason (&f, ctx, i, faults[i].broken);
    become (WRAPPED_AS_IT_IS);
    be_tpu (0);
    nms_context_free (&ctx);
    frame_clear (&f);
    frame_check_closed ();
  }
}

static int
in_child (Frame *f, nms_context *ctx)
{
  nms_result result = { .size = sizeof result };
  g_autoptr (nms_context) other = nms_context_new ();
  int wrong = 0;

  alarm (60);
  f->strict = 0;
  wrong |= frame_run (f, ctx, &result) != NMS_OK;
  wrong |= 2 * (nms_context_engine (ctx) == NMS_ENGINE_ADDED);
  wrong |= 4
      * (!nms_context_engine_reason (ctx) || !strstr (nms_context_engine_reason (ctx), "forked"));
  f->strict = 1;
  wrong |= 8 * (frame_run (f, ctx, &result) != NMS_ERROR_DEVICE);
  wrong |= 16 * (frame_run (f, other, &result) != NMS_ERROR_DEVICE);
  nms_context_free (&ctx);
  return wrong;
}

/* A forked child returns an error instead of waiting for threads of the parent, which
 * has a program or, without the address sanitizer (see sanitized.h), is compiling one. */
static void
test_fork (void)
{
  for (int strict = SANITIZED; strict < 2; strict++) {
    nms_context *ctx = nms_context_new ();
    Frame f;
    int status;
    pid_t child;

    start (&f, 40, strict);
    frame_check (&f, ctx);
    child = fork ();
    if (child == 0)
      _exit (in_child (&f, ctx));
    g_assert_cmpint (waitpid (child, &status, 0), ==, child);
    g_assert_true (WIFEXITED (status));
    g_assert_cmpint (WEXITSTATUS (status), ==, 0);
    run_until_settled (&f, ctx);
    check_in_use (ctx, "xla:cpu");
    nms_context_free (&ctx);
    frame_clear (&f);
    frame_check_closed ();
  }
}

static const TestCase cases[] = { CASE (test_sizes), CASE (test_thousand_settings),
  CASE (test_one_launch), CASE (test_shared), CASE (test_threads), CASE (test_native_meanwhile),
  CASE (test_tpu_random), CASE (test_tpu_largest), CASE (test_tpu_programs),
  CASE (test_tpu_parents), CASE (test_turned), CASE (test_copies), CASE (test_refused),
  CASE (test_broken), CASE (test_fork), { NULL } };

TEST_PROGRAM (cases, find_functions);
