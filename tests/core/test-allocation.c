/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocations of the library. A context does not allocate once it has run the largest
 * frame or reserved for it; its scratch memory stays within the formula of nmscore.h; if
 * an allocation fails, the context stays as it was and nothing leaks.
 *
 * The linker redirects the library's calls of the allocator to this file (--wrap). That
 * works with sanitizers too, because the functions here call the sanitizer's allocator.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#include <errno.h>
#include <pthread.h>

/* ------------------------------------------------------------ the allocator */

/* Other functions that allocate need no wrapper: `forget` fails when their memory is freed. */
#define WRAPPED(type, name, ...) \
  type __real_##name (__VA_ARGS__); \
  type __wrap_##name (__VA_ARGS__); \
  type __wrap_##name (__VA_ARGS__)

static struct {
  int armed;   /* counts only while a library function runs */
  int fail_at; /* index of the allocation that fails; -1: none fails */
  int calls;   /* allocations so far */
  size_t held; /* bytes */
} heap = { .fail_at = -1 };

static GHashTable *blocks; /* size of each block that the library holds */

static void *
note (void *memory, size_t size)
{
  if (heap.armed && memory) {
    g_hash_table_insert (blocks, memory, GSIZE_TO_POINTER (size));
    heap.held += size;
  }
  return memory;
}

static void
forget (void *memory)
{
  gpointer size;

  if (!heap.armed || !memory)
    return;
  if (!g_hash_table_steal_extended (blocks, memory, NULL, &size))
    g_error ("freed what was not allocated");
  heap.held -= GPOINTER_TO_SIZE (size);
}

static int
fails (void)
{
  if (!heap.armed || heap.calls++ != heap.fail_at)
    return 0;
  errno = ENOMEM;
  return 1;
}

WRAPPED (void *, malloc, size_t size)
{
  return fails () ? NULL : note (__real_malloc (size), size);
}

WRAPPED (void *, calloc, size_t count, size_t size)
{
  return fails () ? NULL : note (__real_calloc (count, size), count * size);
}

WRAPPED (void *, aligned_alloc, size_t alignment, size_t size)
{
  return fails () ? NULL : note (__real_aligned_alloc (alignment, size), size);
}

WRAPPED (void, free, void *memory)
{
  forget (memory);
  __real_free (memory);
}

/* COUNTED (call) runs the call and counts its allocations; WORKS also asserts its success. */
#define COUNTED(call) \
  do { \
    heap.armed = 1; \
    call; \
    heap.armed = 0; \
  } while (0)
#define WORKS(call) \
  do { \
    int error_; \
    COUNTED (error_ = (call)); \
    g_assert_cmpint (error_, ==, NMS_OK); \
  } while (0)

/* ------------------------------------------------------------ threads */

static int threads_allowed = 1000; /* that can still be started */

WRAPPED (int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
    void *(*start) (void *), void *data)
{
  if (threads_allowed == 0)
    return EAGAIN;
  threads_allowed--;
  return __real_pthread_create (thread, attributes, start, data);
}

/* ------------------------------------------------------------ tests */

static nms_context *
new_context (void)
{
  nms_context *context;

  if (!blocks)
    blocks = g_hash_table_new (NULL, NULL);
  COUNTED (context = nms_context_new ());
  g_assert_nonnull (context);
  return context;
}

static void
free_context (nms_context **context)
{
  COUNTED (nms_context_free (context));
  g_assert_cmpuint (g_hash_table_size (blocks), ==, 0);
}

/* Calls every entry point with every engine and combination of outputs, on a frame that
 * the context has seen or reserved for. */
static void
run_all (nms_context *context, const BoxCall *call)
{
  size_t n = call->boxes.count;
  g_autofree int32_t *kept = g_new (int32_t, n + 1), *by = g_new (int32_t, n + 1);
  g_autofree uint8_t *outcome = g_new (uint8_t, n + 1);
  g_autofree uint32_t *neighbors = g_new (uint32_t, n + 1);
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept = kept,
    .kept_capacity = n,
    .outcome = outcome,
    .suppressed_by = by };
  nms_options options = call->options;
  nms_result result = { .size = sizeof result };

  for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
    options.engine = enginecheck_engines[e];
    for (options.outputs = 0; options.outputs < 4; options.outputs++)
      WORKS (nms_run (context, &call->boxes, &options, &result));
    options.outputs = 0;
    WORKS (enginecheck_batch (context, &call->boxes, &options, &arrays, &result));
    WORKS (nms_count_neighbors (context, &call->boxes, &options, neighbors));
  }
}

