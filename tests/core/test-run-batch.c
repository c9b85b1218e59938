/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares nms_run_batch with the reference, which runs each image alone: random images, all
 * engines and methods, one and several threads; then errors, and a forked process.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "rounds.h"
#include "sharedcontext.h"
#include "scoped.h"
#include "testrunner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_IMAGES 9

/* A call with its boxes divided into images, and space for the results. */
typedef struct {
  BoxCall call;
  size_t images;
  size_t offsets[MOST_IMAGES + 1];
  size_t kept_offsets[MOST_IMAGES + 1];
  nms_batch_arrays arrays;
  nms_result result;
} Batch;

static nms_column
column_from (nms_column column, size_t first, size_t size)
{
  if (column.data)
    column.data = (const char *) column.data
        + (ptrdiff_t) first * (column.stride ? column.stride : (ptrdiff_t) size);
  return column;
}

static nms_boxes
image_boxes (const Batch *b, size_t image)
{
  nms_boxes boxes = b->call.boxes;
  nms_column *const columns[] = { &boxes.x1, &boxes.y1, &boxes.x2, &boxes.y2, &boxes.score,
    &boxes.class_id, &boxes.parent, &boxes.angle, &boxes.source };

  boxes.count = b->offsets[image + 1] - b->offsets[image];
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++)
    *columns[i] = column_from (*columns[i], b->offsets[image], 4);
  boxes.exclude = column_from (boxes.exclude, b->offsets[image], 1);
  return boxes;
}

/* Returns the least kept_capacity that nmscore.h allows. */
static size_t
least_capacity (const Batch *b)
{
  const uint64_t cap = b->call.options.max_detections;
  size_t sum = 0;

  for (size_t i = 0; i < b->images; i++) {
    size_t count = b->offsets[i + 1] - b->offsets[i];
    sum += cap && cap < count ? cap : count;
  }
  return sum;
}

static int
ascending (const void *a, const void *b)
{
  const size_t x = *(const size_t *) a, y = *(const size_t *) b;
  return (x > y) - (x < y);
}

static void
batch_init (Batch *b, uint64_t seed)
{
  BoxRandom random = { seed };
  const uint32_t count = boxrandom_below (&random, 500);

  *b = (Batch) { .images = boxrandom_below (&random, MOST_IMAGES + 1) };
  boxcall_random (&b->call, &random, (int) (seed % BOXGEN_TEMPERS), b->images ? count : 0);
  for (size_t i = 1; i < b->images; i++)
    b->offsets[i] = boxrandom_below (&random, count + 1);
  if (b->images)
    qsort (b->offsets, b->images, sizeof *b->offsets, ascending);
  b->offsets[b->images] = b->call.boxes.count;
  b->arrays = (nms_batch_arrays) { .size = sizeof b->arrays,
    .kept_offsets = b->kept_offsets,
    .kept_capacity = least_capacity (b) };
  b->arrays.kept = g_new (int32_t, b->arrays.kept_capacity);
  b->arrays.outcome = g_new (uint8_t, b->call.boxes.count);
  b->arrays.suppressed_by = g_new (int32_t, b->call.boxes.count);
  b->arrays.kept_score = g_new (float, b->arrays.kept_capacity);
  b->arrays.kept_box = g_new (float, 4 * b->arrays.kept_capacity);
  b->result.size = sizeof b->result;
}

static void
batch_clear (Batch *b)
{
  g_free (b->arrays.kept);
  g_free (b->arrays.outcome);
  g_free (b->arrays.suppressed_by);
  g_free (b->arrays.kept_score);
  g_free (b->arrays.kept_box);
  boxcall_clear (&b->call);
}

static int
batch_run (nms_context *ctx, Batch *b)
{
  return nms_run_batch (ctx, &b->call.boxes, b->offsets, b->images, &b->call.options, &b->arrays,
      &b->result);
}

/* Compares the images with the reference, and the sums of the counts. */
static void
batch_check (const Batch *b)
{
  nms_result sum = { .size = sizeof sum };

  g_assert_cmpuint (b->kept_offsets[0], ==, 0);
  for (size_t i = 0; i < b->images; i++) {
    const nms_boxes boxes = image_boxes (b, i);
    const size_t first = b->kept_offsets[i];
    g_auto (RefResult) expected = { 0 };
    ref_run (&boxes, &b->call.options, &expected);
    nms_result part = { .size = sizeof part,
      .kept = b->arrays.kept + first,
      .outcome = b->arrays.outcome + b->offsets[i],
      .suppressed_by = b->arrays.suppressed_by + b->offsets[i],
      .kept_score = b->arrays.kept_score + first,
      .kept_box = b->arrays.kept_box + 4 * first };
    part.kept_count = b->kept_offsets[i + 1] - first;
    sum.kept_count += part.kept_count;
#define ADD(count) sum.count += part.count = expected.count
    ADD (suppressed_count);
    ADD (over_cap_count);
    ADD (filtered_count);
    ADD (invalid_count);
    ADD (not_candidate_count);
    g_assert_cmpstr (enginecheck_difference_of (&part, &expected, ENGINECHECK_ALL_OUTPUTS), ==,
        NULL);
  }
  sum.kept = b->arrays.kept;
  sum.outcome = b->arrays.outcome;
  sum.suppressed_by = b->arrays.suppressed_by;
  sum.kept_score = b->arrays.kept_score;
  sum.kept_box = b->arrays.kept_box;
  g_assert_cmpmem (&b->result, sizeof sum, &sum, sizeof sum);
}

