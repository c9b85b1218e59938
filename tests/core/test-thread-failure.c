/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that cannot be started: nms_context_set_threads fails, ends the threads that it has
 * started, and the context keeps those that it had. The linker redirects pthread_create to this
 * file (--wrap).
 */
#include "sharedcontext.h"
#include "testrunner.h"

#include <errno.h>
#include <pthread.h>

int __real_pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
    void *(*start) (void *), void *data);
int __wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
    void *(*start) (void *), void *data);

static int allowed; /* threads that can still be started */

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *),
    void *data)
{
  if (allowed == 0)
    return EAGAIN;
  allowed--;
  return __real_pthread_create (thread, attributes, start, data);
}

/* Runs two images of one box each. */
static void
run_batch (void)
{
  static const float rows[2][4] = { { 0, 0, 9, 9 }, { 0, 0, 9, 9 } };
  static const size_t offsets[] = { 0, 1, 2 };
  int32_t kept[2];
  size_t kept_offsets[3];
  nms_boxes boxes = { .size = sizeof boxes, .count = 2 };
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = 2,
    .kept_offsets = kept_offsets };
  nms_result result = { .size = sizeof result };
  nms_options options;

  nms_options_init (&options, sizeof options);
  nms_boxes_set_rows (&boxes, rows[0]);
  g_assert_cmpint (nms_run_batch (context, &boxes, offsets, 2, &options, &arrays, &result), ==,
      NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
}

static void
test_failure (void)
{
  allowed = 2;
  g_assert_cmpint (nms_context_set_threads (context, 3), ==, NMS_OK);
  g_assert_cmpint (allowed, ==, 0);
  for (int started = 0; started < 4; started++) {
    const size_t scratch = nms_context_scratch (context);

    allowed = started;
    g_assert_cmpint (nms_context_set_threads (context, 5), ==, NMS_ERROR_MEMORY);
    g_assert_cmpstr (nms_context_error (context), ==, "cannot start 4 threads");
    g_assert_cmpint (allowed, ==, 0);
    g_assert_cmpuint (nms_context_scratch (context), ==, scratch);
    run_batch ();
  }
  allowed = 4;
  g_assert_cmpint (nms_context_set_threads (context, 5), ==, NMS_OK);
  run_batch ();
}

static const TestCase cases[] = { CASE (test_failure), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
