/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the cache of programs of lazy tensors: which traces share a program, how many
 * programs are kept, and which calls a backend gets. The backend here counts its calls
 * and computes x + x, whatever the text.
 */
#include "accel/lazy/lazynodes.h"
#include "lazyscoped.h"
#include "testrunner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ backend */

/* A backend whose programs double their only input, with a cache and a context. */
typedef struct {
  nms_lazy_backend backend;
  nms_lazy_cache *cache;
  nms_lazy *lz;
  gint compiles, runs, frees;
  gint fail_compile, fail_run;
  pthread_mutex_t gate; /* a test that holds it makes compilations wait */
  char *text;           /* text of the last compilation */
  size_t input_count;   /* what seeing_run got: the number of inputs, and the last two, backwards */
  float last[2];
  gint kept, freed; /* values on the device that were made and freed */
} Counting;

static int
counting_compile (nms_lazy_backend *backend, const char *text, size_t length, size_t output_count,
    void **program, char *error, size_t error_size)
{
  Counting *c = (Counting *) backend;

  g_atomic_int_inc (&c->compiles);
  pthread_mutex_lock (&c->gate);
  g_free (c->text);
  c->text = g_strndup (text, length);
  pthread_mutex_unlock (&c->gate);
  if (g_atomic_int_get (&c->fail_compile)) {
    g_snprintf (error, (gulong) error_size, "no compiler today");
    return NMS_ERROR_UNSUPPORTED;
  }
  g_assert_cmpuint (output_count, ==, 1);
  *program = g_strndup (text, length);
  return NMS_OK;
}

static int
counting_run (nms_lazy_backend *backend, void *program, const nms_lazy_buffer *inputs,
    size_t input_count, const nms_lazy_buffer *outputs, size_t output_count, char *error,
    size_t error_size)
{
  Counting *c = (Counting *) backend;
  const nms_lazy_shape *shape = &inputs[0].shape;
  g_autofree char *main = g_strdup_printf (shape->rank ? "@main(%%a0: tensor<%dxf32>)"
                                                       : "@main(%%a0: tensor<f32>)",
      shape->dims[0]);
  const float *in = inputs[0].data;
  float *out = outputs[0].data;

  g_atomic_int_inc (&c->runs);
  if (g_atomic_int_get (&c->fail_run)) {
    g_snprintf (error, (gulong) error_size, "the device is gone");
    return NMS_ERROR_DEVICE;
  }
  g_assert_nonnull (strstr (program, main)); /* compiled for this shape */
  g_assert_cmpuint (input_count, ==, 1);
  g_assert_cmpuint (output_count, ==, 1);
  g_assert_cmpmem (shape, sizeof *shape, &outputs[0].shape, sizeof *shape);
  g_assert_cmpuint ((guintptr) in % 64, ==, 0);
  for (size_t i = 0; i < nms_lazy_shape_elements (shape); i++)
    out[i] = in[i] + in[i];
  return NMS_OK;
}

static void
counting_free (nms_lazy_backend *backend, void *program)
{
  g_atomic_int_inc (&((Counting *) backend)->frees);
  g_free (program);
}

/* `programs` is the most that the cache keeps; 0 for the default. */
static void
counting_init (Counting *c, size_t programs)
{
  memset (c, 0, sizeof *c);
  c->backend = (nms_lazy_backend) { sizeof c->backend, "counting", counting_compile, counting_run,
    counting_free };
  pthread_mutex_init (&c->gate, NULL);
  c->cache = nms_lazy_cache_new (&c->backend, programs);
  c->lz = nms_lazy_new (c->cache);
}

