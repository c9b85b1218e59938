/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pjrt: the part of PJRT, the C interface of XLA's backends, that engine xla uses. A
 * plugin is a shared library with a function `GetPjrtApi`, which returns a table of
 * functions. These declarations were written for this project, for version 0.81 of the
 * interface. The assertions at the end check all offsets and sizes that plugins rely
 * on.
 *
 * Every function takes one struct of arguments, which begins with its size. A plugin
 * refuses a struct smaller than its own and accepts a larger one, so the sizes here
 * are those of the newest version, and unused fields are 0. Tables only grow: a
 * function exists if the table's size includes its slot. Functions return NULL or an
 * error. The caller destroys errors, events, buffers, executables and clients.
 */
#ifndef NMS_PJRT_H
#define NMS_PJRT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define PJRT_MAJOR 0 /* different major versions are incompatible */

typedef struct pjrt_error pjrt_error;
typedef struct pjrt_event pjrt_event;
typedef struct pjrt_client pjrt_client;
typedef struct pjrt_device pjrt_device;
typedef struct pjrt_buffer pjrt_buffer;
typedef struct pjrt_executable pjrt_executable;               /* a compiled program */
typedef struct pjrt_loaded_executable pjrt_loaded_executable; /* loaded on a device */
typedef struct pjrt_topology pjrt_topology;

/* The element types that engine xla uses. */
enum { PJRT_PRED = 1, PJRT_S32 = 4, PJRT_F32 = 11, PJRT_BF16 = 13 };

/* The head of every struct of arguments. */
typedef struct pjrt_head {
  size_t size;
  void *extensions;
} pjrt_head;

/* Declares a struct of arguments whose size is set and whose other fields are 0. */
#define PJRT_ARGS(type, name) type name = { .head = { sizeof (type), NULL } }

typedef struct pjrt_initialize_args {
  pjrt_head head;
} pjrt_initialize_args;

typedef struct pjrt_error_args {
  pjrt_head head;
  pjrt_error *error;
} pjrt_error_args;

typedef struct pjrt_error_message_args {
  pjrt_head head;
  const pjrt_error *error;
  const char *message; /* out; valid as long as the error */
  size_t message_size; /* out */
} pjrt_error_message_args;

typedef struct pjrt_event_args { /* destroy and await */
  pjrt_head head;
  pjrt_event *event;
} pjrt_event_args;

typedef struct pjrt_named_value {
  pjrt_head head;
  const char *name;
  size_t name_size;
  int type; /* 0 for a string */
  const char *string;
  size_t value_size;
} pjrt_named_value;

typedef struct pjrt_client_create_args {
  pjrt_head head;
  const pjrt_named_value *options;
  size_t option_count;
  void *key_value_get, *key_value_get_user, *key_value_put, *key_value_put_user;
  pjrt_client *client; /* out */
  void *key_value_try_get, *key_value_try_get_user;
} pjrt_client_create_args;

typedef struct pjrt_client_args { /* destroy */
  pjrt_head head;
  pjrt_client *client;
} pjrt_client_args;

typedef struct pjrt_platform_name_args {
  pjrt_head head;
  pjrt_client *client;
  const char *name; /* out; may lack a final 0; valid as long as the client */
  size_t name_size; /* out */
} pjrt_platform_name_args;

typedef struct pjrt_devices_args {
  pjrt_head head;
  pjrt_client *client;
  pjrt_device *const *devices; /* out */
  size_t device_count;         /* out */
} pjrt_devices_args;

typedef struct pjrt_program {
  pjrt_head head;
  const char *code;
  size_t code_size;
  const char *format; /* "mlir" */
  size_t format_size;
} pjrt_program;

typedef struct pjrt_client_compile_args {
  pjrt_head head;
  pjrt_client *client;
  const pjrt_program *program;
  const char *options; /* a serialized CompileOptionsProto */
  size_t options_size;
  pjrt_loaded_executable *executable; /* out */
} pjrt_client_compile_args;

typedef struct pjrt_from_host_args {
  pjrt_head head;
  pjrt_client *client;
  const void *data;
  int type;
  const int64_t *dims;
  size_t dim_count;
  const int64_t *byte_strides; /* NULL if row-major */
  size_t byte_stride_count;
  int semantics; /* 0 if the plugin reads `data` only during the call */
  pjrt_device *device;
  void *memory, *layout;
  pjrt_event *done;    /* out: the plugin has read `data` */
  pjrt_buffer *buffer; /* out */
} pjrt_from_host_args;

