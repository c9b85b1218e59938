/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fakepjrt: a PJRT plugin without a compiler, built several times:
 *
 *   FAKE_NONE    no function GetPjrtApi
 *   FAKE_MARKS   as FAKE_NONE; creates the file that NMS_TEST_MARK names when loaded
 *   FAKE_NULL    GetPjrtApi returns NULL
 *   FAKE_SMALL   a table that ends before the last function that the library uses
 *   FAKE_MAJOR   another major version of the interface
 *   FAKE_HOLE    a slot without a function
 *   FAKE_START   initialize fails, with a message of one line that no zero byte ends
 *   FAKE_EMPTY   a client without devices
 *   FAKE_ABORT   aborts the process when loaded
 *   FAKE_CRASH   initialize reads through a null pointer
 *   FAKE_QUIT    creating a client ends the process with status 0
 *   FAKE_HANG    GetPjrtApi never returns
 *   FAKE_STALL   compiling never returns
 *   FAKE_LATE    compiling takes 1 s, or the seconds that NMS_TEST_COMPILE names, and registers a
 *                destructor that aborts the process if it runs before the end
 *   FAKE_STUCK   closing the client never returns, except in nms-xla-probe
 *   FAKE_WORKS   works: a program returns its first inputs and computes nothing
 *
 * FAKE_WORKS fails on request and counts the objects that have not been destroyed; tests
 * call its functions (fakepjrt.h) through dlsym. Like a real plugin it checks the sizes
 * of argument structs.
 */
#include "accel/xla/pjrt.h"
#include "fakepjrt.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef FAKE_MARKS
#define FAKE_NONE

__attribute__ ((constructor)) static void
leave_mark (void)
{
  const char *name = getenv ("NMS_TEST_MARK");
  FILE *file = name ? fopen (name, "w") : NULL;
  if (file)
    fclose (file);
}
#endif

#ifdef FAKE_ABORT
__attribute__ ((constructor)) static void
abort_process (void)
{
  abort ();
}
#endif

#ifndef FAKE_NONE

#if defined FAKE_STUCK || defined FAKE_STALL || defined FAKE_HANG
/* Blocks for ever, as a driver does that waits for an absent device. */
static void
block (void)
{
  for (;;)
    sleep (1);
}
#endif

struct pjrt_error {
  char text[160];
};
struct pjrt_event {
  int unused;
};
struct pjrt_client {
  int unused;
};
struct pjrt_device {
  int unused;
};
struct pjrt_buffer {
  size_t size;
  char data[];
};
struct pjrt_executable {
  size_t outputs;
};
struct pjrt_loaded_executable {
  size_t outputs;
};

static atomic_long alive, calls, fail_at;

static void *
make (size_t size)
{
  void *object = calloc (1, size);
  if (!object)
    abort ();
  alive++;
  return object;
}

static void
unmake (void *object)
{
  if (object) {
    alive--;
    free (object);
  }
}

static pjrt_error *
fail (const char *what, const char *why)
{
  pjrt_error *error = make (sizeof *error);
  snprintf (error->text, sizeof error->text, "\n%s %s\nand more lines", what, why);
  return error;
}

/* Starts a call: returns an error if the test asked for it, or if the struct of arguments
 * is too small or has extensions. */
static pjrt_error *
begin (const pjrt_head *head, size_t size, const char *what)
{
  if (head->size < size)
    return fail (what, "was given too small a struct");
  if (head->extensions)
    return fail (what, "was given an extension");
  if (++calls == fail_at)
    return fail (what, "fails on request");
  return NULL;
}

#define BEGIN(what) \
  do { \
    pjrt_error *error = begin (&a->head, sizeof *a, what); \
    if (error) \
      return error; \
  } while (0)

static void
error_destroy (pjrt_error_args *a)
{
  unmake (a->error);
}

static void
error_message (pjrt_error_message_args *a)
{
  a->message = a->error->text;
  a->message_size = strcspn (a->error->text, "@");
}

static pjrt_error *
initialize (pjrt_initialize_args *a)
{
#if defined FAKE_START
  return fail ("initialize", "always fails@not a part of the message");
#elif defined FAKE_CRASH
  a = *(pjrt_initialize_args *volatile *) NULL;
#endif
  BEGIN ("initialize");
  return NULL;
}

static pjrt_error *
event_destroy (pjrt_event_args *a)
{
  unmake (a->event);
  BEGIN ("event_destroy");
  return NULL;
}

static pjrt_error *
event_await (pjrt_event_args *a)
{
  BEGIN ("event_await");
  return NULL;
}

static pjrt_error *
client_create (pjrt_client_create_args *a)
{
  BEGIN ("client_create");
#ifdef FAKE_QUIT
  exit (0);
#endif
  a->client = make (sizeof *a->client);
  return NULL;
}

static pjrt_error *
client_destroy (pjrt_client_args *a)
{
#ifdef FAKE_STUCK
  const char *probe = getenv ("NMS_XLA_PROBE");
  if (!probe || *probe)
    block ();
#endif
  unmake (a->client);
  BEGIN ("client_destroy");
  return NULL;
}

static pjrt_error *
platform_name (pjrt_platform_name_args *a)
{
  BEGIN ("platform_name");
  a->name = "fake and no more";
  a->name_size = 4;
  return NULL;
}

