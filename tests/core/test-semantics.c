/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the rows of handrows.c in every engine, with every combination of outputs and
 * through nms_run_batch. The result must be the text in the row; test-reference.c checks
 * that the reference gives it too.
 */
#include "describe.h"
#include "enginecheck.h"
#include "handrows.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <stdlib.h>

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  HandCall call;
  char *difference;

  handrow_call (row, &call);
  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    nms_result result = { .size = sizeof result };
    char *is;

    call.options.engine = enginecheck_engines[e];
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    is = describe_result (&result, row->count);
    g_assert_cmpstr (is, ==, row->expect);
    free (is);
  }
  difference = enginecheck_run (context, &call.boxes, &call.options, ENGINECHECK_FULL);
  g_assert_cmpstr (difference, ==, NULL);
}

static const TestCase cases[] = { TEST_ROWS ("/semantics/%s", test_row, handrows),

  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
