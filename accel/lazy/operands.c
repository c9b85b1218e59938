/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * operands: the checks of types and shapes. The text of an error names the operation and
 * the type and shape of each operand: "add of f32[2] and s32[3]: ...".
 */
#include "lazynodes.h"

#include <stdio.h>

nms__shape_text
nms__shape_describe (const nms_lazy_shape *shape)
{
  static const char *const types[] = { "none", "f32", "s32", "pred", "bf16" };
  nms__shape_text t;

  if (shape->rank == 2)
    snprintf (t.text, sizeof t.text, "%s[%d,%d]", types[shape->type], shape->dims[0],
        shape->dims[1]);
  else if (shape->rank == 1)
    snprintf (t.text, sizeof t.text, "%s[%d]", types[shape->type], shape->dims[0]);
  else
    snprintf (t.text, sizeof t.text, "%s[]", types[shape->type]);
  return t;
}

nms_lazy_tensor
nms__misfit (nms_lazy *lz, int op, int count, const nms_lazy_tensor *operands,
    const nms_lazy_shape *to)
{
  char text[NMS__LAZY_TEXT / 2] = "";
  int at = 0;

  for (int k = 0; k < count && !lz->status; k++) {
    const nms_lazy_shape s = nms_lazy_shape_of (lz, operands[k]);
    at += snprintf (text + at, sizeof text - (size_t) at, "%s%s",
        k == 0               ? " of "
            : k == count - 1 ? " and "
                             : ", ",
        nms__shape_describe (&s).text);
  }
  return nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "%s%s%s%s: types or shapes do not fit",
      nms__infos[op].name, text, to ? " to " : "", to ? nms__shape_describe (to).text : "");
}

const nms_lazy_shape *
nms__shape_get (nms_lazy *lz, int op, nms_lazy_tensor x, int types)
{
  const nms__operation *r = nms__operation_of (lz, x);

  if (r && !(NMS__TYPE (r->node.shape.type) & types)) {
    nms__misfit (lz, op, 1, &x, NULL);
    r = NULL;
  }
  return r ? &r->node.shape : NULL;
}

int
nms__shape_make (nms_lazy *lz, int32_t type, int rank, const int32_t *dims, nms_lazy_shape *shape)
{
  size_t elements = 1;

  *shape = (nms_lazy_shape) { .type = type, .rank = rank };
  if (type < NMS_LAZY_F32 || type > NMS_LAZY_BF16 || rank < 0 || rank > NMS_LAZY_MAX_RANK
      || (rank && !dims)) {
    nms__lazy_fail (lz, NMS_ERROR_ARGUMENT, "type %d or rank %d is unknown, or no extents", type,
        rank);
    return 0;
  }
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 1 || (size_t) dims[i] > NMS_LAZY_MAX_ELEMENTS / elements) {
      nms__lazy_fail (lz, NMS_ERROR_RANGE, "extent %d is %d, or makes too many elements", i,
          dims[i]);
      return 0;
    }
    shape->dims[i] = dims[i];
    elements *= (size_t) dims[i];
  }
  return !lz->status;
}
