/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance: runs the cases of other projects and compares them with the reference. */
#include "conformance.h"

#include "sharedcontext.h"

void
conformance_set_yxyx (nms_boxes *boxes, const float *rows)
{
  const ptrdiff_t stride = 4 * sizeof (float);

  boxes->y1 = (nms_column) { rows, stride };
  boxes->x1 = (nms_column) { rows + 1, stride };
  boxes->y2 = (nms_column) { rows + 2, stride };
  boxes->x2 = (nms_column) { rows + 3, stride };
}

void
conformance_run (const nms_boxes *boxes, const nms_options *options, nms_result *result)
{
  char *difference = enginecheck_run (context, boxes, options, ENGINECHECK_FULL);

  g_assert_cmpstr (difference, ==, NULL);
  if (conformance_check_lazy)
    conformance_check_lazy (boxes, options);
  *result = (nms_result) { .size = sizeof *result };
  g_assert_cmpint (nms_run (context, boxes, options, result), ==, NMS_OK);
}

void
conformance_fail (const nms_boxes *boxes, const nms_options *options, int error, const char *detail)
{
  nms_result result = { .size = sizeof result };

  g_assert_cmpint (nms_run (context, boxes, options, &result), ==, error);
  g_assert_cmpstr (nms_context_error (context), ==, detail);
}
