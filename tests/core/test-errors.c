/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bad arguments: each gives its code and its error text, and nothing is written. The
 * context works after each failure.
 */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <glib.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float corners[][4] = { { 0, 0, 4, 4 }, { 0, 0, 4, 3 }, { 9, 9, 12, 12 } };

typedef struct {
  nms_boxes boxes;
  nms_options options;
  nms_class_options classes[2];
} Call;

static void
call_init (Call *call)
{
  *call = (Call) { .boxes = { .size = sizeof call->boxes, .count = G_N_ELEMENTS (corners) } };
  nms_boxes_set_rows (&call->boxes, corners[0]);
  nms_options_init (&call->options, sizeof call->options);
  for (int i = 0; i < 2; i++)
    call->classes[i] = (nms_class_options) { .size = sizeof call->classes[i], .class_id = i };
  call->options.class_options = call->classes;
}

static void
must_work (const Call *call)
{
  nms_result result = { .size = sizeof result };

  g_assert_cmpint (nms_run (context, &call->boxes, &call->options, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 2);
  g_assert_cmpuint (result.suppressed_count, ==, 1);
  g_assert_cmpstr (nms_context_error (context), ==, "");
}

/* nms_run, nms_run_batch and nms_count_neighbors refuse the call with `error` and the
 * text `detail`, and write nothing. */
static void
must_fail (const Call *call, int error, const char *detail)
{
  nms_result result, before;
  int32_t kept[3], by[3];
  uint8_t outcome[3];
  uint32_t neighbors[3];
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = 3,
    .outcome = outcome,
    .suppressed_by = by };
  Call good;

  memset (&result, 0x3c, sizeof result);
  result.size = sizeof result;
  before = result;
  memset (kept, 0x3c, sizeof kept);
  memset (by, 0x3c, sizeof by);
  memset (outcome, 0x3c, sizeof outcome);
  memset (neighbors, 0x3c, sizeof neighbors);

  g_assert_cmpint (nms_run (context, &call->boxes, &call->options, &result), ==, error);
  g_assert_cmpstr (nms_context_error (context), ==, detail);
  g_assert_cmpint (enginecheck_batch (context, &call->boxes, &call->options, &arrays, &result), ==,
      error);
  g_assert_true (g_str_has_suffix (nms_context_error (context), detail));
  g_assert_cmpint (nms_count_neighbors (context, &call->boxes, &call->options, neighbors), ==,
      error);
  g_assert_cmpstr (nms_context_error (context), ==, detail);

  g_assert_cmpmem (&result, sizeof result, &before, sizeof before);
  for (size_t i = 0; i < sizeof kept; i++) {
    g_assert_cmpint (((char *) kept)[i], ==, 0x3c);
    g_assert_cmpint (((char *) by)[i], ==, 0x3c);
    g_assert_cmpint (((char *) neighbors)[i], ==, 0x3c);
  }
  for (size_t i = 0; i < sizeof outcome; i++)
    g_assert_cmpint (outcome[i], ==, 0x3c);
  call_init (&good);
  must_work (&good);
}

