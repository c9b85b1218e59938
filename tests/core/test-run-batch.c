/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms_run_batch: random calls on one and several threads, which enginecheck divides into images;
 * then errors, a forked process, and threads with contexts of their own.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "sharedcontext.h"
#include "scoped.h"
#include "testrunner.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A batch of two images with three boxes that do not meet, and space for the results. */
typedef struct {
  float rows[3][4];
  nms_boxes boxes;
  nms_options options;
  size_t images, offsets[3], kept_offsets[3];
  int32_t kept[3];
  nms_batch_arrays arrays;
  nms_result result;
} Batch;

static void
batch_init (Batch *b)
{
  *b = (Batch) { .images = 2, .offsets = { 0, 1, 3 } };
  for (int i = 0; i < 3; i++)
    memcpy (b->rows[i], (float[4]) { (float) i, 0, (float) i + 1, 1 }, sizeof b->rows[i]);
  b->boxes = (nms_boxes) { .size = sizeof b->boxes, .count = 3 };
  nms_boxes_set_rows (&b->boxes, b->rows[0]);
  nms_options_init (&b->options, sizeof b->options);
  b->arrays = (nms_batch_arrays) { .size = sizeof b->arrays,
    .kept = b->kept,
    .kept_capacity = 3,
    .kept_offsets = b->kept_offsets };
  b->result.size = sizeof b->result;
}

static int
batch_run (nms_context *ctx, Batch *b)
{
  return nms_run_batch (ctx, &b->boxes, b->offsets, b->images, &b->options, &b->arrays, &b->result);
}

/* Every third call has a method. */
static void
test_random (void)
{
  static const unsigned threads[] = { 1, 2, 3, 8, 1 };
  const uint64_t rounds = testrunner_rounds (50);
  const uint64_t first = testrunner_number ("NMS_TEST_SEED", 1);

  for (size_t t = 0; t < G_N_ELEMENTS (threads); t++) {
    g_assert_cmpint (nms_context_set_threads (context, threads[t]), ==, NMS_OK);
    for (uint64_t i = first; i < first + rounds; i++) {
      BoxRandom random = { i };
      g_auto (BoxCall) call = { 0 };
      const int temper = (int) (i % BOXGEN_TEMPERS);
      boxcall_random (&call, &random, temper, boxrandom_below (&random, 500));
      if (i % 3 == 0)
        boxcall_random_method (&call, &random, temper);
      g_assert_cmpstr (enginecheck_run (context, &call.boxes, &call.options, ENGINECHECK_FULL), ==,
          NULL);
      if (i % 16 == 3)
        nms_context_trim (context);
    }
  }
}

/* The threads use the context's instruction set, and the context reports what ran. */
static void
test_engine_in_use (void)
{
  Batch b;

  batch_init (&b);
  b.options.engine = NMS_ENGINE_SORTED;
  g_assert_cmpint (nms_context_set_threads (context, 4), ==, NMS_OK);
  g_assert_cmpint (nms_context_set_isa (context, "scalar"), ==, NMS_OK);
  for (int i = 0; i < 50; i++) {
    g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
    g_assert_cmpstr (nms_context_engine_in_use (context), ==, "sorted/scalar");
    g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SORTED);
  }
  g_assert_cmpint (nms_context_set_isa (context, NULL), ==, NMS_OK);
}

static void
must_fail (Batch *b, int code, const char *text)
{
  const nms_result before = b->result;

  g_assert_cmpint (batch_run (context, b), ==, code);
  g_assert_cmpstr (nms_context_error (context), ==, text);
  g_assert_cmpmem (&b->result, sizeof before, &before, sizeof before);
}

/* Wrong arguments. test-errors has those of nms_run, too. */
static void
test_errors (void)
{
#define AT(member) offsetof (Batch, member)
  static const struct {
    size_t at, value; /* index and number of the one wrong value of the batch */
    int code;
    const char *text;
  } wrong[] = { { AT (offsets[0]), 1, NMS_ERROR_ARGUMENT, "offsets[0] is 1, must be 0" },
    { AT (offsets[1]), 4, NMS_ERROR_ARGUMENT,
        "image 1: offsets[2] is 3, less than the offset before it, 4" },
    { AT (offsets[2]), 2, NMS_ERROR_ARGUMENT, "the last offset is 2, boxes.count is 3" },
    { AT (offsets[2]), 4, NMS_ERROR_ARGUMENT, "the last offset is 4, boxes.count is 3" },
    { AT (arrays.kept_capacity), 2, NMS_ERROR_SPACE, "kept_capacity is 2, must be at least 3" },
    { AT (arrays.kept), 0, NMS_ERROR_ARGUMENT, "kept is NULL" },
    { AT (arrays.kept_offsets), 0, NMS_ERROR_ARGUMENT, "kept_offsets is NULL" } };
  g_autofree char *most = g_strdup_printf ("image 1: %zu boxes, at most %zu are possible",
      NMS_MAX_BOXES + 2, NMS_MAX_BOXES);
  Batch b;

  batch_init (&b);
  const Batch right = b;
  for (size_t i = 0; i < G_N_ELEMENTS (wrong); i++) {
    memcpy ((char *) &b + wrong[i].at, &wrong[i].value, sizeof wrong[i].value);
    must_fail (&b, wrong[i].code, wrong[i].text);
    b = right;
  }
  b.offsets[1] = 3;
  b.offsets[2] = b.boxes.count = NMS_MAX_BOXES + 5;
  must_fail (&b, NMS_ERROR_TOO_MANY_BOXES, most);
  b = right;
  g_assert_cmpint (batch_run (NULL, &b), ==, NMS_ERROR_ARGUMENT);
#define MUST_SAY(message, ...) \
  g_assert_cmpint (nms_run_batch (context, __VA_ARGS__), ==, NMS_ERROR_ARGUMENT); \
  g_assert_cmpstr (nms_context_error (context), ==, message);
  MUST_SAY ("boxes is NULL", NULL, b.offsets, 2, NULL, &b.arrays, &b.result)
  MUST_SAY ("offsets is NULL", &b.boxes, NULL, 2, NULL, &b.arrays, &b.result)
  MUST_SAY ("arrays is NULL", &b.boxes, b.offsets, 2, NULL, NULL, &b.result)
  MUST_SAY ("result is NULL", &b.boxes, b.offsets, 2, NULL, &b.arrays, NULL)
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
  b.images = b.boxes.count = 0;
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
  g_assert_cmpuint (b.result.kept_count, ==, 0);
}

