/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* autofit: the prices of nmscore/engines/auto/auto_costs.c, from measurements. */
#ifndef AUTOFIT_H
#define AUTOFIT_H

#include "rivals.h"

/* What the engines did and took on these boxes, for the fit. */
void autofit_add (nms_context *ctx, const nms_boxes *boxes, const nms_options *options,
    const double us[ENGINES]);

/* Prints the prices of all ways that came up, for the instruction set of the
 * context, and how far from the times they are, as a standard deviation. */
void autofit_print (const nms_context *ctx);

#endif
