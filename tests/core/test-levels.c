/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares every instruction set that runs here with plain C, bit for bit: for all box
 * counts around the width of a vector and of a block, ordinary and hostile input. With
 * --bench prints the time of a call for each of them instead.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The instruction sets of this architecture; an older processor lacks some of them. */
#ifdef __aarch64__
static const char *const levels[] = { "scalar", "neon", NULL };
#else
static const char *const levels[] = { "scalar", "sse2", "avx2", "avx512", NULL };
#endif

/* Returns a context with that instruction set. Without it skips the test and returns
 * NULL. */
static nms_context *
context_at (const char *level)
{
  nms_context *ctx = nms_context_new ();

  if (nms_context_set_isa (ctx, level) == 0)
    return ctx;
  g_assert_cmpstr (nms_context_error (ctx), !=, "");
  g_test_skip (nms_context_error (ctx));
  nms_context_free (&ctx);
  return NULL;
}

static void
assert_same (const nms_result *a, const nms_result *b, size_t count)
{
  g_assert_cmpuint (a->kept_count, ==, b->kept_count);
  g_assert_cmpuint (a->suppressed_count, ==, b->suppressed_count);
  g_assert_cmpuint (a->over_cap_count, ==, b->over_cap_count);
  g_assert_cmpuint (a->filtered_count, ==, b->filtered_count);
  g_assert_cmpuint (a->invalid_count, ==, b->invalid_count);
  g_assert_cmpuint (a->not_candidate_count, ==, b->not_candidate_count);
  g_assert_cmpmem (a->kept, a->kept_count * sizeof *a->kept, b->kept,
      b->kept_count * sizeof *b->kept);
  g_assert_cmpmem (a->outcome, count, b->outcome, count);
  g_assert_cmpmem (a->suppressed_by, count * sizeof *a->suppressed_by, b->suppressed_by,
      count * sizeof *b->suppressed_by);
}

static void
compare_call (nms_context *plain, nms_context *other, BoxCall *call)
{
  const size_t count = call->boxes.count;
  uint32_t *neighbors[2] = { g_new0 (uint32_t, count + 1), g_new0 (uint32_t, count + 1) };

  call->options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
  for (int i = 1; i < ENGINECHECK_ENGINES; i++) {
    nms_result expected = { .size = sizeof expected }, result = { .size = sizeof result };
    call->options.engine = enginecheck_engines[i];
    g_assert_cmpint (nms_run (plain, &call->boxes, &call->options, &expected), ==, 0);
    g_assert_cmpint (nms_run (other, &call->boxes, &call->options, &result), ==, 0);
    assert_same (&result, &expected, count);
  }
  g_assert_cmpint (nms_count_neighbors (plain, &call->boxes, &call->options, neighbors[0]), ==, 0);
  g_assert_cmpint (nms_count_neighbors (other, &call->boxes, &call->options, neighbors[1]), ==, 0);
  g_assert_cmpmem (neighbors[0], count * sizeof (uint32_t), neighbors[1],
      count * sizeof (uint32_t));
  g_free (neighbors[0]);
  g_free (neighbors[1]);
}

static void
test_equal (gconstpointer row)
{
  const char *const *level = row;
  g_autoptr (nms_context) plain = nms_context_new (), other = context_at (*level);

  g_assert_cmpint (nms_context_set_isa (plain, "scalar"), ==, 0);
  for (size_t count = 0; other && count <= 260; count++)
    for (int temper = 0; temper < BOXGEN_TEMPERS; temper++) {
      BoxRandom random = { 1000 * count + (unsigned) temper };
      g_auto (BoxCall) call = { 0 };
      boxcall_random (&call, &random, temper, count);
      compare_call (plain, other, &call);
    }
}

static void
test_names (void)
{
  nms_context *ctx = nms_context_new ();
  const char *best = nms_context_isa (ctx);

  g_assert_nonnull (best);
  g_assert_cmpint (nms_context_set_isa (ctx, "scalar"), ==, 0);
  g_assert_cmpstr (nms_context_isa (ctx), ==, "scalar");
  g_assert_cmpint (nms_context_set_isa (ctx, "mmx"), ==, NMS_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (nms_context_error (ctx), "mmx"));
  g_assert_cmpstr (nms_context_isa (ctx), ==, "scalar");
#ifdef __aarch64__
  g_assert_cmpint (nms_context_set_isa (ctx, "avx2"), ==, NMS_ERROR_UNSUPPORTED);
#else
  g_assert_cmpint (nms_context_set_isa (ctx, "neon"), ==, NMS_ERROR_UNSUPPORTED);
#endif
  g_assert_cmpint (nms_context_set_isa (ctx, NULL), ==, 0);
  g_assert_cmpstr (nms_context_isa (ctx), ==, best);
  g_assert_cmpint (nms_context_set_isa (NULL, "scalar"), ==, NMS_ERROR_ARGUMENT);
  nms_context_free (&ctx);
}

