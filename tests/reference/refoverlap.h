/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refoverlap: the metrics of a pair of boxes, for the files of the reference. */
#pragma once

#include "refboxes.h"

/* Returns the angle of a box, reduced beyond +-2 pi. */
double ref_radians (const RefBox *box);

/* Returns the nms_metric of two boxes, rounded to binary32. It is 0 for boxes that do not
 * intersect and for boxes without area. */
float ref_metric (const RefBox *a, const RefBox *b, unsigned metric);

/* Returns whether the metric of the two boxes is above `threshold`, or equal to it if
 * inclusive, and the boxes intersect. */
bool ref_overlaps (const RefBox *a, const RefBox *b, unsigned metric, float threshold,
    bool inclusive);

/* Returns whether min_size_ratio lets two boxes meet. */
bool ref_sizes_fit (const RefBox *a, const RefBox *b, const nms_options *options);
