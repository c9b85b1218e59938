/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the copies between a program and the device of the plugin in NMS_TEST_XLA_PLUGIN:
 * a tensor is sent once, a result that a later program uses is neither read nor sent, and
 * a result is read once. The plugin is wrapped, so the copies are those that it really made.
 */
#include "nmsxla.h"
#include "testrunner.h"
#include "wrappedpjrt.h"

#include <dlfcn.h>

typedef nms_lazy_tensor Tensor;

#define N 1000

static nms_lazy_backend *backend;
static nms_lazy_cache *cache;
static nms_lazy *lz;
static long (*count_sent) (void), (*count_received) (void);
static const int32_t dims[] = { N };

/* The copies since the last call, by the plugin's count and by that of the cache. */
static void
expect_copies (long sent, long received)
{
  static nms_lazy_counters before;
  static long sent_before, received_before;
  nms_lazy_counters c = { .size = sizeof c };

  g_assert_cmpint (nms_lazy_cache_counters (cache, &c), ==, NMS_OK);
  g_assert_cmpint (count_sent () - sent_before, ==, sent);
  g_assert_cmpint (count_received () - received_before, ==, received);
  g_assert_cmpint ((long) (c.sent - before.sent), ==, sent);
  g_assert_cmpint ((long) (c.fetched - before.fetched), ==, received);
  before = c;
  sent_before = count_sent ();
  received_before = count_received ();
}

static Tensor
times (Tensor a, Tensor b)
{
  return nms_lazy_binary (lz, NMS_LAZY_MUL, a, b);
}

/* Reads x, or only computes it if `data` is NULL. */
static void
read_one (Tensor x, float *data)
{
  void *into[] = { data };

  if (nms_lazy_read (lz, 1, &x, into) < 0)
    g_error ("%s", nms_lazy_error (lz));
}

static void
test_copies (void)
{
  float data[N], result[N];
  Tensor x, y, z;

  for (int i = 0; i < N; i++)
    data[i] = (float) i;
  x = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, data);
  expect_copies (0, 0);
  y = times (x, x);
  read_one (y, NULL);
  expect_copies (1, 0); /* x */
  z = times (y, x);
  read_one (z, NULL);
  expect_copies (0, 0); /* both are there */
  read_one (z, result);
  expect_copies (0, 1);
  for (int i = 0; i < N; i++)
    g_assert_cmpfloat (result[i], ==, data[i] * data[i] * data[i]);
  read_one (z, result);
  read_one (x, result);
  expect_copies (0, 0); /* their values are here */
  g_assert_cmpfloat (result[7], ==, 7.0f);
  nms_lazy_clear (lz);
}

/* A loop whose state stays on the device: one copy there, one back. */
static void
test_loop (void)
{
  const int32_t scalar[] = { 1 };
  float sum;
  Tensor acc = nms_lazy_input_f32 (lz, 0.0f), step[2];

  step[1] = nms_lazy_input (lz, NMS_LAZY_F32, 1, scalar, (float[]) { 0.5f });
  step[1] = nms_lazy_reshape (lz, step[1], 0, NULL);
  read_one (step[1], NULL);
  expect_copies (1, 0);
  for (int i = 0; i < 100; i++) {
    step[0] = acc = nms_lazy_binary (lz, NMS_LAZY_ADD, acc, step[1]);
    read_one (acc, NULL);
    nms_lazy_keep (lz, 2, step);
  }
  expect_copies (1, 0); /* the 0 */
  read_one (acc, &sum);
  g_assert_cmpfloat (sum, ==, 50.0f);
  expect_copies (0, 1);
  nms_lazy_clear (lz);
}

/* Several outputs stay, of which one is read. A failed run leaves what it needs. */
static void
test_failed_run (void)
{
  void (*become) (int);
  void *wrapped = dlopen (WRAPPED, RTLD_NOW | RTLD_NOLOAD);
  float data[N] = { 3.0f }, result[N];
  Tensor x = nms_lazy_input (lz, NMS_LAZY_F32, 1, dims, data), y[2];

  *(void **) &become = dlsym (wrapped, "wrappedpjrt_become");
  y[0] = times (x, x);
  y[1] = times (y[0], x);
  become (WRAPPED_EXECUTE_FAILS);
  g_assert_cmpint (nms_lazy_read (lz, 2, y, (void *[]) { NULL, result }), ==, NMS_ERROR_DEVICE);
  become (WRAPPED_AS_IT_IS);
  expect_copies (1, 0);
  g_assert_cmpint (nms_lazy_read (lz, 2, y, (void *[]) { NULL, result }), ==, NMS_OK);
  expect_copies (0, 1);
  g_assert_cmpfloat (result[0], ==, 27.0f);
  nms_lazy_clear (lz);
}

static const char *
open_device (const char *needs)
{
  void *wrapped = dlopen (WRAPPED, RTLD_NOW | RTLD_LOCAL);
  char error[256];

  if (!g_getenv ("NMS_TEST_XLA_PLUGIN"))
    return "NMS_TEST_XLA_PLUGIN names no plugin; tools/fetch-xla.sh fetches one";
  if (!wrapped || nms_xla_open (WRAPPED, &backend, error, sizeof error) < 0)
    g_error ("%s", wrapped ? error : dlerror ());
  *(void **) &count_sent = dlsym (wrapped, "wrappedpjrt_sent");
  *(void **) &count_received = dlsym (wrapped, "wrappedpjrt_received");
  cache = nms_lazy_cache_new (backend, 0);
  lz = nms_lazy_new (cache);
  return NULL;
}

static void
close_device (void)
{
  nms_lazy_free (&lz);
  nms_lazy_cache_free (&cache);
  nms_xla_close (&backend);
}

static const TestCase cases[] = { CASE (test_copies), CASE (test_loop), CASE (test_failed_run),
  { NULL } };

TEST_PROGRAM (cases, open_device, close_device);
