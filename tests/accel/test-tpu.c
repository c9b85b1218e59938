/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the printer of TPU kernels: the specs that it refuses, and that its texts are
 * complete. tests/tpu tests what the kernels compute.
 */
#include "accel/tpu/tpu.h"
#include "enginecheck.h"
#include "lazyscoped.h"
#include "testrunner.h"

#include <string.h>

static void
refused (nms__tpu_spec spec, const char *why)
{
  char error[200] = "", little[10];

  g_assert_null (nms__tpu_module (&spec, NULL, error, sizeof error));
  g_assert_cmpstr (error, ==, why);
  g_assert_null (nms__tpu_kernel (&spec, NULL, little, sizeof little));
  g_assert_true (!strncmp (little, why, sizeof little - 1) && strlen (little) == 9);
  g_assert_null (nms__tpu_kernel (&spec, NULL, NULL, 0));
}

#define WITH(n, k, ...) ((nms__tpu_spec) { .boxes = n, .picks = k, __VA_ARGS__ })

static void
test_refusals (void)
{
  refused (WITH (0, 128, .form = 0), "a kernel needs 1 box or more, not 0");
  refused (WITH (-7, 128, .form = 0), "a kernel needs 1 box or more, not -7");
  refused (WITH (1024, 0, .form = 0), "0 picks of 1024 boxes: must be 1 to the number of boxes");
  refused (WITH (1024, 1025, .form = 0),
      "1025 picks of 1024 boxes: must be 1 to the number of boxes");
  refused (WITH (1024, 128, .class_caps = 1), "caps per class need the class argument");
  refused (WITH (1024, 128, .images = -1),
      "-1 images of 1024 boxes: must be 0 or more, and 2147483647 boxes at most");
  refused (WITH (1024, 128, .images = 1 << 21),
      "2097152 images of 1024 boxes: must be 0 or more, and 2147483647 boxes at most");
  refused (WITH (1024, 128, .form = 7), "form 7 is not in nms__tpu_form");
  const nms__tpu_spec plain = WITH (1024, 128, .form = NMS__TPU_PICKS);
  for (int i = 0; i < 4; i++) {
    nms__tpu_spec spec = plain;
    *(uint8_t *[]) { &spec.classes, &spec.box_limits, &spec.parents, &spec.class_caps }[i] = 1;
    spec.images = i == 3 ? 2 : 0;
    refused (spec, "the form of picks takes one image, without options of boxes");
  }
}

/* The most boxes fit into the memory, and the error message gives the number. */
static void
test_bound (void)
{
  static const nms__tpu_spec specs[] = { { .picks = 300, .form = NMS__TPU_PICKS },
    { .picks = 1, .memory = 4 << 20 }, { .picks = 300, .classes = 1 },
    { .picks = 300, .classes = 1, .box_limits = 1, .class_caps = 1, .parents = 1 } };

  for (size_t i = 0; i < G_N_ELEMENTS (specs); i++) {
    nms__tpu_spec spec = specs[i];
    char error[200];

    spec.boxes = nms__tpu_most_boxes (&spec);
    char *text = nms__tpu_module (&spec, NULL, error, sizeof error);
    g_assert_nonnull (text);
    g_free (text);
    g_assert_cmpuint (nms__tpu_memory_of (&spec), <=, spec.memory ? spec.memory : NMS__TPU_MEMORY);
    g_autofree char *why =
        g_strdup_printf ("%d boxes do not fit into %zu bytes of vector memory, %d do",
            spec.boxes + 1, spec.memory ? spec.memory : NMS__TPU_MEMORY, spec.boxes);
    spec.boxes++;
    refused (spec, why);
  }
}

/* Returns how many arguments @main has. */
static int
count_arguments (const char *text)
{
  int count = 0;

  for (const char *at = text, *end = strstr (text, ") -> (");
       (at = strstr (at, ": tensor<")) && at < end; at++)
    count++;
  return count;
}

