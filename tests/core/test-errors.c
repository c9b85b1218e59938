/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bad arguments: each gives its code and its error text, and nothing is written. The
 * context works after each failure.
 */
#include "enginecheck.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const float corners[][4] = { { 0, 0, 4, 4 }, { 0, 0, 4, 3 }, { 9, 9, 12, 12 } };
static const float zero_weight[] = { 1, 0 };

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
  struct {
    int32_t kept[3], by[3];
    uint32_t neighbors[3];
    uint8_t outcome[3];
    nms_result result;
  } out, before;
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = out.kept,
    .kept_capacity = 3,
    .outcome = out.outcome,
    .suppressed_by = out.by };
  Call good;

  memset (&out, 0x3c, sizeof out);
  out.result.size = sizeof out.result;
  memcpy (&before, &out, sizeof out);
  g_assert_cmpint (nms_run (context, &call->boxes, &call->options, &out.result), ==, error);
  g_assert_cmpstr (nms_context_error (context), ==, detail);
  g_assert_cmpint (enginecheck_batch (context, &call->boxes, &call->options, &arrays, &out.result),
      ==, error);
  g_assert_true (g_str_has_suffix (nms_context_error (context), detail));
  g_assert_cmpint (nms_count_neighbors (context, &call->boxes, &call->options, out.neighbors), ==,
      error);
  g_assert_cmpstr (nms_context_error (context), ==, detail);
  g_assert_cmpmem (&out, sizeof out, &before, sizeof before);
  call_init (&good);
  must_work (&good);
}

/* One wrong value in a call that is right but for it, at an offset of Call. "%s" in the text is the
 * value. */
typedef struct {
  size_t at, size;
  union {
    float real;
    uint8_t small;
    uint32_t number;
    uint64_t large;
    const void *pointer;
  } value;
  int error;
  const char *text;
} Wrong;

#define AT(member) offsetof (Call, member), sizeof ((Call *) NULL)->member
#define TOO_MANY NMS_ERROR_TOO_MANY_BOXES
#define UNKNOWN NMS_ERROR_UNSUPPORTED
#define IOU "iou_threshold is %s, must be 0..1"
#define SIZES "min_size_ratio is %s, must be 0..1"
#define SIGMA "sigma is %s, must be 0 or more and finite"
#define CORNER { .pointer = NULL }, NMS_ERROR_ARGUMENT, "a corner column of boxes is NULL"

static const Wrong wrong[] = {
  { AT (boxes.x1.data), CORNER }, { AT (boxes.y1.data), CORNER }, { AT (boxes.x2.data), CORNER },
  { AT (boxes.y2.data), CORNER }, { AT (boxes.count), { .large = SIZE_MAX }, TOO_MANY, NULL },
  { AT (boxes.count), { .large = NMS_MAX_BOXES + 1 }, TOO_MANY, NULL },
  { AT (options.iou_threshold), { 1.2f }, NMS_ERROR_RANGE, IOU },
  { AT (options.iou_threshold), { 0x1.000002p+0f }, NMS_ERROR_RANGE, IOU },
  { AT (options.iou_threshold), { -0x1p-149f }, NMS_ERROR_RANGE, IOU },
  { AT (options.iou_threshold), { INFINITY }, NMS_ERROR_RANGE, IOU },
  { AT (options.iou_threshold), { NAN }, NMS_ERROR_RANGE, IOU },
  { AT (options.min_size_ratio), { -1 }, NMS_ERROR_RANGE, SIZES },
  { AT (options.min_size_ratio), { NAN }, NMS_ERROR_RANGE, SIZES },
  { AT (options.score_threshold), { NAN }, NMS_ERROR_RANGE, "score_threshold is NaN" },
  { AT (options.sigma), { -1 }, NMS_ERROR_RANGE, SIGMA },
  { AT (options.sigma), { NAN }, NMS_ERROR_RANGE, SIGMA },
  { AT (options.min_score), { INFINITY }, NMS_ERROR_RANGE,
      "min_score is %s, must be 0 or more and finite" },
  { AT (options.engine), { .number = 5 }, UNKNOWN, "engine 5 is unknown" },
  { AT (options.engine), { .number = 0x80000000u }, UNKNOWN, "engine 2147483648 is unknown" },
  { AT (options.engine), { .number = UINT32_MAX }, UNKNOWN, "engine 4294967295 is unknown" },
  { AT (options.outputs), { .number = 16 }, UNKNOWN, "outputs has unknown bits" },
  { AT (options.method), { .number = 99 }, UNKNOWN, "method 99 is unknown" },
  { AT (options.metric), { .number = 5 }, UNKNOWN, "metric 5 is unknown" },
  { AT (options.fused_score), { .number = 4 }, UNKNOWN, "fused_score 4 is unknown" },
  { AT (options.source_count), { .large = NMS_MAX_SOURCES + 1 }, NMS_ERROR_RANGE,
      "source_count is 1025, must be at most 1024" },
  { AT (options.class_options), { .pointer = NULL }, NMS_ERROR_ARGUMENT,
      "class_options is NULL but class_option_count is 2" },
  { AT (options.class_option_count), { .large = NMS_MAX_CLASS_OPTIONS + 1 }, NMS_ERROR_RANGE,
      NULL },
  { AT (classes[1].size), { .large = sizeof (nms_class_options) + 1 }, NMS_ERROR_ARGUMENT,
      "class_options[1]: size differs from the first" },
  { AT (classes[1].set), { .number = 16 }, UNKNOWN, "class_options[1]: set has unknown bits" },
  { AT (classes[1].iou_threshold), { 1.5f }, NMS_ERROR_RANGE,
      "iou_threshold of a class is %s, must be 0..1" },
  { AT (classes[1].iou_threshold), { NAN }, NMS_ERROR_RANGE,
      "iou_threshold of a class is %s, must be 0..1" },
  { AT (classes[1].score_threshold), { NAN }, NMS_ERROR_RANGE, "score_threshold of class 1 is NaN" }
};

