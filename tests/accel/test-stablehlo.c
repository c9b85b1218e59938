/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests nms_stablehlo_make: the inputs and results that it lists, and what it refuses.
 * tests/frameworks runs the programs.
 */
#include "nmsstablehlo.h"
#include "testrunner.h"

#include <math.h>
#include <string.h>

static char why[200]; /* the text of the last error */

static nms_options
defaults (void)
{
  nms_options o;

  nms_options_init (&o, sizeof o);
  return o;
}

static char *
describe (const nms_stablehlo *p)
{
  GString *s = g_string_new (NULL);

  for (size_t i = 0; i < p->input_count + p->output_count; i++) {
    const nms_stablehlo_array *a = i < p->input_count ? &p->input[i]
                                                      : &p->output[i - p->input_count];
    g_string_append_printf (s, "%s%s:%s", i == p->input_count ? "-> " : "", a->name,
        a->shape.type == NMS_LAZY_F32        ? "f32"
            : a->shape.type == NMS_LAZY_BF16 ? "bf16"
                                             : "s32");
    for (int k = 0; k < a->shape.rank; k++)
      g_string_append_printf (s, "%c%d", k ? 'x' : ' ', a->shape.dims[k]);
    g_string_append (s, "; ");
  }
  return g_string_free (s, FALSE);
}

static int
make (nms_stablehlo_spec spec, const nms_options *o, nms_stablehlo *p)
{
  *why = '\0';
  spec.size = sizeof spec;
  return nms_stablehlo_make (&spec, o, p, why, sizeof why);
}

static void
check (nms_stablehlo_spec spec, const nms_options *o, const char *must, const char *signature)
{
  nms_stablehlo p = { .size = sizeof p };

  g_assert_cmpint (make (spec, o, &p), ==, 0);
  g_assert_cmpuint (p.length, ==, strlen (p.text));
  g_autofree char *said = describe (&p);
  g_assert_cmpstr (said, ==, must);
  g_assert_nonnull (strstr (p.text, signature));
  g_assert_cmpint (spec.platform == NMS_STABLEHLO_TPU, ==, !!strstr (p.text, "tpu_custom_call"));
  g_assert_cmpint (spec.platform == NMS_STABLEHLO_CPU, ==, !!strstr (p.text, "stablehlo.divide"));
  nms_stablehlo_clear (&p);
  g_assert_null (p.text);
  g_assert_cmpuint (p.size, ==, sizeof p);
}

#define ROWS "boxes:f32 200x4; scores:f32 200; "
#define PICKS "-> picks:s32 20; count:s32; "
#define DECODED PICKS "boxes:f32 100x4; scores:f32 100; classes:s32 100; "

/* Programs for 20 picks at most unless `options` says more, with what they list as inputs and
 * results, and a part of their text. */
