/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the rows of tests/reference on every instruction set. The result must be the text in the
 * row; test-reference.c checks that the reference gives it too, and enginecheck that every engine
 * does.
 */
#include "enginecheck.h"
#include "handrows.h"
#include "sharedcontext.h"
#include "testrunner.h"

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  HandCall call;

  handrow_call (row, &call);
  for (const char *const *isa = enginecheck_isas; *isa; isa++) {
    if (nms_context_set_isa (context, *isa) < 0)
      continue;
    nms_result result = { .size = sizeof result };
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
    g_autofree char *is = handrow_describe (row, &result, call.boxes.count);
    g_assert_cmpstr (is, ==, row->expect);
    g_assert_cmpstr (enginecheck_run (context, &call.boxes, &call.options, ENGINECHECK_FULL), ==,
        NULL);
  }
  g_assert_cmpint (nms_context_set_isa (context, NULL), ==, NMS_OK);
}

static const TestCase cases[] = { TEST_ROWS ("/semantics/%s", test_row, hardrows),
  TEST_ROWS ("/semantics/method/%s", test_row, methodrows), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
