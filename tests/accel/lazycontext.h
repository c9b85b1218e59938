/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazycontext: the context of lazy tensors that all cases of a program share. */
#pragma once

#include "nmslazy.h"

extern nms_lazy_cache
    *cache; /* runs programs with the eager executor or, if NMS_TEST_LAZY_DEVICE is set, on the
                               * device of NMS_TEST_XLA_PLUGIN */
extern nms_lazy *lz; /* a context of `cache` */

/* `start` and `finish` of a TestProgram: create and free both. */
const char *lazycontext_start (const char *needs);
void lazycontext_finish (void);
