/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests engine xla on a real device, that of the plugin in NMS_TEST_XLA_PLUGIN, and on
 * the same device with faults (tests/accel/wrappedpjrt.c, at WRAPPED). The programs that
 * run enginecheck use that variable too and compare results with the reference.
 */
#include "accel/xla/xladevice.h"
#include "nmsxla.h"
#include "sanitized.h"
#include "testrunner.h"
#include "wrappedpjrt.h"
#include "xlaframes.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*become) (int);
static long (*compiled) (void);
static long (*executed) (void);

static const char *
find_functions (const char *needs)
{
  void *library;

  if (!g_getenv ("NMS_TEST_XLA_PLUGIN"))
    return "NMS_TEST_XLA_PLUGIN names no plugin; tools/fetch-xla.sh fetches one";
  library = dlopen (WRAPPED, RTLD_NOW | RTLD_LOCAL);
  g_assert_nonnull (library);
  *(void **) &become = dlsym (library, "wrappedpjrt_become");
  *(void **) &compiled = dlsym (library, "wrappedpjrt_compiled");
  *(void **) &executed = dlsym (library, "wrappedpjrt_executed");
  g_assert_true (become && compiled && executed);
  return NULL;
}

/* Makes a frame for the wrapped device, with or without NMS_XLA_STRICT. */
static void
start (Frame *f, size_t count, int strict)
{
  xlaframes_init (f, count, WRAPPED, strict);
}

static void
check_in_use (nms_context *ctx)
{
  xlaframes_check_in_use (ctx, "xla:cpu");
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
    check_in_use (ctx);
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
  check_in_use (ctx);
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
  check_in_use (second);
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

static void
test_threads (void)
{
  xlaframes_check_threads (WRAPPED);
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
  check_in_use (ctx);
  frame_clear (&f);

  /* a context freed while its program is compiled */
  start (&f, 300, 0);
  frame_check (&f, ctx);
  nms_context_free (&ctx);
  frame_clear (&f);
  frame_check_closed ();
}

/* ---------------------------------------------------------------- misbehaviour */

static void
check_refused (int what, const char *reason)
{
  nms_context *ctx = nms_context_new ();
  long before;
  Frame f;

  become (what);
  start (&f, 80, 0);
  run_until_settled (&f, ctx);
  g_assert_nonnull (nms_context_engine_reason (ctx));
  if (!strstr (nms_context_engine_reason (ctx), reason))
    g_error ("\"%s\" does not say \"%s\"", nms_context_engine_reason (ctx), reason);
  before = compiled ();
  for (int i = 0; i < 5; i++)
    frame_check (&f, ctx);
  g_assert_cmpint (compiled () - before, ==, 0);
  nms_context_free (&ctx);

  ctx = nms_context_new ();
  f.strict = 1;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, reason);
  nms_context_free (&ctx);
  become (WRAPPED_AS_IT_IS);
  frame_clear (&f);
  frame_check_closed ();
}

/* The same module without the maxima between products and sums. */
static void
test_contraction (void)
{
  check_refused (WRAPPED_CONTRACTS,
      "the device does not compute as IEEE binary32 requires (it "
      "contracts a product and a sum, in ");
}

static void
test_compile_fails (void)
{
  check_refused (WRAPPED_COMPILE_FAILS, "cannot compile: ");
}

/* Lets the device fail in the middle of a stream: the native engines run the same frame. */
static void
check_broken (int what, const char *reason)
{
  nms_context *ctx = nms_context_new ();
  Frame f;

  start (&f, 80, 0);
  run_until_settled (&f, ctx);
  check_in_use (ctx);
  become (what);
  frame_check (&f, ctx);
  g_assert_nonnull (strstr (nms_context_engine_reason (ctx), reason));
  g_assert_cmpint (nms_context_engine (ctx), !=, NMS_ENGINE_ADDED);
  f.strict = 1;
  frame_fails (&f, ctx, NMS_ERROR_DEVICE, reason);
  become (WRAPPED_AS_IT_IS);
  nms_context_free (&ctx);
  frame_clear (&f);
  frame_check_closed ();
}

static void
test_execute_fails (void)
{
  check_refused (WRAPPED_EXECUTE_FAILS, "the device failed: ");
  check_broken (WRAPPED_EXECUTE_FAILS, "the device failed: ");
}

/* A device that returns a position or a count that the frame cannot have. */
static void
test_out_of_range (void)
{
  for (int what = WRAPPED_SPOILS_1; what <= WRAPPED_SPOILS_2; what++)
    check_broken (what, "impossible results");
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
    check_in_use (ctx);
    nms_context_free (&ctx);
    frame_clear (&f);
    frame_check_closed ();
  }
}

static const TestCase cases[] = { CASE (test_sizes), CASE (test_thousand_settings),
  CASE (test_one_launch), CASE (test_shared), CASE (test_threads), CASE (test_native_meanwhile),
  CASE (test_contraction), CASE (test_compile_fails), CASE (test_execute_fails),
  CASE (test_out_of_range), CASE (test_fork), { NULL } };

TEST_PROGRAM (cases, find_functions);
