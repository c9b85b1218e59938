/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bench-elements: declares the parts of the program that are in other files. */
#pragma once

#include "timings.h"

#define IOU 0.5f
#define IOU_TEXT "0.5"
#define FILTER_ROW "nmsfilter, %u boxes, %u kept%s" /* %s: form of the metadata */

/* Prints the times of nmsfilter on regions of interest. */
void bench_filter (Timings *timings);

/* Prints the times of nmsfilter on GstAnalytics detections; nothing if the program was
 * built without GstAnalytics. */
void bench_analytics (Timings *timings);

/* Prints the times of boxmerge. */
void bench_merge (Timings *timings);