static void
test_null (void)
{
  nms_result result = { .size = sizeof result };
  uint32_t neighbors[3];
  Call call;

  call_init (&call);
  g_assert_cmpint (nms_run (NULL, &call.boxes, NULL, &result), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (nms_count_neighbors (NULL, &call.boxes, NULL, neighbors), ==,
      NMS_ERROR_ARGUMENT);
  g_assert_cmpint (nms_context_reserve (NULL, 1, 0), ==, NMS_ERROR_ARGUMENT);

  g_assert_cmpint (nms_run (context, NULL, NULL, &result), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpstr (nms_context_error (context), ==, "boxes is NULL");
  g_assert_cmpint (nms_run (context, &call.boxes, NULL, NULL), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpstr (nms_context_error (context), ==, "result is NULL");
  g_assert_cmpint (nms_count_neighbors (context, &call.boxes, NULL, NULL), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpstr (nms_context_error (context), ==, "neighbors is NULL");
  must_work (&call);
}

static void
test_columns (void)
{
  for (int i = 0; i < 4; i++) {
    Call call;
    call_init (&call);
    nms_column *columns[4] = { &call.boxes.x1, &call.boxes.y1, &call.boxes.x2, &call.boxes.y2 };
    columns[i]->data = NULL;
    must_fail (&call, NMS_ERROR_ARGUMENT, "a corner column of boxes is NULL");
  }
}

static void
test_count (void)
{
  Call call;
  char *detail;

  call_init (&call);
  call.boxes.count = NMS_MAX_BOXES + 1;
  detail = g_strdup_printf ("%zu boxes, at most %zu are possible", NMS_MAX_BOXES + 1,
      NMS_MAX_BOXES);
  must_fail (&call, NMS_ERROR_TOO_MANY_BOXES, detail);
  g_free (detail);
  call.boxes.count = SIZE_MAX;
  detail = g_strdup_printf ("%zu boxes, at most %zu are possible", SIZE_MAX, NMS_MAX_BOXES);
  must_fail (&call, NMS_ERROR_TOO_MANY_BOXES, detail);
  g_free (detail);

  g_assert_cmpint (nms_context_reserve (context, NMS_MAX_BOXES + 1, 0), ==,
      NMS_ERROR_TOO_MANY_BOXES);
  g_assert_cmpint (nms_context_reserve (context, 1, NMS_MAX_CLASS_OPTIONS + 1), ==,
      NMS_ERROR_RANGE);
}

static void
test_iou_threshold (void)
{
  static const float values[] = { 1.2f, -0.25f, 0x1.000002p+0f, -0x1p-149f, INFINITY, -INFINITY };
  Call call;

  call_init (&call);
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++) {
    /* the number as the locale writes it */
    char *detail = g_strdup_printf ("iou_threshold is %.8g, must be 0..1", (double) values[i]);
    call.options.iou_threshold = values[i];
    must_fail (&call, NMS_ERROR_RANGE, detail);
    g_free (detail);
  }
  call.options.iou_threshold = NAN;
  must_fail (&call, NMS_ERROR_RANGE, "iou_threshold is nan, must be 0..1");
  call_init (&call);
  call.options.min_size_ratio = -1;
  must_fail (&call, NMS_ERROR_RANGE, "min_size_ratio is -1, must be 0..1");
  call.options.min_size_ratio = NAN;
  must_fail (&call, NMS_ERROR_RANGE, "min_size_ratio is nan, must be 0..1");
}

static void
test_score_threshold (void)
{
  Call call;

  call_init (&call);
  call.options.score_threshold = NAN;
  must_fail (&call, NMS_ERROR_RANGE, "score_threshold is NaN");
}

static void
test_unsupported (void)
{
  static const uint32_t engines[] = { 5, 77, 0x80000000u, UINT32_MAX };
  Call call;

  for (size_t i = 0; i < G_N_ELEMENTS (engines); i++) {
    char *detail = g_strdup_printf ("engine %u is unknown", engines[i]);
    call_init (&call);
    call.options.engine = engines[i];
    must_fail (&call, NMS_ERROR_UNSUPPORTED, detail);
    g_free (detail);
  }
  call_init (&call);
  call.options.outputs = 16;
  must_fail (&call, NMS_ERROR_UNSUPPORTED, "outputs has unknown bits");
  call_init (&call);
  call.options.class_option_count = 2;
  call.classes[1].set = 16;
  must_fail (&call, NMS_ERROR_UNSUPPORTED, "class_options[1]: set has unknown bits");
}

static void
test_methods (void)
{
  static const float zero_weight[] = { 1, 0 };
  Call call;

  call_init (&call);
  call.options.method = 99;
  must_fail (&call, NMS_ERROR_UNSUPPORTED, "method 99 is unknown");
  call_init (&call);
  call.options.metric = 5;
  must_fail (&call, NMS_ERROR_UNSUPPORTED, "metric 5 is unknown");
  call_init (&call);
  call.options.fused_score = 4;
  must_fail (&call, NMS_ERROR_UNSUPPORTED, "fused_score 4 is unknown");
  call_init (&call);
  call.options.method = NMS_METHOD_SOFT_LINEAR;
  call.options.metric = NMS_METRIC_DIOU;
  must_fail (&call, NMS_ERROR_UNSUPPORTED,
      "metrics diou and giou may be negative; only method hard takes them");
  call_init (&call);
  call.options.sigma = -1;
  must_fail (&call, NMS_ERROR_RANGE, "sigma is -1, must be 0 or more and finite");
  call_init (&call);
  call.options.sigma = NAN;
  must_fail (&call, NMS_ERROR_RANGE, "sigma is nan, must be 0 or more and finite");
  call_init (&call);
  call.options.min_score = INFINITY;
  must_fail (&call, NMS_ERROR_RANGE, "min_score is inf, must be 0 or more and finite");
  call_init (&call);
  call.options.source_count = NMS_MAX_SOURCES + 1;
  must_fail (&call, NMS_ERROR_RANGE, "source_count is 1025, must be at most 1024");
  call_init (&call);
  call.options.source_count = 2;
  call.options.source_weights = zero_weight;
  must_fail (&call, NMS_ERROR_RANGE, "source_weights[1] is 0, must be above 0 and at most 2^32");
}

static void
test_class_options (void)
{
  Call call;
  char *detail;

  call_init (&call);
  call.options.class_option_count = 2;
  must_work (&call);
  call.options.class_options = NULL;
  must_fail (&call, NMS_ERROR_ARGUMENT, "class_options is NULL but class_option_count is 2");

  call_init (&call);
  call.options.class_option_count = NMS_MAX_CLASS_OPTIONS + 1;
  detail = g_strdup_printf ("class_option_count is %zu, must be at most %zu",
      NMS_MAX_CLASS_OPTIONS + 1, NMS_MAX_CLASS_OPTIONS);
  must_fail (&call, NMS_ERROR_RANGE, detail);
  g_free (detail);

  call_init (&call);
  call.options.class_option_count = 2;
  call.classes[1].size++;
  must_fail (&call, NMS_ERROR_ARGUMENT, "class_options[1]: size differs from the first");

  call_init (&call);
  call.options.class_option_count = 2;
  call.classes[1].set = NMS_CLASS_IOU_THRESHOLD;
  call.classes[1].iou_threshold = 1.5f;
  detail = g_strdup_printf ("iou_threshold of a class is %g, must be 0..1", 1.5);
  must_fail (&call, NMS_ERROR_RANGE, detail);
  g_free (detail);
  call.classes[1].iou_threshold = NAN;
  must_fail (&call, NMS_ERROR_RANGE, "iou_threshold of a class is nan, must be 0..1");
  call.classes[1].set = 0; /* not set, so the value is ignored */
  must_work (&call);

  call_init (&call);
  call.options.class_option_count = 2;
  call.classes[1].class_id = INT32_MIN;
  call.classes[1].set = NMS_CLASS_SCORE_THRESHOLD;
  call.classes[1].score_threshold = NAN;
  must_fail (&call, NMS_ERROR_RANGE, "score_threshold of class -2147483648 is NaN");
  call.classes[1].set = NMS_CLASS_MAX_DETECTIONS | NMS_CLASS_GROUP;
  must_work (&call);
}

/* The same error occurs if no box has the class, and if there is no box. */
static void
test_duplicate_class (void)
{
  static const int32_t ids[] = { 0, 5, -1, INT32_MIN, INT32_MAX };
  nms_result result = { .size = sizeof result };

  for (size_t i = 0; i < G_N_ELEMENTS (ids); i++) {
    char *detail = g_strdup_printf ("class %d is listed twice", ids[i]);
    Call call;
    call_init (&call);
    call.options.class_option_count = 2;
    call.classes[0].class_id = call.classes[1].class_id = ids[i];
    must_fail (&call, NMS_ERROR_DUPLICATE_CLASS, detail);
    call.boxes.count = 0;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==,
        NMS_ERROR_DUPLICATE_CLASS);
    g_free (detail);
  }
}

static void
test_strerror (void)
{
#define CHECK(name, value, text) \
  g_assert_cmpint (name, ==, value); \
  g_assert_cmpstr (nms_strerror (name), ==, text);
  NMS_ERROR_LIST (CHECK)
#undef CHECK
  g_assert_cmpstr (nms_strerror (1), ==, "unknown error");
  g_assert_cmpstr (nms_strerror (-9), ==, "unknown error");
  g_assert_cmpstr (nms_strerror (INT_MIN), ==, "unknown error");
  g_assert_cmpstr (nms_strerror (INT_MAX), ==, "unknown error");
}

static const TestCase cases[] = { { "/errors/null", test_null },
  { "/errors/columns", test_columns }, { "/errors/count", test_count },
  { "/errors/iou-threshold", test_iou_threshold },
  { "/errors/score-threshold", test_score_threshold }, { "/errors/unsupported", test_unsupported },
  { "/errors/methods", test_methods }, { "/errors/class-options", test_class_options },
  { "/errors/duplicate-class", test_duplicate_class }, { "/errors/strerror", test_strerror },
  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
