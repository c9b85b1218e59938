/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaoptions: reads nms_options from the attributes of a call by XLA. */
#ifndef NMS_PYTHON_XLAOPTIONS_H
#define NMS_PYTHON_XLAOPTIONS_H

#include "nmscore.h"
#include "xlaffi.h"

/* Sets the options that the attributes name, and all others to their defaults. The caller frees
 * *classes, also after an error. Returns NULL, or one line about the attribute that is unknown or
 * has the wrong type. */
const char *xlaoptions_read (const xlaffi_attributes *attributes, nms_options *options,
    nms_class_options **classes);

#endif
