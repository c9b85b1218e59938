/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xladevice: open devices of plugins, one for each plugin in a process, counted and
 * shared. Call nms__process_claim () before a plugin is opened or loaded.
 */
#ifndef NMS_XLADEVICE_H
#define NMS_XLADEVICE_H

#include "nmslazy.h"
#include "pjrt.h"

/* A serialized CompileOptionsProto: one replica, one partition. */
#define NMS__XLA_COMPILE_OPTIONS "\x1a\x04\x20\x01\x28\x01"

typedef struct nms__xla_device {
  nms_lazy_backend backend; /* first, because callers hold a pointer to it */
  struct nms__xla_device *next;
  size_t users;
  const pjrt_api *api;
  pjrt_client *client;
  pjrt_device *device;
  char name[64];
  char path[];
} nms__xla_device;

/* Opens the first device of the plugin in file `path`, or counts one more user of
 * it if this process has it open. `functions` gives the functions of the device's
 * backend. Returns 0, or a code of nms_error and one line of text. */
int nms__xla_device_open (const char *path, const nms_lazy_backend *functions,
    nms__xla_device **device, char *error, size_t error_size);

/* Releases a reference; the last one destroys the plugin's client and frees the device. Does
 * nothing in a forked process. */
void nms__xla_device_close (nms__xla_device *device);

/* Loads a plugin's library and returns its functions in *api; opens no device. */
int nms__xla_device_load (const char *path, const pjrt_api **api, char *error, size_t error_size);

/* For tests: the number of devices that this process has open, 0 in a forked process. */
size_t nms__xla_device_count (void);

#endif
