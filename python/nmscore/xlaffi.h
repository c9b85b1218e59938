/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaffi: the part of XLA's foreign function interface (FFI) that a handler on the CPU needs. XLA
 * calls a handler with one frame: buffers of arguments and results, and attributes sorted by
 * name. These declarations were written for this project after xla/ffi/api/c_api.h of XLA
 * (version 0.3 of the interface, jaxlib 0.10), so that the build does not need jaxlib. What is
 * declared has the same layout in versions 0.1 to 0.3. The assertions at the end check it.
 */
#ifndef NMS_PYTHON_XLAFFI_H
#define NMS_PYTHON_XLAFFI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The versions for which these declarations hold. */
enum { XLAFFI_MAJOR = 0, XLAFFI_MINOR_LEAST = 1, XLAFFI_MINOR_MOST = 3 };

/* The element types, error codes, stages and extensions that are used. */
enum {
  XLAFFI_PRED = 1,
  XLAFFI_S32 = 4,
  XLAFFI_S64 = 5,
  XLAFFI_F16 = 10,
  XLAFFI_F32 = 11,
  XLAFFI_BF16 = 16
};
enum { XLAFFI_INVALID_ARGUMENT = 3, XLAFFI_RESOURCE_EXHAUSTED = 8 };
enum { XLAFFI_EXECUTE = 3 };
enum { XLAFFI_METADATA = 1 };
enum { XLAFFI_ATTRIBUTE_ARRAY = 1, XLAFFI_ATTRIBUTE_SCALAR = 3 };

typedef struct xlaffi_error xlaffi_error;

typedef struct xlaffi_extension {
  size_t size;
  int type;
  struct xlaffi_extension *next;
} xlaffi_extension;

typedef struct xlaffi_version {
  size_t size;
  xlaffi_extension *extensions;
  int major, minor;
} xlaffi_version;

/* XLA asks for this at the registration of a handler. */
typedef struct xlaffi_metadata {
  size_t size;
  xlaffi_version version; /* out: the version for which the handler was built */
  uint32_t traits;        /* out */
} xlaffi_metadata;

typedef struct xlaffi_metadata_extension {
  xlaffi_extension base;
  xlaffi_metadata *metadata;
} xlaffi_metadata_extension;

typedef struct xlaffi_error_args {
  size_t size;
  xlaffi_extension *extensions;
  const char *message; /* copied */
  int code;
} xlaffi_error_args;

typedef struct xlaffi_api {
  size_t size;
  xlaffi_extension *extensions;
  xlaffi_version version;
  const void *internal;
  xlaffi_error *(*create_error) (xlaffi_error_args *);
} xlaffi_api;

typedef struct xlaffi_buffer {
  size_t size;
  xlaffi_extension *extensions;
  int type;
  void *data;
  int64_t rank;
  int64_t *dims;
} xlaffi_buffer;

/* The arguments or the results: `count` buffers. */
typedef struct xlaffi_buffers {
  size_t size;
  xlaffi_extension *extensions;
  int64_t count;
  int *types;
  xlaffi_buffer **buffers;
} xlaffi_buffers;

typedef struct xlaffi_text {
  const char *text; /* may lack a final 0 */
  size_t length;
} xlaffi_text;

typedef struct xlaffi_scalar {
  int type;
  void *value;
} xlaffi_scalar;

typedef struct xlaffi_array {
  int type;
  size_t count;
  void *values;
} xlaffi_array;

typedef struct xlaffi_attributes {
  size_t size;
  xlaffi_extension *extensions;
  int64_t count;
  int *types;
  xlaffi_text **names;
  void **values; /* an xlaffi_scalar or xlaffi_array each */
} xlaffi_attributes;

typedef struct xlaffi_frame {
  size_t size;
  xlaffi_extension *extensions;
  const xlaffi_api *api;
  void *context;
  int stage;
  xlaffi_buffers args, rets;
  xlaffi_attributes attributes;
} xlaffi_frame;

/* Tells whether a struct that XLA passed has the field `field`. */
#define XLAFFI_HAS(pointer, field) \
  ((pointer)->size >= (size_t) ((const char *) (&(pointer)->field + 1) - (const char *) (pointer)))

#if UINTPTR_MAX == 0xffffffffffffffff
#define XLAFFI_AT(type, field, offset) \
  static_assert (offsetof (type, field) == (offset), "offset of " #field " in " #type)
XLAFFI_AT (xlaffi_extension, next, 16);
XLAFFI_AT (xlaffi_version, minor, 20);
XLAFFI_AT (xlaffi_metadata, traits, 32);
XLAFFI_AT (xlaffi_metadata_extension, metadata, 24);
XLAFFI_AT (xlaffi_error_args, code, 24);
XLAFFI_AT (xlaffi_api, create_error, 48);
XLAFFI_AT (xlaffi_buffer, dims, 40);
XLAFFI_AT (xlaffi_buffers, buffers, 32);
XLAFFI_AT (xlaffi_attributes, values, 40);
XLAFFI_AT (xlaffi_frame, stage, 32);
XLAFFI_AT (xlaffi_frame, args, 40);
XLAFFI_AT (xlaffi_frame, rets, 80);
XLAFFI_AT (xlaffi_frame, attributes, 120);
#undef XLAFFI_AT
#endif

#endif
