/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classoptionsdict: converts the parameter class_options, a dict of dicts, to nms_class_options. */
#ifndef NMS_PYTHON_CLASSOPTIONSDICT_H
#define NMS_PYTHON_CLASSOPTIONSDICT_H

#include "module.h"

/* Reads `value`, None or {class id: {"iou_threshold": ..., ...}}. Returns 0, or -1 with an
 * exception. The caller frees *entries, which may be NULL, with PyMem_Free. */
int class_options_read (PyObject *value, nms_class_options **entries, size_t *count);

#endif