/* Every third batch has a method, all others run each engine in turn. */
static void
test_random (void)
{
  static const unsigned threads[] = { 1, 2, 3, 8, 1 };
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 200);
  const uint64_t first = rounds_from_environment ("NMS_TEST_SEED", 1);

  for (size_t t = 0; t < G_N_ELEMENTS (threads); t++) {
    g_assert_cmpint (nms_context_set_threads (context, threads[t]), ==, NMS_OK);
    for (uint64_t i = first; i < first + rounds; i++) {
      BoxRandom random = { i };
      Batch b;
      batch_init (&b, i);
      if (i % 3 == 0)
        boxcall_random_method (&b.call, &random, (int) (i % BOXGEN_TEMPERS));
      enginecheck_use (context, &b.call.options, (int) (i % ENGINECHECK_ENGINES));
      g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
      g_assert_cmpstr (nms_context_error (context), ==, "");
      batch_check (&b);
      if (i % 16 == 3)
        nms_context_trim (context);
      batch_clear (&b);
    }
  }
}

/* The threads use the context's instruction set, and the context reports what ran. */
static void
test_engine_in_use (void)
{
  Batch b;

  batch_init (&b, 12);
  g_assert_cmpuint (b.images, >, 1);
  b.call.options.engine = NMS_ENGINE_SORTED;
  g_assert_cmpint (nms_context_set_threads (context, 4), ==, NMS_OK);
  g_assert_cmpint (nms_context_set_isa (context, "scalar"), ==, NMS_OK);
  for (int i = 0; i < 50; i++) {
    g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
    g_assert_cmpstr (nms_context_engine_in_use (context), ==, "sorted/scalar");
    g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_SORTED);
  }
  g_assert_cmpint (nms_context_set_isa (context, NULL), ==, NMS_OK);
  batch_clear (&b);
}

static void
must_fail (Batch *b, int code, const char *text)
{
  const nms_result before = b->result;

  g_assert_cmpint (batch_run (context, b), ==, code);
  g_assert_cmpstr (nms_context_error (context), ==, text);
  g_assert_cmpmem (&b->result, sizeof before, &before, sizeof before);
}

/* Makes a batch of two images with three boxes. */
static void
three_boxes (Batch *b)
{
  *b = (Batch) { .images = 2, .offsets = { 0, 1, 3 } };
  b->call.corners = calloc (12, sizeof *b->call.corners);
  b->call.boxes = (nms_boxes) { .size = sizeof b->call.boxes, .count = 3 };
  nms_boxes_set_rows (&b->call.boxes, b->call.corners);
  nms_options_init (&b->call.options, sizeof b->call.options);
  b->arrays = (nms_batch_arrays) { .size = sizeof b->arrays,
    .kept = g_new (int32_t, 3),
    .kept_capacity = 3,
    .kept_offsets = b->kept_offsets };
  b->result.size = sizeof b->result;
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

  three_boxes (&b);
  const Batch right = b;
  for (size_t i = 0; i < G_N_ELEMENTS (wrong); i++) {
    memcpy ((char *) &b + wrong[i].at, &wrong[i].value, sizeof wrong[i].value);
    must_fail (&b, wrong[i].code, wrong[i].text);
    b = right;
  }
  b.offsets[1] = 3;
  b.offsets[2] = b.call.boxes.count = NMS_MAX_BOXES + 5;
  must_fail (&b, NMS_ERROR_TOO_MANY_BOXES, most);
  b = right;
  g_assert_cmpint (batch_run (NULL, &b), ==, NMS_ERROR_ARGUMENT);
#define MUST_SAY(message, ...) \
  g_assert_cmpint (nms_run_batch (context, __VA_ARGS__), ==, NMS_ERROR_ARGUMENT); \
  g_assert_cmpstr (nms_context_error (context), ==, message);
  MUST_SAY ("boxes is NULL", NULL, b.offsets, 2, NULL, &b.arrays, &b.result)
  MUST_SAY ("offsets is NULL", &b.call.boxes, NULL, 2, NULL, &b.arrays, &b.result)
  MUST_SAY ("arrays is NULL", &b.call.boxes, b.offsets, 2, NULL, NULL, &b.result)
  MUST_SAY ("result is NULL", &b.call.boxes, b.offsets, 2, NULL, &b.arrays, NULL)
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
  batch_clear (&b);
}

/* With a cap fewer kept boxes need space. The error of an image names it, whichever thread ran
 * it. */
static void
test_errors_of_images (void)
{
  static const nms_class_options twice[2] = { { .size = sizeof *twice },
    { .size = sizeof *twice } };
  Batch b;

  three_boxes (&b);
  b.arrays.kept_capacity = 2;
  b.call.options.max_detections = 1;
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
  b.call.options.class_options = twice;
  b.call.options.class_option_count = 2;
  for (unsigned threads = 1; threads < 4; threads++) {
    g_assert_cmpint (nms_context_set_threads (context, threads), ==, NMS_OK);
    must_fail (&b, NMS_ERROR_DUPLICATE_CLASS, "image 0: class 0 is listed twice");
  }
  b.call.options.class_option_count = 0;
  g_assert_cmpint (batch_run (context, &b), ==, NMS_OK);
  batch_clear (&b);
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

  batch_init (&b, 12);
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
  batch_clear (&b);
}

static const TestCase cases[] = { CASE (test_random), CASE (test_engine_in_use), CASE (test_errors),
  CASE (test_errors_of_images), CASE (test_thread_numbers), CASE (test_fork), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