static pjrt_error *
addressable_devices (pjrt_devices_args *a)
{
  static pjrt_device device;
  static pjrt_device *const list[] = { &device };
  BEGIN ("addressable_devices");
  a->devices = list;
#ifndef FAKE_EMPTY
  a->device_count = 1;
#endif
  return NULL;
}

#ifdef FAKE_LATE
static atomic_int compiling;

static void
destroy_compiler (void)
{
  if (compiling)
    abort ();
}
#endif

/* Reads the number of outputs, which follows "outputs " in the text. */
static pjrt_error *
client_compile (pjrt_client_compile_args *a)
{
  const char *outputs;
  char text[64] = "";
  BEGIN ("client_compile");
#ifdef FAKE_STALL
  block ();
#endif
#ifdef FAKE_LATE
  compiling = 1;
  atexit (destroy_compiler);
  sleep (getenv ("NMS_TEST_COMPILE") ? (unsigned) atoi (getenv ("NMS_TEST_COMPILE")) : 1);
  compiling = 0;
#endif
  memcpy (text, a->program->code, a->program->code_size < 63 ? a->program->code_size : 63);
  outputs = strstr (text, "outputs ");
  a->executable = make (sizeof *a->executable);
  a->executable->outputs = outputs ? (size_t) atoi (outputs + 8) : 1;
  return NULL;
}

static pjrt_error *
from_host (pjrt_from_host_args *a)
{
  size_t size = a->type == PJRT_PRED ? 1 : 4;
  BEGIN ("from_host");
  for (size_t i = 0; i < a->dim_count; i++)
    size *= (size_t) a->dims[i];
  a->buffer = make (sizeof *a->buffer + size);
  a->buffer->size = size;
  memcpy (a->buffer->data, a->data, size);
  a->done = make (sizeof *a->done);
  return NULL;
}

static pjrt_error *
to_host (pjrt_to_host_args *a)
{
  BEGIN ("to_host");
  if (!a->data) {
    a->size = a->source->size;
    return NULL;
  }
  if (a->size < a->source->size)
    return fail ("to_host", "was given too little room");
  memcpy (a->data, a->source->data, a->source->size);
  a->event = make (sizeof *a->event);
  return NULL;
}

static pjrt_error *
buffer_destroy (pjrt_buffer_args *a)
{
  unmake (a->buffer);
  BEGIN ("buffer_destroy");
  return NULL;
}

static pjrt_error *
get_executable (pjrt_get_executable_args *a)
{
  BEGIN ("get_executable");
  a->executable = make (sizeof *a->executable);
  a->executable->outputs = a->loaded->outputs;
  return NULL;
}

static pjrt_error *
output_count (pjrt_output_count_args *a)
{
  BEGIN ("output_count");
  a->count = a->executable->outputs;
  return NULL;
}

static pjrt_error *
executable_destroy (pjrt_executable_args *a)
{
  unmake (a->executable);
  BEGIN ("executable_destroy");
  return NULL;
}

static pjrt_error *
loaded_executable_destroy (pjrt_loaded_executable_args *a)
{
  unmake (a->executable);
  BEGIN ("loaded_executable_destroy");
  return NULL;
}

static pjrt_error *
execute (pjrt_execute_args *a)
{
  const size_t options = sizeof *a->options;
  BEGIN ("execute");
  if (a->options->head.size < options)
    return fail ("execute", "was given too small a struct");
  for (size_t i = 0; i < a->executable->outputs; i++) {
    const pjrt_buffer *from = a->arguments[0][i % a->argument_count];
    a->outputs[0][i] = make (sizeof *from + from->size);
    memcpy (a->outputs[0][i], from, sizeof *from + from->size);
  }
  a->done[0] = make (sizeof **a->done);
  return NULL;
}

__attribute__ ((visibility ("default"))) void
fakepjrt_fail_at (long call)
{
  calls = 0;
  fail_at = call;
}

__attribute__ ((visibility ("default"))) long
fakepjrt_calls (void)
{
  return calls;
}

__attribute__ ((visibility ("default"))) long
fakepjrt_objects (void)
{
  return alive;
}

const pjrt_api *GetPjrtApi (void);

__attribute__ ((visibility ("default"))) const pjrt_api *
GetPjrtApi (void)
{
  static pjrt_api api;

  api = (pjrt_api) {
    .head.size = sizeof api,
    .version_head.size = sizeof (pjrt_head) + 8,
    .major = PJRT_MAJOR,
    .minor = 81,
    .error_destroy = error_destroy,
    .error_message = error_message,
    .initialize = initialize,
    .event_destroy = event_destroy,
    .event_await = event_await,
    .client_create = client_create,
    .client_destroy = client_destroy,
    .platform_name = platform_name,
    .addressable_devices = addressable_devices,
    .client_compile = client_compile,
    .from_host = from_host,
    .executable_destroy = executable_destroy,
    .output_count = output_count,
    .loaded_executable_destroy = loaded_executable_destroy,
    .get_executable = get_executable,
    .execute = execute,
    .buffer_destroy = buffer_destroy,
    .to_host = to_host,
  };
#ifdef FAKE_HANG
  block ();
#endif
#if defined FAKE_NULL
  return NULL;
#elif defined FAKE_SMALL
  api.head.size = offsetof (pjrt_api, to_host);
#elif defined FAKE_MAJOR
  api.major = 1;
#elif defined FAKE_HOLE
  api.execute = NULL;
#endif
  return &api;
}

#endif
