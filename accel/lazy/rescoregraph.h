/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rescoregraph: records soft-NMS and Matrix NMS as operations on lazy tensors (nmslazy.h), so that
 * each becomes one program, alone or behind the decoding of a detector's head. The results are
 * those of nms_run with metric iou, bit for bit, on devices that round divisions correctly (XLA's
 * do on CPUs).
 *
 *     nms_lazy_rescored kept = nms_lazy_soft_nms (lz, &boxes, scores, least, sigma, 1);
 *     nms_lazy_tensor want[] = { kept.picks, kept.score, kept.count };
 *     nms_lazy_read (lz, 3, want, (void *[]) { picks, new_scores, &count });
 */
#ifndef RESCOREGRAPH_H
#define RESCOREGRAPH_H

#include "nmsgraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nms_lazy_rescored {
  nms_lazy_tensor picks; /* S32: positions of the kept boxes, greatest new score first, then -1 */
  nms_lazy_tensor score; /* F32: the new score of each pick, then -1 */
  nms_lazy_tensor count; /* S32 scalar: the number of kept boxes */
} nms_lazy_rescored;

/* Both functions use these fields of `boxes`: x1 .. y2, class_id, valid, cap and, for linear
 * soft-NMS, limit (nms_lazy_limit_of).
 *
 * score      F32, N elements: 0 or more, finite. Not used where `valid` is 0
 * min_score  F32 scalar, 0 or more: boxes whose score is below it, at first or later, are not kept
 * sigma      F32 scalar, above 0: nms_options.sigma, without its default; for gaussian only, else
 *            NMS_LAZY_NONE
 * gaussian   0: linear
 *
 * After a latched error all tensors of the result are NMS_LAZY_NONE. */
NMS_API nms_lazy_rescored nms_lazy_soft_nms (nms_lazy *lz, const nms_lazy_boxes *boxes,
    nms_lazy_tensor score, nms_lazy_tensor min_score, nms_lazy_tensor sigma, int gaussian);
NMS_API nms_lazy_rescored nms_lazy_matrix_nms (nms_lazy *lz, const nms_lazy_boxes *boxes,
    nms_lazy_tensor score, nms_lazy_tensor min_score, nms_lazy_tensor sigma, int gaussian);

#ifdef __cplusplus
}
#endif

#endif
