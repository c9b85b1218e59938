/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlafolder: compiled programs in files, in the folder that NMS_XLA_PROGRAMS names, so that later
 * processes do not compile them again. Thread-safe; several processes may use a folder.
 */
#ifndef NMS_XLAFOLDER_H
#define NMS_XLAFOLDER_H

#include "xladevice.h"

/* Loads the program of `length` bytes of text. Returns NULL if there is no folder, no file, or one
 * that cannot be used. */
pjrt_loaded_executable *nms__xla_folder_load (const nms__xla_device *device, const char *text,
    size_t length);

/* Writes the program of a text, if there is a folder and the plugin can write and load programs. An
 * error is not reported, because only time is lost. */
void nms__xla_folder_save (const nms__xla_device *device, const char *text, size_t length,
    pjrt_loaded_executable *loaded);

#endif
