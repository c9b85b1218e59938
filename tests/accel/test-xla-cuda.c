/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiles the programs of engine xla ahead of time for an NVIDIA H200, without one,
 * with the plugin that NMS_TEST_XLA_CUDA names. Needs `ptxas` of a CUDA toolkit. Does
 * not run the programs.
 */
#include "nmsgraph.h"
#include "nmsxla.h"
#include "lazyscoped.h"
#include "testrunner.h"

#include <stdlib.h>
#include <string.h>

/* XLA's GpuTargetConfigProto with NVIDIA's figures for the H200. */
static const char target[] = "platform_name: \"CUDA\"\n"
                             "device_description_str: \"NVIDIA H200\"\n"
                             "dnn_version_info { major: 9 minor: 8 patch: 0 }\n"
                             "gpu_device_info {\n"
                             "  cuda_compute_capability { major: 9 minor: 0 }\n"
                             "  core_count: 132\n"
                             "  fpus_per_core: 128\n"
                             "  threads_per_warp: 32\n"
                             "  threads_per_block_limit: 1024\n"
                             "  threads_per_core_limit: 2048\n"
                             "  block_dim_limit_x: 2147483647\n"
                             "  block_dim_limit_y: 65535\n"
                             "  block_dim_limit_z: 65535\n"
                             "  registers_per_core_limit: 65536\n"
                             "  registers_per_block_limit: 65536\n"
                             "  shared_memory_per_block: 49152\n"
                             "  shared_memory_per_block_optin: 232448\n"
                             "  shared_memory_per_core: 233472\n"
                             "  l2_cache_size: 52428800\n"
                             "  memory_bandwidth: 4800000000000\n"
                             "  device_memory_size: 150000000000\n"
                             "  clock_rate_ghz: 1.98\n"
                             "}\n";

static const char *plugin;

/* Returns the text of the program for n boxes, with all optional columns or none. */
static char *
module_text (int32_t n, int all, unsigned flags)
{
  g_autoptr (nms_lazy_cache) cache = nms_lazy_cache_new (NULL, 0);
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache);
  void *zeros = g_malloc0 ((size_t) n * 4);
  nms_lazy_boxes b = { 0 };
  nms_lazy_tensor *const floats[] = { &b.x1, &b.y1, &b.x2, &b.y2, &b.limit };
  nms_lazy_tensor *const integers[] = { &b.key, &b.class_id, &b.cap_class, &b.class_cap, &b.index,
    &b.parent };
  char *text;

  for (size_t i = 0; i < G_N_ELEMENTS (floats); i++)
    *floats[i] = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, zeros);
  for (size_t i = 0; i < (all ? G_N_ELEMENTS (integers) : 1); i++)
    *integers[i] = nms_lazy_input (lz, NMS_LAZY_S32, 1, &n, zeros);
  b.least = nms_lazy_input_s32 (lz, INT32_MIN + 1);
  b.cap = nms_lazy_input_s32 (lz, 0);
  nms_lazy_kept kept = nms_lazy_nms (lz, &b, flags);
  const nms_lazy_tensor wanted[] = { kept.picks, kept.count, kept.state };
  text = nms_lazy_dump (lz, 3, wanted);
  g_assert_nonnull (text);
  g_free (zeros);
  return text;
}

static void
test_compiles (void)
{
  static const int32_t sizes[] = { 128, 1024, 8192, 65536 };
  char why[400] = "";

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (int all = 0; all < 2; all++) {
      char *text = module_text (sizes[i], all, NMS_LAZY_NO_DIVISION);
      if (nms_xla_compile_ahead (plugin, "1x1x1", target, text, strlen (text), why, sizeof why))
        g_error ("%d boxes: %s", sizes[i], why);
      free (text);
    }
}

/* other texts do not compile */
static void
test_refuses (void)
{
  char why[400] = "";

  g_assert_cmpint (nms_xla_compile_ahead (plugin, "1x1x1", target, "nonsense", 8, why, sizeof why),
      ==, NMS_ERROR_DEVICE);
  g_assert_true (g_str_has_prefix (why, "cannot compile: "));
}

static const char *
find_plugin (const char *needs)
{
  plugin = g_getenv ("NMS_TEST_XLA_CUDA");
  return plugin ? NULL : "NMS_TEST_XLA_CUDA names no plugin; see tests/run.sh cuda";
}

static const TestCase cases[] = { CASE (test_compiles), CASE (test_refuses), { NULL } };

TEST_PROGRAM (cases, find_plugin);
