/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xladevice: what the files beside it share of an open device. */
#ifndef NMS_XLADEVICE_H
#define NMS_XLADEVICE_H

#include "nmsxla.h"
#include "xlalibrary.h"

#include <sys/types.h>

typedef struct nms__xla_device {
  nms_lazy_backend backend; /* what callers hold */
  struct nms__xla_device *next;
  size_t users;
  const pjrt_api *api;
  pjrt_client *client;
  pjrt_device *device;
  pid_t pid; /* of the process that opened it */
  char name[64];
  char path[];
} nms__xla_device;

/* What every compilation is told: one replica, one partition. */
#define NMS__XLA_COMPILE_OPTIONS "\x1a\x04\x20\x01\x28\x01"

/* xlaprogram.c: fills the functions of `backend`. */
void nms__xla_program_functions (nms_lazy_backend *backend);

/* 0, or an error in a process forked from the one that first used a plugin. */
int nms__xla_forked (char *error, size_t error_size);

/* 0, or an error in a process forked from the one that opened the device. */
int nms__xla_device_check (const nms__xla_device *device, char *error, size_t error_size);

#endif