typedef struct pjrt_to_host_args {
  pjrt_head head;
  pjrt_buffer *source;
  void *layout;
  void *data;
  size_t size;       /* in: bytes of `data`; out if `data` is NULL: bytes needed */
  pjrt_event *event; /* out: `data` is written */
} pjrt_to_host_args;

typedef struct pjrt_buffer_args { /* destroy */
  pjrt_head head;
  pjrt_buffer *buffer;
} pjrt_buffer_args;

typedef struct pjrt_executable_args { /* destroy */
  pjrt_head head;
  pjrt_executable *executable;
} pjrt_executable_args;

typedef struct pjrt_output_count_args {
  pjrt_head head;
  pjrt_executable *executable;
  size_t count; /* out */
} pjrt_output_count_args;

typedef struct pjrt_loaded_executable_args { /* destroy */
  pjrt_head head;
  pjrt_loaded_executable *executable;
} pjrt_loaded_executable_args;

typedef struct pjrt_get_executable_args {
  pjrt_head head;
  pjrt_loaded_executable *loaded;
  pjrt_executable *executable; /* out; the caller destroys it */
} pjrt_get_executable_args;

typedef struct pjrt_execute_options {
  pjrt_head head;
  void *send_callbacks, *receive_callbacks;
  size_t send_count, receive_count;
  int launch_id;
  const int64_t *not_donated; /* inputs that the program must not overwrite */
  size_t not_donated_count;
  void *context;
  const char *call_location;
  size_t task_count;
  int *task_ids;
  int64_t *incarnation_ids;
} pjrt_execute_options;

typedef struct pjrt_execute_args {
  pjrt_head head;
  pjrt_loaded_executable *executable;
  pjrt_execute_options *options;
  pjrt_buffer *const *const *arguments; /* one list for each device */
  size_t device_count;
  size_t argument_count;
  pjrt_buffer **const *outputs; /* out: one list for each device, owned by the caller */
  pjrt_event **done;            /* out: one event for each device */
  pjrt_device *device;          /* NULL for the device of the compilation */
} pjrt_execute_args;

typedef struct pjrt_topology_create_args {
  pjrt_head head;
  const char *name;
  size_t name_size;
  const pjrt_named_value *options;
  size_t option_count;
  pjrt_topology *topology; /* out */
} pjrt_topology_create_args;

typedef struct pjrt_topology_args { /* destroy */
  pjrt_head head;
  pjrt_topology *topology;
} pjrt_topology_args;

typedef struct pjrt_compile_args { /* for a device that this machine may not have */
  pjrt_head head;
  const pjrt_topology *topology;
  const pjrt_program *program;
  const char *options;
  size_t options_size;
  pjrt_client *client;         /* NULL */
  pjrt_executable *executable; /* out */
} pjrt_compile_args;

typedef struct pjrt_serialize_args {
  pjrt_head head;
  const pjrt_executable *executable;
  const char *bytes;                          /* out; valid until `free_serialized` */
  size_t size;                                /* out */
  void *serialized;                           /* out */
  void (*free_serialized) (void *serialized); /* out */
} pjrt_serialize_args;

typedef struct pjrt_load_args {
  pjrt_head head;
  pjrt_client *client;
  const char *bytes; /* an executable, serialized by the same plugin */
  size_t size;
  pjrt_loaded_executable *executable; /* out */
  const char *options;                /* NULL for those of the executable */
  size_t options_size;
  void *load_options;
} pjrt_load_args;