static void
counting_clear (Counting *c)
{
  nms_lazy_free (&c->lz);
  nms_lazy_cache_free (&c->cache);
  g_assert_cmpint (c->frees, ==, c->compiles - c->fail_compile);
  g_assert_cmpint (c->freed, ==, c->kept);
  pthread_mutex_destroy (&c->gate);
  g_free (c->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Counting, counting_clear)

/* ----------------------------------------------------------------- programs */

static nms_lazy_counters
counters (nms_lazy_cache *cache)
{
  nms_lazy_counters c = { .size = sizeof c };

  g_assert_cmpint (nms_lazy_cache_counters (cache, &c), ==, NMS_OK);
  g_assert_cmpuint (c.traces, ==, c.hits + c.misses);
  return c;
}

/* Records x + x of one number. */
static nms_lazy_tensor
doubled (nms_lazy *lz, float value)
{
  nms_lazy_tensor x = nms_lazy_input_f32 (lz, value);
  return nms_lazy_binary (lz, NMS_LAZY_ADD, x, x);
}

static float
value_of (nms_lazy *lz, nms_lazy_tensor x)
{
  float value;

  g_assert_cmpint (nms_lazy_read (lz, 1, &x, (void *[]) { &value }), ==, NMS_OK);
  g_assert_cmpstr (nms_lazy_error (lz), ==, "");
  return value;
}

/* Reads x, which fails with this code and text and writes nothing. */
static void
read_fails (nms_lazy *lz, nms_lazy_tensor x, int code, const char *text)
{
  float value = 77.0f;

  g_assert_cmpint (nms_lazy_read (lz, 1, &x, (void *[]) { &value }), ==, code);
  g_assert_cmpstr (nms_lazy_error (lz), ==, text);
  g_assert_cmpint (nms_lazy_status (lz), ==, NMS_OK);
  g_assert_cmpfloat (value, ==, 77.0f);
}

/* Reads x + x for n elements of `value`. */
static int
twice (nms_lazy *lz, int32_t n, float value)
{
  g_autofree float *data = g_new (float, n), *result = g_new (float, n);
  nms_lazy_tensor x, y;
  int status;

  for (int32_t i = 0; i < n; i++)
    data[i] = value;
  nms_lazy_clear (lz);
  x = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, data);
  y = nms_lazy_binary (lz, NMS_LAZY_ADD, x, x);
  status = nms_lazy_read (lz, 1, &y, (void *[]) { result });
  for (int32_t i = 0; i < n && !status; i++)
    g_assert_cmpfloat (result[i], ==, 2.0f * value);
  return status;
}

/* Reads whether 3 floats exceed a threshold, an input or a constant. */
static void
above (nms_lazy *lz, float threshold, int baked, const uint8_t expected[3])
{
  const float data[3] = { 0.1f, 0.2f, 0.3f };
  uint8_t result[3];
  nms_lazy_tensor x, t, y;

  nms_lazy_clear (lz);
  x = nms_lazy_input (lz, NMS_LAZY_F32, 1, (int32_t[]) { 3 }, data);
  t = baked ? nms_lazy_f32 (lz, threshold) : nms_lazy_input_f32 (lz, threshold);
  y = nms_lazy_binary (lz, NMS_LAZY_GT, x, t);
  g_assert_cmpint (nms_lazy_read (lz, 1, &y, (void *[]) { result }), ==, NMS_OK);
  g_assert_cmpmem (result, 3, expected, 3);
}

static void
test_same_program (void)
{
  g_autoptr (nms_lazy_cache) cache = nms_lazy_cache_new (NULL, 0);
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache), other = nms_lazy_new (cache);

  for (int i = 0; i < 1000; i++)
    above (lz, (float) i / 1000.0f, 0, (uint8_t[]) { i < 100, i < 200, i < 300 });
  g_assert_cmpuint (counters (cache).misses, ==, 1);
  g_assert_cmpuint (counters (cache).hits, ==, 999);
  g_assert_cmpuint (counters (cache).runs, ==, 1000);
  above (other, 0.15f, 0, (uint8_t[]) { 0, 1, 1 });
  g_assert_cmpuint (counters (cache).misses, ==, 1);
}

static void
test_other_programs (void)
{
  g_autoptr (nms_lazy_cache) cache = nms_lazy_cache_new (NULL, 0);
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache);

  above (lz, 0.15f, 1, (uint8_t[]) { 0, 1, 1 });
  above (lz, 0.15f, 1, (uint8_t[]) { 0, 1, 1 });
  g_assert_cmpuint (counters (cache).misses, ==, 1);
  above (lz, 0.25f, 1, (uint8_t[]) { 0, 0, 1 }); /* another constant */
  g_assert_cmpuint (counters (cache).misses, ==, 2);
  above (lz, 0.25f, 0, (uint8_t[]) { 0, 0, 1 }); /* an input instead */
  g_assert_cmpuint (counters (cache).misses, ==, 3);
  for (int32_t n = 1; n < 6; n++) /* other shapes */
    g_assert_cmpint (twice (lz, n, 3.0f), ==, NMS_OK);
  g_assert_cmpuint (counters (cache).misses, ==, 8);
}