/* Every kind of spec gives a complete text, the same each time. */
static void
test_texts (void)
{
  static const int counts[] = { 1, 2, 127, 128, 1000, 1024, 1025, 4097, 65536 };

  for (size_t i = 0; i < G_N_ELEMENTS (counts); i++)
    for (int bits = 0; bits < 9; bits++) {
      nms__tpu_spec spec = { .boxes = counts[i],
        .picks = counts[i] < 300 ? counts[i] : 300,
        .classes = bits & 1,
        .class_agnostic = bits >> 1 & 1,
        .box_limits = bits >> 2 & 1,
        .class_caps = bits == 5 || bits == 7,
        .parents = bits % 3 == 1,
        .form = bits == 8 ? NMS__TPU_PICKS : NMS__TPU_TILES };
      size_t length = 0;
      char error[200] = "";
      g_autofree char *text = nms__tpu_module (&spec, &length, error, sizeof error);
      g_autofree char *again = nms__tpu_module (&spec, NULL, error, sizeof error);

      g_assert_cmpstr (error, ==, "");
      g_assert_cmpuint (strlen (text), ==, length);
      g_assert_cmpstr (text, ==, again);
      g_assert_true (g_str_has_prefix (text, "module @nms {\n"));
      g_assert_true (g_str_has_suffix (text, "\n}\n}\n"));
      g_assert_cmpint (count_arguments (text), ==,
          6 + nms__tpu_uses_class (&spec) + 3 * spec.box_limits + spec.class_caps + spec.parents);
    }
}

static void
test_parameters (void)
{
  float p[NMS__TPU_PARAMETERS], limit[3];

  nms__tpu_threshold_limit (0.3f, 0, limit);
  nms__tpu_parameters (limit, 77, p);
  for (int i = 0; i < NMS__TPU_PARAMETERS; i++)
    g_assert_true (p[i] == (i < 384 ? limit[i / 128] : i < 512 ? 77.0f : 0.0f));
  /* the midpoint above 0.3f is 0x1.333335p-2, of which limit[0] has 12 bits */
  g_assert_true (limit[0] == 0x1.334p-2f && (double) limit[0] + limit[1] == 0x1.333335p-2);
  g_assert_true (limit[2] == 1.0f);
  nms__tpu_threshold_limit (0x1.333336p-2f, 0, limit); /* odd */
  g_assert_true ((double) limit[0] + limit[1] == 0x1.333337p-2);
  nms__tpu_threshold_limit (0.3f, 1, limit); /* even, from below */
  g_assert_true ((double) limit[0] + limit[1] == 0x1.333333p-2);
  nms__tpu_threshold_limit (0.0f, 1, limit);
  g_assert_true (limit[0] == 0.0f && limit[1] == 0.0f && limit[2] == 1.0f);
  /* decided as threshold 0: limit 2^-150, scaled by 2^100 */
  nms__tpu_threshold_limit (0x1p-30f, 0, limit);
  g_assert_true (limit[0] == 0x1p-50f && limit[1] == 0.0f && limit[2] == 0x1p100f);
}

/* A context that has recorded a kernel writes text and computes nothing; a clear ends that. */
static void
test_recorded (void)
{
  static const int32_t n = 2, rows[] = { 8, 128 };
  static const float zeros[NMS__TPU_PARAMETERS];
  const nms__tpu_spec spec = { .boxes = n, .picks = 1 };
  g_autoptr (nms_lazy_cache) cache = nms_lazy_cache_new (NULL, 0);
  nms_lazy *lz = nms_lazy_new (cache);
  nms_lazy_tensor x = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, zeros);
  const nms__tpu_columns columns = { x, x, x, x, nms_lazy_input (lz, NMS_LAZY_S32, 1, &n, zeros),
    nms_lazy_input (lz, NMS_LAZY_F32, 2, rows, zeros) };
  nms_lazy_tensor picks = nms__tpu_picks (lz, &spec, &columns);
  float value[2] = { 1.0f, 1.0f };
  char *text = nms_lazy_dump (lz, 1, &picks);

  g_assert_nonnull (strstr (text, "tpu_custom_call"));
  g_free (text);
  g_assert_cmpint (nms_lazy_read (lz, 1, &x, (void *[]) { value }), ==, NMS_ERROR_UNSUPPORTED);
  g_assert_cmpstr (nms_lazy_error (lz), ==, "a program with a kernel is only written as text");
  nms_lazy_clear (lz);
  x = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, zeros);
  g_assert_cmpint (nms_lazy_read (lz, 1, &x, (void *[]) { value }), ==, NMS_OK);
  g_assert_true (value[0] == 0.0f && value[1] == 0.0f);
  nms_lazy_free (&lz);
}

static const TestCase cases[] = { CASE (test_refusals), CASE (test_bound), CASE (test_texts),
  CASE (test_parameters), CASE (test_recorded), { NULL } };

TEST_PROGRAM (cases);
