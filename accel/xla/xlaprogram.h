/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaprogram: the functions of a device's backend, which compile and run programs. */
#ifndef NMS_XLAPROGRAM_H
#define NMS_XLAPROGRAM_H

#include "nmslazy.h"

/* compile, run and free_program, for backends inside an nms__xla_device; the other
 * fields are 0. */
extern const nms_lazy_backend nms__xla_program_functions;

#endif
