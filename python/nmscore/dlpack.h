/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlpack: the structs of the DLPack protocol, version 0, by which torch, JAX and others
 * share their arrays. An object's method __dlpack__ returns a capsule named DLPACK_CAPSULE that
 * holds a dlpack_managed; its memory is valid until the capsule is freed. The layout is that of
 * DLPack's own header (https://dmlc.github.io/dlpack), of which this is the part that is read.
 */
#ifndef NMS_PYTHON_DLPACK_H
#define NMS_PYTHON_DLPACK_H

#include <stdint.h>

#define DLPACK_CAPSULE "dltensor"

/* Devices whose memory the CPU can read: the CPU, and host memory pinned by CUDA or ROCm. */
enum { DLPACK_CPU = 1, DLPACK_CUDA_HOST = 3, DLPACK_ROCM_HOST = 11 };

enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_BOOL = 6 };

typedef struct dlpack_tensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits; /* type (DLPACK_INT ...) and size of a number */
  uint16_t lanes;     /* numbers in an element */
  int64_t *shape;
  int64_t *strides; /* in elements; NULL if packed, the last index fastest */
  uint64_t byte_offset;
} dlpack_tensor;

typedef struct dlpack_managed {
  dlpack_tensor tensor;
  void *manager;
  void (*deleter) (struct dlpack_managed *self);
} dlpack_managed;

/* Name of the capsule in the attribute __dlpack_c_exchange_api__ of an array type (DLPack 1.3). The
 * capsule holds a dlpack_exchange, used here if its major version is 1. `view` describes an array
 * without owning it, and returns 0, or -1 with an exception. */
#define DLPACK_EXCHANGE "dlpack_exchange_api"

typedef struct dlpack_exchange {
  uint32_t major, minor;
  const struct dlpack_exchange *previous; /* the table of an older major version, or NULL */
  void (*unused[3]) (void);               /* functions that own or make arrays */
  int (*view) (void *object, dlpack_tensor *tensor);
} dlpack_exchange;

#endif