static void
random_call (BoxCall *call, uint64_t seed, size_t most)
{
  BoxRandom random = { seed };
  boxcall_random (call, &random, (int) (seed % BOXGEN_TEMPERS),
      seed % 2 ? most : boxrandom_below (&random, (uint32_t) most + 1));
}

/* Runs calls of all sizes up to `most`, which must not allocate. */
static void
run_many (nms_context *context, size_t most)
{
  const int calls = heap.calls;
  const size_t held = heap.held;

  for (uint64_t seed = 0; seed < 60; seed++) {
    g_auto (BoxCall) call = { 0 };
    random_call (&call, 9900 + seed, most);
    run_all (context, &call);
    g_assert_cmpint (heap.calls, ==, calls);
  }
  g_assert_cmpuint (heap.held, ==, held);
}

/* After one run of the largest frame, or a reserve for it, no frame allocates that has at most as
 * many boxes and class options, and no smaller reserve. */
static void
test_steady (void)
{
  static const size_t most[] = { 1, 2, 63, 64, 65, 255, 256, 257, 1000, 700 };
  nms_class_options classes[BOXGEN_CLASS_OPTIONS];

  for (int32_t i = 0; i < BOXGEN_CLASS_OPTIONS; i++)
    classes[i] = (nms_class_options) { .size = sizeof classes[i], .class_id = i };
  for (size_t i = 0; i < G_N_ELEMENTS (most); i++) {
    nms_context *context = new_context ();
    nms_result result = { .size = sizeof result };
    g_auto (BoxCall) call = { 0 };

    random_call (&call, 1, most[i]);
    nms_options_init (&call.options, sizeof call.options);
    call.options.class_options = classes;
    call.options.class_option_count = BOXGEN_CLASS_OPTIONS;
    if (most[i] == 700)
      WORKS (nms_run (context, &call.boxes, &call.options, &result));
    else
      WORKS (nms_context_reserve (context, most[i], BOXGEN_CLASS_OPTIONS));
    const int calls = heap.calls;
    WORKS (nms_context_reserve (context, most[i], BOXGEN_CLASS_OPTIONS));
    WORKS (nms_context_reserve (context, 0, 0));
    WORKS (nms_context_reserve (context, most[i], 0));
    g_assert_cmpint (heap.calls, ==, calls);
    run_many (context, most[i]);
    free_context (&context);
  }
}

/* Once a method has run, no method allocates for a frame of at most the context's capacity. The
 * second block stays within the formula of nmscore.h. */
static void
test_methods (void)
{
  static const size_t most[] = { 1, 255, 256, 1000, 25200 };

  for (size_t i = 0; i < G_N_ELEMENTS (most); i++) {
    nms_context *context = new_context ();
    int calls = 0;

    WORKS (nms_context_reserve (context, most[i], BOXGEN_CLASS_OPTIONS));
    const size_t first_block = nms_context_scratch (context);
    for (uint32_t method = 0; nms_method_name ((int) method); method++) {
      g_auto (BoxCall) call = { 0 };
      nms_result result = { .size = sizeof result };
      random_call (&call, 500 + method, most[i]);
      call.options.method = method;
      call.options.outputs = ENGINECHECK_ALL_OUTPUTS;
      WORKS (nms_run (context, &call.boxes, &call.options, &result));
      calls = method ? calls : heap.calls;
      g_assert_cmpint (heap.calls, ==, calls);
    }
    g_assert_cmpuint (nms_context_scratch (context) - first_block, <=, 200 * most[i] + 65536);
    g_assert_cmpuint (nms_context_scratch (context), >, first_block);
    COUNTED (nms_context_trim (context));
    g_assert_cmpuint (nms_context_scratch (context), ==, 0);
    free_context (&context);
  }
}