static void
test_bound (void)
{
  static const struct {
    int32_t elements;
    int compiles, frees;
  } rows[] = { { 1, 1, 0 }, { 2, 2, 0 }, { 1, 2, 0 }, { 3, 3, 1 }, /* 2 is freed */
    { 1, 3, 1 }, { 2, 4, 2 } };                                    /* 3 is freed */
  g_auto (Counting) c = { 0 };

  counting_init (&c, 2);
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_assert_cmpint (twice (c.lz, rows[i].elements, 1.0f), ==, NMS_OK);
    g_assert_cmpint (c.compiles, ==, rows[i].compiles);
    g_assert_cmpint (c.frees, ==, rows[i].frees);
    g_assert_cmpuint (counters (c.cache).evictions, ==, (guint64) rows[i].frees);
  }
  for (int32_t n = 1; n < 100; n++)
    g_assert_cmpint (twice (c.lz, n, 1.0f), ==, NMS_OK);
  g_assert_cmpuint (counters (c.cache).programs, ==, 2);
  g_assert_cmpuint (counters (c.cache).compile_ns, >, 0);
  nms_lazy_cache_free (&c.cache); /* the context has a reference */
  g_assert_null (c.cache);
  g_assert_cmpint (twice (c.lz, 99, 1.0f), ==, NMS_OK);
}

static int
seeing_run (nms_lazy_backend *backend, void *program, const nms_lazy_buffer *inputs,
    size_t input_count, const nms_lazy_buffer *outputs, size_t output_count, char *error,
    size_t error_size)
{
  Counting *c = (Counting *) backend;

  c->input_count = input_count;
  for (size_t i = 0; i < 2 && i < input_count; i++) {
    g_assert_cmpuint ((uintptr_t) inputs[input_count - 1 - i].data % 64, ==, 0);
    c->last[i] = *(const float *) inputs[input_count - 1 - i].data;
  }
  *(float *) outputs[0].data = 0.0f;
  return NMS_OK;
}

/* Numbers that change become inputs in the second program, and no third one is compiled. */
static void
test_changing_numbers (void)
{
  static const struct {
    float low, high; /* what min (max (x, low), high) is read for */
    size_t inputs;
    int compiles;
    float last[2]; /* 77 is x */
  } rows[] = { { 1, 9, 1, 1, { 77 } }, { 2, 9, 2, 2, { 2, 77 } }, { 3, 9, 2, 2, { 3, 77 } },
    { 4, 9, 2, 2, { 4, 77 } }, { 1, 9, 1, 2, { 77 } },  /* the first program */
    { 3, 8, 3, 3, { 8, 3 } }, { 4, 7, 3, 3, { 7, 4 } }, /* now both change */
    { 5, 5, 3, 3, { 5, 5 } } };                         /* equal, but not one */
  g_auto (Counting) c = { 0 };

  counting_init (&c, 0);
  c.backend.run = seeing_run;
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    nms_lazy_tensor x = nms_lazy_input_f32 (c.lz, 77.0f);
    x = nms_lazy_binary (c.lz, NMS_LAZY_MAX, x, nms_lazy_number_f32 (c.lz, rows[i].low));
    x = nms_lazy_binary (c.lz, NMS_LAZY_MIN, x, nms_lazy_number_f32 (c.lz, rows[i].high));
    value_of (c.lz, x);
    nms_lazy_clear (c.lz);
    g_assert_cmpuint (c.input_count, ==, rows[i].inputs);
    g_assert_cmpint (c.compiles, ==, rows[i].compiles);
    for (size_t k = 0; k < MIN (2, rows[i].inputs); k++)
      g_assert_cmpfloat (c.last[k], ==, rows[i].last[k]);
    if (i == 1)
      g_assert_nonnull (strstr (c.text, "@main(%a0: tensor<f32>, %a1: tensor<f32>)"));
  }
  g_assert_cmpuint (counters (c.cache).programs, ==, 3);
}

