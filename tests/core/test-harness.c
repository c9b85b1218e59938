/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks enginecheck_difference, on which all other tests rely: a right result that is
 * changed in one place must give a difference.
 */
#include "enginecheck.h"
#include "handrows.h"
#include "scoped.h"
#include "testrunner.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  nms_result result;
  int32_t kept[2], suppressed_by[5];
  uint8_t outcome[5];
} Copy;

/* The right result, with all its values. */
static const HandRow row = { "right", "max=2",
  "whole 0.9; whole 0.8; far 0.7; whole 0.6; -9,0,-5,4 0.5", "K S0 K O O | 0 2" };
static const Copy right = { .result = { .size = sizeof right.result,
                                .kept_count = 2,
                                .suppressed_count = 1,
                                .over_cap_count = 2 },
  .kept = { 0, 2 },
  .suppressed_by = { -1, 0, -1, -1, -1 },
  .outcome = { NMS_OUTCOME_KEPT, NMS_OUTCOME_SUPPRESSED, NMS_OUTCOME_KEPT, NMS_OUTCOME_OVER_CAP,
      NMS_OUTCOME_OVER_CAP } };

/* Describes the difference of `copy` and the reference's result. */
static char *
difference_of (Copy *copy, const RefResult *expected)
{
  copy->result.kept = copy->kept;
  copy->result.outcome = copy->outcome;
  copy->result.suppressed_by = copy->suppressed_by;
  return enginecheck_difference (&copy->result, expected, ENGINECHECK_OUTCOMES);
}

static void
must_differ (char *difference, const char *where)
{
  g_assert_nonnull (difference);
  g_assert_nonnull (strstr (difference, where));
  free (difference);
}

/* Adds 1 to, then subtracts 1 from the value at each of these places. */
static void
test_values (void)
{
#define PLACE(member) \
  { \
#member, offsetof(Copy, member), sizeof right.member \
  }
  static const struct {
    const char *member;
    size_t at, size;
  } places[] = { PLACE (result.size), PLACE (result.kept_count), PLACE (result.suppressed_count),
    PLACE (result.over_cap_count), PLACE (result.filtered_count), PLACE (result.invalid_count),
    PLACE (result.not_candidate_count), PLACE (kept[0]), PLACE (kept[1]), PLACE (outcome[0]),
    PLACE (outcome[1]), PLACE (outcome[2]), PLACE (outcome[3]), PLACE (outcome[4]),
    PLACE (suppressed_by[0]), PLACE (suppressed_by[1]), PLACE (suppressed_by[4]) };
  HandCall call;
  g_auto (RefResult) expected = { 0 };

  handrow_call (&row, &call);
  ref_run (&call.boxes, &call.options, &expected);
  for (size_t i = 0; i < G_N_ELEMENTS (places); i++)
    for (int sign = -1; sign < 2; sign++) {
      const char *name = strchr (places[i].member, '.');
      Copy copy = right;
      uint64_t value = 0;
      memcpy (&value, (char *) &copy + places[i].at, places[i].size);
      value += (uint64_t) sign;
      memcpy ((char *) &copy + places[i].at, &value, places[i].size);
      if (sign)
        must_differ (difference_of (&copy, &expected), name ? name + 1 : places[i].member);
      else
        g_assert_cmpstr (difference_of (&copy, &expected), ==, NULL);
    }
}

/* An output that is missing is a difference, and one that was not asked for. */
static void
test_outputs (void)
{
  HandCall call;
  Copy copy = right;
  g_auto (RefResult) expected = { 0 };

  handrow_call (&row, &call);
  ref_run (&call.boxes, &call.options, &expected);
  g_assert_cmpstr (difference_of (&copy, &expected), ==, NULL);
  must_differ (enginecheck_difference (&copy.result, &expected, 0), "outcome");
  copy.result.outcome = NULL;
  must_differ (enginecheck_difference (&copy.result, &expected, ENGINECHECK_OUTCOMES), "outcome");
  must_differ (enginecheck_difference (&copy.result, &expected, 0), "suppressed_by");
  copy.result.suppressed_by = NULL;
  g_assert_cmpstr (enginecheck_difference (&copy.result, &expected, 0), ==, NULL);
}

static const TestCase cases[] = { CASE (test_values), CASE (test_outputs), { NULL } };

TEST_PROGRAM (cases);