/* Reserves, and checks the scratch memory against the formula of nmscore.h. `own`: the size of the
 * context itself. */
static void
reserve (nms_context *context, size_t own, size_t boxes, size_t class_options)
{
  WORKS (nms_context_reserve (context, boxes, class_options));
  g_assert_cmpuint (heap.held - own, ==, nms_context_scratch (context));
  g_assert_cmpuint (nms_context_scratch (context), <=, 240 * boxes + 128 * class_options + 65536);
}

static void
test_formula (void)
{
  static const size_t boxes[] = { 0, 1, 255, 256, 257, 1000, 4096, 8400, 10000, 25200, 65535, 65536,
    100000, 699050 };
  static const size_t classes[] = { 0, 1, 5, 80, 1203, 100000, 699050 };
  nms_context *context = new_context ();
  const size_t own = heap.held;

  for (size_t b = 0; b < G_N_ELEMENTS (boxes); b++)
    for (size_t c = 0; c < G_N_ELEMENTS (classes); c++) {
      reserve (context, own, boxes[b], classes[c]);
      COUNTED (nms_context_trim (context));
      g_assert_cmpuint (heap.held, ==, own);
      g_assert_cmpuint (nms_context_scratch (context), ==, 0);
    }
  /* The number of boxes and the number of classes grow in turn. */
  for (size_t n = 1; n < 200000; n = n * 5 / 4 + 1) {
    WORKS (nms_context_reserve (context, n, 0));
    WORKS (nms_context_reserve (context, 0, n / 2));
    reserve (context, own, n, n / 2);
  }
  free_context (&context);
}

/* Returns whether the call lacked memory. Fails at any other error, and at one without a text. */
static int
lacked_memory (const nms_context *context, int error)
{
  if (error) {
    g_assert_cmpint (error, ==, NMS_ERROR_MEMORY);
    g_assert_cmpstr (nms_context_error (context), !=, "");
  }
  return error != NMS_OK;
}

/* A reserve that fails keeps the scratch memory, and the last result in it. */
static void
fail_to_reserve (nms_context *context, const nms_result *result, const RefResult *expected)
{
  const size_t scratch = nms_context_scratch (context);
  int error;

  heap.fail_at = heap.calls;
  COUNTED (error = nms_context_reserve (context, 1000000, 100));
  heap.fail_at = -1;
  g_assert_cmpint (error, ==, NMS_ERROR_MEMORY);
  g_assert_cmpuint (nms_context_scratch (context), ==, scratch);
  g_assert_cmpstr (enginecheck_difference (result, expected, ENGINECHECK_OUTCOMES), ==, NULL);
}

/* Lets the first allocation fail, then the second, and so on until all succeed: for a small frame,
 * for a larger one with class options, which needs new scratch memory, and for one of a method,
 * which needs another block. What fails writes nothing and succeeds when it is repeated. */
static void
test_failures (void)
{
  enum { CALLS = 4 };
  int failures = 0, refused;

  do {
    BoxRandom random = { 31 };
    nms_context *context;

    refused = 0;
    heap.fail_at = heap.calls + failures;
    COUNTED (context = nms_context_new ());
    if (!context) {
      refused = 1;
      context = new_context ();
    }
    for (int i = 0; i < CALLS; i++) {
      nms_result result = { .size = sizeof result }, before = result;
      const size_t scratch = nms_context_scratch (context);
      g_auto (RefResult) expected = { 0 };
      g_auto (BoxCall) call = { 0 };
      int error;

      boxcall_random (&call, &random, BOXGEN_CROWD, i == 1 ? 5000 : 40);
      call.options.outputs = ENGINECHECK_OUTCOMES;
      call.options.method = i == 2 ? NMS_METHOD_SOFT_GAUSSIAN : NMS_METHOD_HARD;
      if (i != 1)
        call.options.class_option_count = 0;
      COUNTED (error = nms_run (context, &call.boxes, &call.options, &result));
      if (lacked_memory (context, error)) {
        g_assert_cmpmem (&result, sizeof result, &before, sizeof before);
        g_assert_cmpuint (nms_context_scratch (context), ==, scratch);
        refused++;
        WORKS (nms_run (context, &call.boxes, &call.options, &result));
      }
      ref_run (&call.boxes, &call.options, &expected);
      g_assert_cmpstr (enginecheck_difference (&result, &expected, ENGINECHECK_OUTCOMES), ==, NULL);
      if (i + 1 == CALLS)
        fail_to_reserve (context, &result, &expected);
    }
    free_context (&context);
    g_assert_cmpint (refused, <, 2);
    failures += refused;
  } while (refused);
  g_assert_cmpint (failures, >=, 4); /* the context, two frames, and the method */
}