/* Callers with the same backend share programs; the limit frees those beyond it. */
static void
test_shared (void)
{
  g_auto (Counting) a = { 0 }, b = { 0 };
  nms_lazy_cache *caches[3];

  counting_init (&a, 0);
  counting_init (&b, 0);
  caches[0] = nms_lazy_cache_shared (&a.backend);
  caches[1] = nms_lazy_cache_shared (&b.backend);
  caches[2] = nms_lazy_cache_shared (&a.backend);
  g_assert_true (caches[0] == caches[2] && caches[0] != caches[1]);
  for (int i = 0; i < 3; i++) {
    g_autoptr (nms_lazy) lz = nms_lazy_new (caches[i]);
    for (int32_t n = 1; n < 6; n++)
      g_assert_cmpint (twice (lz, n, 1.0f), ==, NMS_OK);
  }
  g_assert_cmpint (a.compiles, ==, 5);
  g_assert_cmpint (b.compiles, ==, 5);
  g_assert_cmpint (nms_lazy_cache_limit (caches[0], 2), ==, NMS_OK);
  g_assert_cmpint (a.frees, ==, 3);
  g_assert_cmpuint (counters (caches[0]).programs, ==, 2);
  g_assert_cmpint (nms_lazy_cache_limit (NULL, 2), ==, NMS_ERROR_ARGUMENT);
  nms_lazy_cache_free (&caches[0]);
  g_assert_cmpuint (counters (caches[2]).programs, ==, 2);
  nms_lazy_cache_free (&caches[1]);
  nms_lazy_cache_free (&caches[2]);
  caches[0] = nms_lazy_cache_shared (&a.backend);
  g_assert_cmpuint (counters (caches[0]).programs, ==, 0);
  nms_lazy_cache_free (&caches[0]);
}

/* Reads sums and products of two numbers whose shape `way` chooses bit by bit. */
static float
value_of_way (nms_lazy_cache *cache, unsigned way)
{
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache);
  nms_lazy_tensor x = nms_lazy_input_f32 (lz, 1.5f), y = nms_lazy_input_f32 (lz, 0.75f);

  for (int bit = 0; bit < 5; bit++)
    x = nms_lazy_binary (lz, way >> bit & 1 ? NMS_LAZY_ADD : NMS_LAZY_MUL, x,
        way & 1 ? nms_lazy_f32 (lz, (float) bit) : y);
  return value_of (lz, x);
}

/* With one hash for all traces the results must be those of the full hash. */
static void
test_colliding_hashes (void)
{
  g_autoptr (nms_lazy_cache) good = nms_lazy_cache_new (NULL, 64),
                             weak = nms_lazy_cache_new (NULL, 64);

  nms__cache_weaken_hash (weak, 0);
  for (unsigned way = 0; way < 64; way++)
    g_assert_cmpfloat (value_of_way (good, way % 32), ==, value_of_way (weak, way % 32));
  g_assert_cmpuint (counters (weak).misses, ==, 32);
  g_assert_cmpuint (counters (good).misses, ==, 32);
}

/* A program that cannot be compiled is not compiled again. */
static void
test_compile_fails (void)
{
  g_auto (Counting) c = { 0 };

  counting_init (&c, 0);
  c.fail_compile = 1;
  nms_lazy_tensor y = doubled (c.lz, 3.0f);
  for (int i = 0; i < 3; i++)
    read_fails (c.lz, y, NMS_ERROR_UNSUPPORTED, "no compiler today");
  g_assert_cmpint (c.compiles, ==, 1);
  g_assert_cmpuint (counters (c.cache).failures, ==, 1);
}

/* A tensor whose run failed can be read later. An asynchronous run returns its error from the wait
 * and from the read. */
static void
test_run_fails (void)
{
  g_auto (Counting) c = { 0 };

  counting_init (&c, 0);
  c.fail_run = 1;
  nms_lazy_tensor y = doubled (c.lz, 3.0f);
  read_fails (c.lz, y, NMS_ERROR_DEVICE, "the device is gone");
  g_assert_cmpint (nms_lazy_start (c.lz, 1, &y), ==, NMS_OK);
  g_assert_cmpint (nms_lazy_wait (c.lz), ==, NMS_ERROR_DEVICE);
  g_assert_cmpstr (nms_lazy_error (c.lz), ==, "the device is gone");
  g_assert_cmpint (nms_lazy_status (c.lz), ==, NMS_OK);
  g_assert_cmpint (nms_lazy_start (c.lz, 1, &y), ==, NMS_OK);
  read_fails (c.lz, y, NMS_ERROR_DEVICE, "the device is gone");
  c.fail_run = 0;
  g_assert_cmpfloat (value_of (c.lz, y), ==, 6.0f);
}

/* ---------------------------------------------------------------- residency */

/* The value of a device: a number on the heap. Doubles its only input and keeps both values. */
static int
keeping_run (nms_lazy_backend *backend, void *program, const nms_lazy_buffer *inputs,
    size_t input_count, const nms_lazy_buffer *outputs, size_t output_count, char *error,
    size_t error_size)
{
  Counting *c = (Counting *) backend;

  g_assert_nonnull (inputs[0].resident);
  if (!*inputs[0].resident) {
    *inputs[0].resident = g_memdup2 (inputs[0].data, sizeof (float));
    c->kept++;
  }
  float twice = 2.0f * *(const float *) *inputs[0].resident;
  g_assert_null (outputs[0].data);
  *outputs[0].resident = g_memdup2 (&twice, sizeof twice);
  c->kept++;
  return NMS_OK;
}

