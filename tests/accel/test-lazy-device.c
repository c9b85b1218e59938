/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the table of programs of lazy tensors on the device of the plugin in
 * NMS_TEST_XLA_PLUGIN. The bits must be those of the eager executor.
 */
#include "lazygraphs.h"
#include "nmsxla.h"
#include "testrunner.h"

#include <stdlib.h>

#define SEEDS 6

static nms_lazy_cache *eager, *device;
static nms_lazy_backend *backend;

static void
test_graph (gconstpointer graph)
{
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    LazyValues must, is;
    char *difference;

    lazygraph_run (graph, seed, eager, &must);
    lazygraph_run (graph, seed, device, &is);
    difference = lazyvalues_difference (&is, &must);
    if (difference) {
      g_test_message ("seed %u: %s", seed, difference);
      g_test_fail ();
    }
    free (difference);
    lazyvalues_clear (&must);
    lazyvalues_clear (&is);
  }
}

static const char *
open_device (const char *needs)
{
  const char *plugin = g_getenv ("NMS_TEST_XLA_PLUGIN");
  char error[256];

  if (!plugin)
    return "NMS_TEST_XLA_PLUGIN names no plugin; tools/fetch-xla.sh fetches one";
  if (nms_xla_open (plugin, &backend, error, sizeof error) < 0)
    g_error ("%s", error);
  device = nms_lazy_cache_new (backend, 0);
  eager = nms_lazy_cache_new (NULL, 0);
  return NULL;
}

static void
close_device (void)
{
  nms_lazy_cache_free (&device);
  nms_lazy_cache_free (&eager);
  nms_xla_close (&backend);
}

static const TestCase cases[] = { TEST_ROWS ("/lazy-device/%s", test_graph, lazygraphs), { NULL } };

TEST_PROGRAM (cases, open_device, close_device);
