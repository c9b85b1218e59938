/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrules: numbers that nmscore.h states in its definition of a box. */
#ifndef NMS_BOXRULES_H
#define NMS_BOXRULES_H

/* An extent of at most this counts as 0. */
#define NMS__LEAST_EXTENT 0x1p-50f

/* A coordinate beyond this is invalid. */
#define NMS__MOST_COORDINATE 1e18f

#endif