typedef struct pjrt_api {
  pjrt_head head;
  pjrt_head version_head;
  int major, minor;

  /* slots; the comments are their numbers */
  void (*error_destroy) (pjrt_error_args *); /* 0 */
  void (*error_message) (pjrt_error_message_args *);
  void *error_get_code;
  pjrt_error *(*initialize) (pjrt_initialize_args *); /* 3 */
  void *attributes;
  pjrt_error *(*event_destroy) (pjrt_event_args *); /* 5 */
  void *event_slots[2];
  pjrt_error *(*event_await) (pjrt_event_args *); /* 8 */
  void *event_on_ready;
  pjrt_error *(*client_create) (pjrt_client_create_args *); /* 10 */
  pjrt_error *(*client_destroy) (pjrt_client_args *);
  pjrt_error *(*platform_name) (pjrt_platform_name_args *); /* 12 */
  void *client_slots[3];
  pjrt_error *(*addressable_devices) (pjrt_devices_args *); /* 16 */
  void *client_slots_2[3];
  pjrt_error *(*client_compile) (pjrt_client_compile_args *); /* 20 */
  void *default_device_assignment;
  pjrt_error *(*from_host) (pjrt_from_host_args *); /* 22 */
  void *device_slots[17];
  pjrt_error *(*executable_destroy) (pjrt_executable_args *); /* 40 */
  void *executable_slots[3];
  pjrt_error *(*output_count) (pjrt_output_count_args *); /* 44 */
  void *executable_slots_2[4];
  pjrt_error *(*serialize) (pjrt_serialize_args *);                         /* 49 */
  pjrt_error *(*loaded_executable_destroy) (pjrt_loaded_executable_args *); /* 50 */
  pjrt_error *(*get_executable) (pjrt_get_executable_args *);
  void *loaded_executable_slots[3];
  pjrt_error *(*execute) (pjrt_execute_args *); /* 55 */
  pjrt_error *(*load) (pjrt_load_args *);       /* 56 */
  void *fingerprint;
  pjrt_error *(*buffer_destroy) (pjrt_buffer_args *); /* 58 */
  void *buffer_slots[11];
  pjrt_error *(*to_host) (pjrt_to_host_args *); /* 70 */
  void *later_slots[11];
  pjrt_error *(*topology_create) (pjrt_topology_create_args *); /* 82 */
  pjrt_error *(*topology_destroy) (pjrt_topology_args *);
  void *topology_slots[5];
  pjrt_error *(*compile) (pjrt_compile_args *); /* 89 */
} pjrt_api;

#if UINTPTR_MAX == 0xffffffffffffffff
#define PJRT_SLOT(name, number) \
  static_assert (offsetof (pjrt_api, name) == 40 + 8 * (number), "PJRT slot " #number)
#define PJRT_SIZE(type, bytes) static_assert (sizeof (type) == (bytes), "size of " #type)
PJRT_SLOT (error_destroy, 0);
PJRT_SLOT (error_message, 1);
PJRT_SLOT (initialize, 3);
PJRT_SLOT (event_destroy, 5);
PJRT_SLOT (event_await, 8);
PJRT_SLOT (client_create, 10);
PJRT_SLOT (client_destroy, 11);
PJRT_SLOT (platform_name, 12);
PJRT_SLOT (addressable_devices, 16);
PJRT_SLOT (client_compile, 20);
PJRT_SLOT (from_host, 22);
PJRT_SLOT (executable_destroy, 40);
PJRT_SLOT (output_count, 44);
PJRT_SLOT (serialize, 49);
PJRT_SLOT (loaded_executable_destroy, 50);
PJRT_SLOT (get_executable, 51);
PJRT_SLOT (execute, 55);
PJRT_SLOT (load, 56);
PJRT_SLOT (buffer_destroy, 58);
PJRT_SLOT (to_host, 70);
PJRT_SLOT (topology_create, 82);
PJRT_SLOT (topology_destroy, 83);
PJRT_SLOT (compile, 89);
PJRT_SIZE (pjrt_head, 16);
PJRT_SIZE (pjrt_initialize_args, 16);
PJRT_SIZE (pjrt_error_args, 24);
PJRT_SIZE (pjrt_error_message_args, 40);
PJRT_SIZE (pjrt_event_args, 24);
PJRT_SIZE (pjrt_named_value, 56);
PJRT_SIZE (pjrt_client_create_args, 88);
PJRT_SIZE (pjrt_client_args, 24);
PJRT_SIZE (pjrt_platform_name_args, 40);
PJRT_SIZE (pjrt_devices_args, 40);
PJRT_SIZE (pjrt_program, 48);
PJRT_SIZE (pjrt_client_compile_args, 56);
PJRT_SIZE (pjrt_from_host_args, 120);
PJRT_SIZE (pjrt_to_host_args, 56);
PJRT_SIZE (pjrt_buffer_args, 24);
PJRT_SIZE (pjrt_executable_args, 24);
PJRT_SIZE (pjrt_output_count_args, 32);
PJRT_SIZE (pjrt_loaded_executable_args, 24);
PJRT_SIZE (pjrt_get_executable_args, 32);
PJRT_SIZE (pjrt_execute_options, 112);
PJRT_SIZE (pjrt_execute_args, 80);
PJRT_SIZE (pjrt_topology_create_args, 56);
PJRT_SIZE (pjrt_topology_args, 24);
PJRT_SIZE (pjrt_compile_args, 64);
PJRT_SIZE (pjrt_serialize_args, 56);
PJRT_SIZE (pjrt_load_args, 72);
#undef PJRT_SLOT
#undef PJRT_SIZE
#endif

#endif