static void
test_arrays (void)
{
  static const char in_order[] = "@main(%a0: tensor<200x4xf32>, %a1: tensor<200xf32>, "
                                 "%a2: tensor<200xi32>) -> (tensor<20xi32>, tensor<i32>)";
  static const nms_class_options of_class = { .size = sizeof of_class,
    .set = NMS_CLASS_MAX_DETECTIONS,
    .max_detections = 7 };
  static const struct {
    nms_stablehlo_spec spec;
    int agnostic;
    uint64_t most_of_class;
    int own_class; /* class 0 has `of_class`, which replaces most_of_class also without classes */
    const char *arrays, *text;
  } rows[] = {
    { { .boxes = 200 }, 0, 0, 0, ROWS PICKS, "tensor<200x4xf32>" },
    { { .boxes = 200, .classes = 1 }, 0, 0, 0, ROWS "classes:s32 200; " PICKS, in_order },
    { { .boxes = 200, .parents = 1 }, 0, 0, 0, ROWS "parents:s32 200; " PICKS, in_order },
    /* no option uses classes */
    { { .boxes = 200, .classes = 1 }, 1, 0, 0, ROWS PICKS, "tensor<20xi32>" },
    { { .boxes = 200, .classes = 1 }, 1, 3, 0, ROWS "classes:s32 200; " PICKS, in_order },
    { { .boxes = 200 }, 1, 3, 0, ROWS "-> picks:s32 3; count:s32; ", "tensor<3xi32>" },
    { { .boxes = 200 }, 1, 3, 1, ROWS PICKS, "tensor<20xi32>" },
    { { .boxes = 200, .classes = 1 }, 1, 3, 1, ROWS "classes:s32 200; " PICKS, in_order },
    { { .boxes = 100, .head_classes = 8 }, 1, 3, 0, "head:f32 12x100; " DECODED,
        "@main(%a0: tensor<12x100xf32>) -> (" },
    { { .boxes = 100, .head_classes = 8, .bfloat16 = 1 }, 1, 3, 0, "head:bf16 12x100; " DECODED,
        "@main(%a0: tensor<12x100xbf16>) -> (" },
    { { .boxes = 200, .classes = 1, .bfloat16 = 1 }, 1, 3, 0,
        "boxes:bf16 200x4; scores:bf16 200; classes:s32 200; " PICKS,
        "@main(%a0: tensor<200x4xbf16>, %a1: tensor<200xbf16>, %a2: tensor<200xi32>)" },
    { { .boxes = 200, .classes = 1, .images = 3 }, 0, 0, 0,
        "boxes:f32 600x4; scores:f32 600; classes:s32 600; -> picks:s32 3x20; count:s32 3; ",
        "(tensor<3x20xi32>, tensor<3xi32>)" },
    { { .boxes = 200, .classes = 1, .images = 1 }, 0, 0, 0, ROWS "classes:s32 200; " PICKS,
        "(tensor<20xi32>, tensor<i32>)" },
  };

  for (size_t i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    nms_stablehlo_spec spec = rows[i / 2].spec;
    nms_options o = defaults ();
    spec.platform = i % 2 ? NMS_STABLEHLO_TPU : NMS_STABLEHLO_CPU;
    o.max_detections = 20;
    o.class_agnostic = (uint8_t) rows[i / 2].agnostic;
    o.max_per_class = rows[i / 2].most_of_class;
    o.class_options = &of_class;
    o.class_option_count = (size_t) rows[i / 2].own_class;
    check (spec, &o, rows[i / 2].arrays, rows[i / 2].text);
  }
  check ((nms_stablehlo_spec) { .boxes = 200 }, NULL, ROWS "-> picks:s32 200; count:s32; ",
      "tensor<200xi32>");
}

/* The IoU threshold of a class changes the program. */
static void
test_class_thresholds (void)
{
  nms_class_options of_class = { .size = sizeof of_class, .class_id = 1, .iou_threshold = 0.3f };
  nms_options o = defaults ();

  o.class_options = &of_class;
  o.class_option_count = 1;
  for (int platform = NMS_STABLEHLO_CPU; platform <= NMS_STABLEHLO_TPU; platform++) {
    const nms_stablehlo_spec spec = { .platform = platform, .boxes = 200, .classes = 1 };
    nms_stablehlo programs[2] = { { .size = sizeof programs[0] }, { .size = sizeof programs[0] } };
    for (int set = 0; set < 2; set++) {
      of_class.set = NMS_CLASS_SCORE_THRESHOLD | (set ? NMS_CLASS_IOU_THRESHOLD : 0);
      g_assert_cmpint (make (spec, &o, &programs[set]), ==, 0);
    }
    /* g_assert_cmpstr () would print both programs */
    g_assert_true (strcmp (programs[0].text, programs[1].text) != 0);
    nms_stablehlo_clear (&programs[0]);
    nms_stablehlo_clear (&programs[1]);
  }
}

static void
refused (nms_stablehlo_spec spec, const nms_options *o, int code, const char *must)
{
  nms_stablehlo p = { .size = sizeof p, .length = 7 };

  g_assert_cmpint (make (spec, o, &p), ==, code);
  g_assert_cmpstr (why, ==, must);
  spec.size = sizeof spec;
  g_assert_cmpint (nms_stablehlo_make (&spec, o, &p, NULL, 0), ==, code);
  g_assert_cmpuint (p.length, ==, 7);
}

