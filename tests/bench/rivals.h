/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rivals: every engine on the same boxes, in turn. */
#ifndef RIVALS_H
#define RIVALS_H

#include <nmscore.h>

#define ENGINES 4 /* auto first */

/* Times all engines, in microseconds; those far behind hardly. Returns how many
 * times as long as the best of them auto takes. */
double measure_engines (nms_context *ctx, const nms_boxes *boxes, nms_options *options,
    double us[ENGINES], int *best, int *picked);

#endif
