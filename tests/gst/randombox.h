/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* randombox: boxes with odd numbers, labels and flags, for what writes them. */
#pragma once

#include "meta/box.h"

/* A box for a frame of `count`: some are suppressed by another one of it. */
void random_box (GRand * random, Box * b, guint count);