static int
keeping_fetch (nms_lazy_backend *backend, void *resident, const nms_lazy_buffer *output,
    char *error, size_t error_size)
{
  Counting *c = (Counting *) backend;

  if (c->fail_run) {
    g_snprintf (error, (gulong) error_size, "the device is gone");
    return NMS_ERROR_DEVICE;
  }
  memcpy (output->data, resident, sizeof (float));
  return NMS_OK;
}

static void
keeping_free (nms_lazy_backend *backend, void *resident)
{
  ((Counting *) backend)->freed++;
  g_free (resident);
}

/* Values stay on the device until their tensors are freed, also after an error. */
static void
test_resident (void)
{
  g_auto (Counting) c = { 0 };

  counting_init (&c, 0);
  c.backend.run = keeping_run;
  c.backend.fetch = keeping_fetch;
  c.backend.free_resident = keeping_free;
  nms_lazy_tensor x = nms_lazy_input_f32 (c.lz, 1.0f);
  for (int i = 0; i < 4; i++) {
    x = nms_lazy_binary (c.lz, NMS_LAZY_ADD, x, x);
    g_assert_cmpint (nms_lazy_read (c.lz, 1, &x, (void *[]) { NULL }), ==, NMS_OK);
    g_assert_cmpint (nms_lazy_keep (c.lz, 1, &x), ==, NMS_OK);
  }
  g_assert_cmpint (c.kept, ==, 5);
  g_assert_cmpint (c.freed, ==, 4);
  c.fail_run = 1;
  read_fails (c.lz, x, NMS_ERROR_DEVICE, "the device is gone");
  c.fail_run = 0;
  g_assert_cmpfloat (value_of (c.lz, x), ==, 16.0f);
  g_assert_cmpuint (counters (c.cache).sent, ==, 1);
  g_assert_cmpuint (counters (c.cache).fetched, ==, 2);
}

/* ------------------------------------------------------------- asynchronous runs */

/* A context records and frees while a program of it is compiled. */
static void
test_start (void)
{
  g_auto (Counting) c = { 0 };

  counting_init (&c, 0);
  g_assert_cmpint (nms_lazy_wait (c.lz), ==, NMS_OK);
  pthread_mutex_lock (&c.gate);
  nms_lazy_tensor y = doubled (c.lz, 3.0f);
  g_assert_cmpint (nms_lazy_start (c.lz, 1, &y), ==, NMS_OK);
  nms_lazy_tensor z = nms_lazy_binary (c.lz, NMS_LAZY_ADD, y, y);
  g_assert_cmpint (nms_lazy_keep (c.lz, 1, &z), ==, NMS_OK);
  g_assert_cmpuint (counters (c.cache).runs, ==, 0);
  pthread_mutex_unlock (&c.gate);
  g_assert_cmpfloat (value_of (c.lz, z), ==, 12.0f);
  g_assert_cmpint (c.compiles, ==, 1);
  g_assert_cmpint (c.runs, ==, 2);
  g_assert_cmpint (nms_lazy_start (c.lz, 1, &z), ==, NMS_OK); /* nothing to compute */
  g_assert_cmpint (nms_lazy_start (c.lz, 0, NULL), ==, NMS_ERROR_ARGUMENT);
  nms_lazy_clear (c.lz);
  for (int i = 0; i < 101; i++) { /* a context that ends waits */
    y = doubled (c.lz, 1.0f);
    g_assert_cmpint (nms_lazy_start (c.lz, 1, &y), ==, NMS_OK);
    if (i % 2)
      nms_lazy_clear (c.lz);
  }
  nms_lazy_free (&c.lz);
  g_assert_cmpint (c.runs, ==, 103);
}

