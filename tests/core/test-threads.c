/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each thread has a context of its own. Eight threads run the same calls, each in
 * another order, and must get the results of a single thread. With a thread sanitizer
 * this also shows that contexts share no data.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#define THREADS 8
#define CALLS 40

typedef struct {
  BoxCall call;
  RefResult expected;
} Work;

static Work works[CALLS];

static gpointer
thread_main (gpointer data)
{
  unsigned number = GPOINTER_TO_UINT (data);
  g_autoptr (nms_context) context = nms_context_new ();
  char *difference = NULL;

  for (unsigned round = 0; round < 6 && !difference; round++)
    for (unsigned i = 0; i < CALLS && !difference; i++) {
      const Work *work = &works[(i * 7 + number * 5 + round) % CALLS];
      nms_options options = work->call.options;
      nms_result result = { .size = sizeof result };

      options.engine = enginecheck_engines[(i + number) % ENGINECHECK_ENGINES];
      options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
      if (nms_run (context, &work->call.boxes, &options, &result) != NMS_OK)
        difference = g_strdup (nms_context_error (context));
      else
        difference = enginecheck_difference (&result, &work->expected);
    }
  return difference;
}

static void
test_threads (void)
{
  GThread *threads[THREADS];

  for (unsigned i = 0; i < CALLS; i++) {
    BoxRandom random = { 4400 + i };
    boxcall_random (&works[i].call, &random, (int) (i % BOXGEN_TEMPERS),
        boxrandom_below (&random, 400));
    ref_run (&works[i].call.boxes, &works[i].call.options, &works[i].expected);
  }
  for (unsigned i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("nms", thread_main, GUINT_TO_POINTER (i));
  for (unsigned i = 0; i < THREADS; i++) {
    char *difference = g_thread_join (threads[i]);
    g_assert_cmpstr (difference, ==, NULL);
  }
  for (unsigned i = 0; i < CALLS; i++) {
    ref_result_clear (&works[i].expected);
    boxcall_clear (&works[i].call);
  }
}

static const TestCase cases[] = { CASE (test_threads), { NULL } };

TEST_PROGRAM (cases);