/* Runs this program again with NMS_ISA=value, because a process reads the variable only
 * once. Its output must begin with `expected`. */
static void
run_child (const char *value, const char *expected)
{
  gchar **environment = g_environ_setenv (g_get_environ (), "NMS_ISA", value, TRUE);
  const gchar *wrapper = g_getenv ("MESON_EXE_WRAPPER"); /* an emulator */
  g_autofree gchar *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree gchar *line = g_strdup_printf ("%s '%s' --print-level", wrapper ? wrapper : "", self);
  gchar **argv = NULL;
  g_autofree gchar *output = NULL;
  int status;

  g_assert_true (g_shell_parse_argv (line, NULL, &argv, NULL));
  g_assert_true (g_spawn_sync (NULL, argv, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &output,
      NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  g_assert_true (g_str_has_prefix (output, expected));
  g_strfreev (argv);
  g_strfreev (environment);
}

static void
test_environment (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();

  run_child ("scalar", "scalar (obeyed)\n");
  for (size_t i = 1; levels[i]; i++)
    if (nms_context_set_isa (ctx, levels[i]) == 0) {
      g_autofree gchar *expected = g_strdup_printf ("%s (obeyed)\n", levels[i]);
      run_child (levels[i], expected);
    }
  nms_context_set_isa (ctx, NULL);
  g_autofree gchar *refused = g_strdup_printf ("%s (NMS_ISA=fast: unknown", nms_context_isa (ctx));
  if (!g_getenv ("NMS_ISA"))
    run_child ("fast", refused);
}

static int
print_level (void)
{
  g_autoptr (nms_context) ctx = nms_context_new ();
  const char *refusal = nms_isa_reason ();

  printf ("%s (%s)\n", nms_context_isa (ctx), refusal ? refusal : "obeyed");
  return 0;
}

/* -------------------------------------------------------------------- bench */

static int
compare_times (const void *a, const void *b)
{
  gint64 left = *(const gint64 *) a, right = *(const gint64 *) b;
  return (left > right) - (left < right);
}

/* Returns the median time of a call in nanoseconds. Repeats the call until a measurement
 * is long enough for the clock. */
static double
median_time (nms_context *ctx, const BoxCall *call, const nms_options *options)
{
  enum { BATCHES = 31 };
  gint64 times[BATCHES];
  nms_result result = { .size = sizeof result };
  int batch = 1;

  for (;;) {
    for (int i = 0; i < BATCHES; i++) {
      gint64 start = g_get_monotonic_time ();
      for (int k = 0; k < batch; k++)
        if (nms_run (ctx, &call->boxes, options, &result) < 0)
          g_error ("%s", nms_context_error (ctx));
      times[i] = g_get_monotonic_time () - start;
    }
    qsort (times, BATCHES, sizeof *times, compare_times);
    if (times[BATCHES / 2] >= 200)
      return (double) times[BATCHES / 2] * 1000.0 / batch;
    batch *= 4;
  }
}

static int
bench (void)
{
  static const size_t counts[] = { 16, 100, 1024, 8400 };

  printf ("%-7s %6s %12s %12s %12s   (median us a call, crowded boxes)\n", "level", "boxes", "auto",
      "sequential", "sorted");
  for (size_t l = 0; levels[l]; l++) {
    g_autoptr (nms_context) ctx = nms_context_new ();
    for (size_t c = 0; c < G_N_ELEMENTS (counts); c++) {
      BoxRandom random = { counts[c] };
      BoxCall call;
      nms_options options;
      if (nms_context_set_isa (ctx, levels[l]) < 0)
        continue;
      boxcall_random (&call, &random, BOXGEN_CROWD, counts[c]);
      boxcall_distinct_scores (&call, &random);
      nms_options_init (&options, sizeof options);
      printf ("%-7s %6zu", levels[l], counts[c]);
      for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
        options.engine = enginecheck_engines[e];
        printf (" %12.2f", median_time (ctx, &call, &options) / 1000.0);
      }
      printf ("\n");
      boxcall_clear (&call);
    }
  }
  return 0;
}

static int
child (const char *argument)
{
  if (strcmp (argument, "--print-level") == 0)
    return print_level ();
  return strcmp (argument, "--bench") == 0 ? bench () : -1;
}

static const TestCase cases[] = { TEST_ROWS ("/levels/equal/%s", test_equal, levels + 1),
  CASE (test_names), CASE (test_environment), { NULL } };

TEST_PROGRAM (cases, .child = child);