/* In a forked process, which has no thread, waits and reads return an error and do not hang. */
static void
test_start_and_fork (void)
{
  g_auto (Counting) c = { 0 };
  float result = 0.0f;
  int status;

  counting_init (&c, 0);
  pthread_mutex_lock (&c.gate);
  nms_lazy_tensor y = doubled (c.lz, 3.0f);
  g_assert_cmpint (nms_lazy_start (c.lz, 1, &y), ==, NMS_OK);
  while (!g_atomic_int_get (&c.compiles))
    g_thread_yield ();
  const pid_t child = fork ();
  if (!child) {
    const int waited = nms_lazy_wait (c.lz);
    const int read = nms_lazy_read (c.lz, 1, &y, (void *[]) { &result });
    nms_lazy_free (&c.lz);
    /* another program, because valgrind would report what the parent's threads have allocated */
    if (waited == NMS_ERROR_DEVICE && read == NMS_ERROR_DEVICE)
      execl ("/bin/true", "true", NULL);
    _exit (1);
  }
  pthread_mutex_unlock (&c.gate);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
  g_assert_cmpfloat (value_of (c.lz, y), ==, 6.0f);
}

/* -------------------------------------------------------------------- threads */

/* Starts four threads, each with a context of the cache. */
static void
start_threads (GThreadFunc run, nms_lazy_cache *cache, GThread *threads[4])
{
  for (int i = 0; i < 4; i++)
    threads[i] = g_thread_new ("lazy", run, cache);
}

static void
join_threads (GThread *threads[4])
{
  for (int i = 0; i < 4; i++)
    g_thread_join (threads[i]);
}

static gpointer
compile_thread (gpointer cache)
{
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache);
  nms_lazy_tensor y = doubled (lz, 1.0f);

  g_assert_cmpint (nms_lazy_read (lz, 1, &y, NULL), ==, NMS_OK);
  g_assert_cmpfloat (value_of (lz, doubled (lz, 2.0f)), ==, 4.0f);
  return NULL;
}

/* A program is compiled once if many threads need it at the same time. */
static void
test_compiled_once (void)
{
  g_auto (Counting) c = { 0 };
  GThread *threads[4];

  counting_init (&c, 0);
  pthread_mutex_lock (&c.gate);
  start_threads (compile_thread, c.cache, threads);
  while (counters (c.cache).traces < 4)
    g_thread_yield ();
  g_assert_cmpuint (counters (c.cache).runs, ==, 0);
  pthread_mutex_unlock (&c.gate);
  join_threads (threads);
  g_assert_cmpint (c.compiles, ==, 1);
  g_assert_cmpint (c.runs, ==, 8);
  g_assert_cmpuint (counters (c.cache).hits, ==, 7);
}

static gpointer
crowd_thread (gpointer cache)
{
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache);

  for (int i = 0; i < 300; i++)
    g_assert_cmpint (twice (lz, 1 + i % 5, (float) i), ==, NMS_OK);
  return NULL;
}

/* The cache frees programs while other threads run them. */
static void
test_given_up_in_use (void)
{
  g_auto (Counting) c = { 0 };
  GThread *threads[4];

  counting_init (&c, 1);
  start_threads (crowd_thread, c.cache, threads);
  join_threads (threads);
  g_assert_cmpint (c.runs, ==, 1200);
  g_assert_cmpuint (counters (c.cache).programs, ==, 1);
}

static gpointer
start_thread (gpointer cache)
{
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache);

  for (int i = 0; i < 100; i++) {
    nms_lazy_tensor y = doubled (lz, (float) i), z;
    g_assert_cmpint (nms_lazy_start (lz, 1, &y), ==, NMS_OK);
    z = nms_lazy_binary (lz, NMS_LAZY_ADD, y, y);
    if (i % 3)
      g_assert_cmpint (nms_lazy_start (lz, 1, &z), ==, NMS_OK);
    g_assert_cmpfloat (value_of (lz, z), ==, 4.0f * (float) i);
    g_assert_cmpint (nms_lazy_keep (lz, 1, &z), ==, NMS_OK);
  }
  return NULL;
}

/* Contexts of several threads share the worker of their cache. */
static void
test_start_in_threads (void)
{
  g_auto (Counting) c = { 0 };
  GThread *threads[4];

  counting_init (&c, 0);
  start_threads (start_thread, c.cache, threads);
  join_threads (threads);
  g_assert_cmpint (c.runs, ==, 800);
}

static const TestCase cases[] = { CASE (test_same_program), CASE (test_other_programs),
  CASE (test_bound), CASE (test_changing_numbers), CASE (test_shared), CASE (test_colliding_hashes),
  CASE (test_compile_fails), CASE (test_run_fails), CASE (test_resident), CASE (test_start),
  CASE (test_start_and_fork), CASE (test_compiled_once), CASE (test_given_up_in_use),
  CASE (test_start_in_threads), { NULL } };

TEST_PROGRAM (cases);