/* Lets none, then each allocation of a context with three threads and of its batch fail in turn.
 * Each thread has scratch of its own. */
static void
test_batch_failures (void)
{
  enum { BOXES = 300 };
  const size_t offsets[] = { 0, 100, 100, BOXES };
  int32_t kept[BOXES], expected[BOXES];
  size_t kept_offsets[G_N_ELEMENTS (offsets)], count = 0;
  nms_batch_arrays arrays = { .size = sizeof arrays,
    .kept_offsets = kept_offsets,
    .kept = expected,
    .kept_capacity = BOXES };
  nms_result result = { .size = sizeof result };
  BoxRandom random = { 12 };
  int round = 0, failures, error;
  g_auto (BoxCall) call = { 0 };

  boxcall_random (&call, &random, BOXGEN_CROWD, BOXES);
  call.boxes.parent.data = NULL;
  do {
    nms_context *context = new_context ();
    failures = 0;
    heap.fail_at = round ? heap.calls + round - 1 : -1;
    do
      COUNTED (error = nms_context_set_threads (context, 3));
    while (lacked_memory (context, error) && ++failures < 2);
    do
      COUNTED (error = nms_run_batch (context, &call.boxes, offsets, 3, &call.options, &arrays,
                   &result));
    while (lacked_memory (context, error) && ++failures < 2);
    heap.fail_at = -1;
    g_assert_cmpint (failures, <, 2); /* a call succeeds when it is repeated */
    count = round ? count : result.kept_count;
    arrays.kept = kept;
    if (round)
      g_assert_cmpmem (kept, result.kept_count * sizeof *kept, expected, count * sizeof *expected);
    free_context (&context);
  } while (round++ == 0 || failures);
  /* the array of threads, two contexts, three blocks of scratch */
  g_assert_cmpint (round, >, 7);
}

/* If a thread cannot be started, nms_context_set_threads ends those that it has started, and the
 * context keeps those that it had. */
static void
test_thread_failure (void)
{
  g_autoptr (nms_context) context = nms_context_new ();
  BoxRandom random = { 6 };
  g_auto (BoxCall) call = { 0 };

  boxcall_random (&call, &random, BOXGEN_CROWD, 8); /* enginecheck makes nine images of them */
  g_assert_cmpint (nms_context_set_threads (context, 3), ==, NMS_OK);
  for (int started = 0; started < 4; started++) {
    const size_t scratch = nms_context_scratch (context);
    threads_allowed = started;
    g_assert_cmpint (nms_context_set_threads (context, 5), ==, NMS_ERROR_MEMORY);
    g_assert_cmpstr (nms_context_error (context), ==, "cannot start 4 threads");
    g_assert_cmpint (threads_allowed, ==, 0);
    g_assert_cmpuint (nms_context_scratch (context), ==, scratch);
    g_assert_cmpstr (enginecheck_run (context, &call.boxes, &call.options, ENGINECHECK_FULL), ==,
        NULL);
  }
  threads_allowed = 4;
  g_assert_cmpint (nms_context_set_threads (context, 5), ==, NMS_OK);
  g_assert_cmpint (threads_allowed, ==, 0);
  g_assert_cmpstr (enginecheck_run (context, &call.boxes, &call.options, ENGINECHECK_FULL), ==,
      NULL);
  threads_allowed = 1000;
}

static const TestCase cases[] = { CASE (test_steady), CASE (test_methods), CASE (test_formula),
  CASE (test_failures), CASE (test_batch_failures), CASE (test_thread_failure), { NULL } };

TEST_PROGRAM (cases);
