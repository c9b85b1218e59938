/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sharedcontext: the context that all cases of a program share. */
#pragma once

#include "nmscore.h"

extern nms_context *context;

/* `start` and `finish` of a TestProgram: create and free `context`. */
const char *sharedcontext_start (const char *needs);
void sharedcontext_finish (void);
