/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* randombox: makes boxes with unusual numbers, labels and flags, for tests of the text formats. */
#pragma once

#include "meta/box.h"

/* Makes a random box of a frame with `count` boxes; a suppressed box may name any
 * of them as suppressed-by. */
void random_box (GRand *random, Box *b, guint count);
