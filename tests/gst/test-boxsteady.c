/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstboxes.h"
#include "gstrunner.h"
static const TestCase cases[] = { { NULL } };

GST_TEST_PROGRAM (cases);