/* With a cap fewer kept boxes need space. The error of an image names it, whichever thread ran
 * it. */
static void
test_errors_of_images (void)
{
  static const nms_class_options twice[2] = { { .size = sizeof *twice },
    { .size = sizeof *twice } };
  Batch b;

  batch_init (&b);
  b.arrays.kept_capacity = 2;
  b.options.max_detections = 1;
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
  b.options.class_options = twice;
  b.options.class_option_count = 2;
  for (unsigned threads = 1; threads < 4; threads++) {
    g_assert_cmpint (nms_context_set_threads (context, threads), ==, NMS_OK);
    must_fail (&b, NMS_ERROR_DUPLICATE_CLASS, "image 0: class 0 is listed twice");
  }
  b.options.class_option_count = 0;
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
}

static void
test_thread_numbers (void)
{
  g_assert_cmpint (nms_context_set_threads (NULL, 1), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (nms_context_set_threads (context, 0), ==, NMS_ERROR_RANGE);
  g_assert_cmpstr (nms_context_error (context), ==, "threads is 0, must be 1..1024");
  g_assert_cmpint (nms_context_set_threads (context, NMS_MAX_THREADS + 1), ==, NMS_ERROR_RANGE);

  g_autoptr (nms_context) own = nms_context_new ();
  g_assert_cmpint (nms_context_set_threads (own, 3), ==, NMS_OK);
  g_assert_cmpint (nms_context_reserve (own, 1000, 0), ==, NMS_OK);
  const size_t three = nms_context_scratch (own);
  g_assert_cmpint (nms_context_set_threads (own, 1), ==, NMS_OK);
  g_assert_cmpuint (three, ==, 3 * nms_context_scratch (own));
}

/* A forked process does not have the threads, and runs the batch in its only thread. */
static void
test_fork (void)
{
  Batch b;
  int status;

  batch_init (&b);
  g_assert_cmpint (nms_context_set_threads (context, 4), ==, NMS_OK);
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
  pid_t child = fork ();
  if (child == 0) {
    int error = batch_run (context, &b);
    nms_context_free (&context);
    _exit (error != NMS_OK);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
}

/* --------------------------------------------- contexts of several threads */

#define THREADS 8
#define CALLS 40

/* Runs the same calls as the other threads, in another order. */
static gpointer
thread_main (gpointer data)
{
  const unsigned number = GPOINTER_TO_UINT (data);
  g_autoptr (nms_context) own = nms_context_new ();
  char *difference = NULL;

  for (unsigned i = 0; i < 2 * CALLS && !difference; i++) {
    const unsigned which = (i * 7 + number * 5) % CALLS;
    BoxRandom random = { 4400 + which };
    g_auto (BoxCall) call = { 0 };
    boxcall_random (&call, &random, (int) (which % BOXGEN_TEMPERS), boxrandom_below (&random, 400));
    difference = enginecheck_run (own, &call.boxes, &call.options, ENGINECHECK_OUTPUTS);
  }
  return difference;
}

/* Each thread has a context of its own. With a thread sanitizer this also shows that contexts share
 * no data. */
static void
test_threads (void)
{
  GThread *threads[THREADS];

  for (unsigned i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("nms", thread_main, GUINT_TO_POINTER (i));
  for (unsigned i = 0; i < THREADS; i++) {
    char *difference = g_thread_join (threads[i]);
    g_assert_cmpstr (difference, ==, NULL);
  }
}

static const TestCase cases[] = { CASE (test_random), CASE (test_engine_in_use), CASE (test_errors),
  CASE (test_errors_of_images), CASE (test_thread_numbers), CASE (test_fork), CASE (test_threads),
  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
