/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conversions: converts other forms of boxes to corners, and bfloat16 to float, and computes the
 * IoU of two boxes. */
#include "fpmode.h"
#include "nmscore.h"
#include "overlap.h"

#include <string.h>

void
nms_boxes_set_rows (nms_boxes *boxes, const float *rows)
{
  const ptrdiff_t stride = 4 * sizeof (float);
  boxes->x1 = (nms_column) { rows, stride };
  boxes->y1 = (nms_column) { rows ? rows + 1 : NULL, stride };
  boxes->x2 = (nms_column) { rows ? rows + 2 : NULL, stride };
  boxes->y2 = (nms_column) { rows ? rows + 3 : NULL, stride };
}

void
nms_rows_from_cxcywh (const float *in, size_t count, float *out)
{
  nms__fpmode mode = nms__fpmode_enter ();
  for (size_t i = 0; i < 4 * count; i += 4) {
    float x = in[i], y = in[i + 1], w = in[i + 2] * 0.5f, h = in[i + 3] * 0.5f;
    out[i] = x - w;
    out[i + 1] = y - h;
    out[i + 2] = x + w;
    out[i + 3] = y + h;
  }
  nms__fpmode_leave (mode);
}

void
nms_rows_from_xywh (const float *in, size_t count, float *out)
{
  nms__fpmode mode = nms__fpmode_enter ();
  for (size_t i = 0; i < 4 * count; i += 4) {
    float x = in[i], y = in[i + 1], w = in[i + 2], h = in[i + 3];
    out[i] = x;
    out[i + 1] = y;
    out[i + 2] = x + w;
    out[i + 3] = y + h;
  }
  nms__fpmode_leave (mode);
}

void
nms_floats_from_bfloat16 (const uint16_t *in, size_t count, float *out)
{
  for (size_t i = 0; i < count; i++) {
    const uint32_t bits = (uint32_t) in[i] << 16;
    memcpy (&out[i], &bits, sizeof bits);
  }
}

float
nms_iou (const float a[4], const float b[4])
{
  nms__fpmode mode = nms__fpmode_enter ();
  float p[4], q[4], iou = 0.0f;

  memcpy (p, a, sizeof p);
  memcpy (q, b, sizeof q);
  if (nms__order_corners (p) && nms__order_corners (q)) {
    float inter = nms__inter (p[0], p[1], p[2], p[3], q[0], q[1], q[2], q[3]);
    float areas = (p[2] - p[0]) * (p[3] - p[1]) + (q[2] - q[0]) * (q[3] - q[1]);
    if (inter > 0.0f)
      iou = inter / (areas - inter);
  }
  nms__fpmode_leave (mode);
  return iou;
}