static void
test_refusals (void)
{
  static const char with_head[] =
      "head_classes is 3, must be 0 or more, and classes and parents must be 0 with a head";
  static const struct {
    nms_stablehlo_spec spec;
    int code;
    const char *why;
  } rows[] = {
    { { .boxes = 0 }, NMS_ERROR_RANGE, "boxes is 0, must be 1 to 67108864" },
    { { .boxes = 1 << 27 }, NMS_ERROR_RANGE, "boxes is 134217728, must be 1 to 67108864" },
    { { .boxes = 9, .platform = 3 }, NMS_ERROR_UNSUPPORTED, "platform 3 is unknown" },
    { { .boxes = 9, .head_classes = 3, .classes = 1 }, NMS_ERROR_ARGUMENT, with_head },
    { { .boxes = 9, .head_classes = 3, .parents = 1 }, NMS_ERROR_ARGUMENT, with_head },
    { { .boxes = 9, .platform = NMS_STABLEHLO_TPU, .images = -1 }, NMS_ERROR_RANGE,
        "images is -1, must be 0 to 7456540" },
    { { .boxes = 9, .platform = NMS_STABLEHLO_TPU, .images = 2, .head_classes = 3 },
        NMS_ERROR_UNSUPPORTED, "images is 2, must be 0 or 1 with a head" },
  };
  const nms_stablehlo_spec good = { .boxes = 10 };
  nms_options o = defaults ();

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    refused (rows[i].spec, NULL, rows[i].code, rows[i].why);
  o.iou_threshold = NAN;
  refused (good, &o, NMS_ERROR_RANGE, "iou_threshold is nan, must be 0..1");
  o = defaults ();
  o.method = NMS_METHOD_MATRIX_LINEAR;
  refused (good, &o, NMS_ERROR_UNSUPPORTED,
      "method and metric must have the default, because no program has this option");
  o = defaults ();
  o.outputs = NMS_OUTPUT_OUTCOME;
  refused (good, &o, NMS_ERROR_UNSUPPORTED,
      "outputs must have the default, because no program has this option");
}

static void
test_class_options (void)
{
  const nms_stablehlo_spec good = { .boxes = 10 };
  nms_class_options list[NMS_STABLEHLO_MAX_CLASS_OPTIONS + 1];
  nms_options o = defaults ();

  for (size_t i = 0; i < G_N_ELEMENTS (list); i++)
    list[i] = (nms_class_options) { .size = sizeof list[i],
      .class_id = (int32_t) i,
      .set = NMS_CLASS_SCORE_THRESHOLD,
      .score_threshold = 0.5f };
  o.class_options = list;
  o.class_option_count = G_N_ELEMENTS (list);
  refused (good, &o, NMS_ERROR_UNSUPPORTED, "class_option_count is 257, a program has at most 256");
  o.class_option_count--;
  check ((nms_stablehlo_spec) { .boxes = 10, .classes = 1 }, &o,
      "boxes:f32 10x4; scores:f32 10; "
      "classes:s32 10; -> picks:s32 10; count:s32; ",
      "divide");
  list[3].set = NMS_CLASS_GROUP;
  refused (good, &o, NMS_ERROR_UNSUPPORTED, "class 3 has a group, and no program has this option");
  list[3].set = 0;
  o.min_size_ratio = 0.5f;
  refused (good, &o, NMS_ERROR_UNSUPPORTED,
      "min_size_ratio must have the default, because no program has this option");
  o.min_size_ratio = 0;
  list[9].class_id = 8;
  refused (good, &o, NMS_ERROR_DUPLICATE_CLASS, "class 8 is listed twice");
  list[2].score_threshold = NAN;
  refused (good, &o, NMS_ERROR_RANGE, "score_threshold of class 2 is NaN");
}

/* Refuses a kernel that does not fit the chip, and structs of another size. */
static void
test_sizes (void)
{
  struct {
    nms_stablehlo_spec spec;
    uint64_t later;
  } wide = { { .size = sizeof wide, .boxes = 10 }, 0 };
  nms_stablehlo_spec spec = { .size = sizeof spec, .boxes = 10 };
  nms_stablehlo p = { .size = sizeof p };

  g_assert_cmpint (make ((nms_stablehlo_spec) { .platform = NMS_STABLEHLO_TPU, .boxes = 1 << 24 },
                       NULL, &p),
      ==, NMS_ERROR_UNSUPPORTED);
  g_assert_true (
      g_str_has_prefix (why, "16777216 boxes do not fit into 16777216 bytes of vector memory"));
  g_assert_cmpint (nms_stablehlo_make (&wide.spec, NULL, &p, NULL, 0), ==, NMS_OK);
  nms_stablehlo_clear (&p);
  wide.later = 1;
  g_assert_cmpint (nms_stablehlo_make (&wide.spec, NULL, &p, NULL, 0), ==, NMS_ERROR_ARGUMENT);
  spec.size--;
  g_assert_cmpint (nms_stablehlo_make (&spec, NULL, &p, NULL, 0), ==, NMS_ERROR_ARGUMENT);
  p.size = 0;
  g_assert_cmpint (make (spec, NULL, &p), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (make (spec, NULL, NULL), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpint (nms_stablehlo_make (NULL, NULL, &p, NULL, 0), ==, NMS_ERROR_ARGUMENT);
  nms_stablehlo_clear (NULL);
}

static const TestCase cases[] = {
  CASE (test_arrays),
  CASE (test_refusals),
  CASE (test_class_options),
  CASE (test_class_thresholds),
  CASE (test_sizes),
  { NULL },
};

TEST_PROGRAM (cases);
