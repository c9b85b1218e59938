/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conformance: the hook by which tests/accel checks the cases of other projects, too. */
#pragma once

#include "enginecheck.h"

#include <glib.h>

/* Fails the test unless the program of lazy tensors gives the result of the reference. Only
 * programs that link tests/accel/addxla.c have it. */
void conformance_check_lazy (const nms_boxes *boxes, const nms_options *options)
    __attribute__ ((weak));