/* Returns the text of a row, with numbers as the locale writes them. */
static char *
text_of (const Wrong *w)
{
  g_autofree char *number = g_strdup_printf ("%.8g", (double) w->value.real);

  if (w->text) {
    g_auto (GStrv) parts = g_strsplit (w->text, "%s", 2);
    return g_strjoinv (number, parts);
  }
  return w->error == TOO_MANY ? g_strdup_printf ("%zu boxes, at most %zu are possible",
             (size_t) w->value.large, NMS_MAX_BOXES)
                              : g_strdup_printf ("class_option_count is %zu, must be at most %zu",
                                  (size_t) w->value.large, NMS_MAX_CLASS_OPTIONS);
}

static void
test_values (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree char *text = text_of (&wrong[i]);
    Call call;
    call_init (&call);
    call.options.class_option_count = 2;
    call.classes[1].set = NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_SCORE_THRESHOLD
        | NMS_CLASS_MAX_DETECTIONS | NMS_CLASS_GROUP;
    call.classes[1].group = 1;
    must_work (&call);
    memcpy ((char *) &call + wrong[i].at, &wrong[i].value, wrong[i].size);
    must_fail (&call, wrong[i].error, text);
  }
}

/* Values that are wrong together, and a value that is not set and therefore ignored. */
static void
test_combinations (void)
{
  Call call;

  call_init (&call);
  call.options.method = NMS_METHOD_SOFT_LINEAR;
  call.options.metric = NMS_METRIC_DIOU;
  must_fail (&call, UNKNOWN, "metrics diou and giou may be negative; only method hard takes them");
  call_init (&call);
  call.options.source_count = 2;
  call.options.source_weights = zero_weight;
  must_fail (&call, NMS_ERROR_RANGE, "source_weights[1] is 0, must be above 0 and at most 2^32");
  call_init (&call);
  call.options.class_option_count = 2;
  call.classes[1].iou_threshold = call.classes[1].score_threshold = NAN;
  must_work (&call);
  g_assert_cmpint (nms_context_reserve (context, NMS_MAX_BOXES + 1, 0), ==, TOO_MANY);
  g_assert_cmpint (nms_context_reserve (context, 1, NMS_MAX_CLASS_OPTIONS + 1), ==,
      NMS_ERROR_RANGE);
}

/* The same error occurs if no box has the class, and if there is no box. */
static void
test_duplicate_class (void)
{
  static const int32_t ids[] = { 0, 5, -1, INT32_MIN, INT32_MAX };
  nms_result result = { .size = sizeof result };

  for (size_t i = 0; i < G_N_ELEMENTS (ids); i++) {
    g_autofree char *detail = g_strdup_printf ("class %d is listed twice", ids[i]);
    Call call;
    call_init (&call);
    call.options.class_option_count = 2;
    call.classes[0].class_id = call.classes[1].class_id = ids[i];
    must_fail (&call, NMS_ERROR_DUPLICATE_CLASS, detail);
    call.boxes.count = 0;
    g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==,
        NMS_ERROR_DUPLICATE_CLASS);
  }
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
#define MUST_SAY(call, text) \
  g_assert_cmpint (call, ==, NMS_ERROR_ARGUMENT); \
  g_assert_cmpstr (nms_context_error (context), ==, text);
  MUST_SAY (nms_run (context, NULL, NULL, &result), "boxes is NULL")
  MUST_SAY (nms_run (context, &call.boxes, NULL, NULL), "result is NULL")
  MUST_SAY (nms_count_neighbors (context, &call.boxes, NULL, NULL), "neighbors is NULL")
  must_work (&call);
}

static void
test_strerror (void)
{
  static const int unknown[] = { 1, -9, INT_MIN, INT_MAX };

#define CHECK(name, value, text) \
  g_assert_cmpint (name, ==, value); \
  g_assert_cmpstr (nms_strerror (name), ==, text);
  NMS_ERROR_LIST (CHECK)
  for (size_t i = 0; i < G_N_ELEMENTS (unknown); i++)
    g_assert_cmpstr (nms_strerror (unknown[i]), ==, "unknown error");
}

static const TestCase cases[] = { CASE (test_values), CASE (test_combinations),
  CASE (test_duplicate_class), CASE (test_null), CASE (test_strerror), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
