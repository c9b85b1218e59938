/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiles programs of nmsstablehlo.h, whose loop is that of engine xla, ahead of time for an
 * NVIDIA H200, without one, with the plugin that NMS_TEST_XLA_CUDA names. Needs `ptxas` of a CUDA
 * toolkit. Does not run the programs.
 */
#include "nmsstablehlo.h"
#include "nmsxla.h"
#include "testrunner.h"

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

/* Compiles programs for GPUs, with all optional columns or none. */
static void
test_compiles (void)
{
  static const int32_t sizes[] = { 128, 1024, 8192, 65536 };
  char why[400] = "";
  nms_options options;

  nms_options_init (&options, sizeof options);
  for (size_t i = 0; i < 2 * G_N_ELEMENTS (sizes); i++) {
    const int all = i % 2;
    const nms_stablehlo_spec spec = { .size = sizeof spec,
      .platform = NMS_STABLEHLO_GPU,
      .boxes = sizes[i / 2],
      .classes = all,
      .parents = all };
    nms_stablehlo p = { .size = sizeof p };
    options.max_per_class = all ? 9 : 0;
    g_assert_cmpint (nms_stablehlo_make (&spec, &options, &p, why, sizeof why), ==, NMS_OK);
    if (nms_xla_compile_ahead (plugin, "1x1x1", target, p.text, p.length, why, sizeof why))
      g_error ("%d boxes: %s", sizes[i / 2], why);
    nms_stablehlo_clear (&p);
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
