/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsstablehlo: returns a whole NMS call as a program in StableHLO text, for JAX, IREE,
 * PJRT plugins and every other compiler that reads StableHLO.
 *
 *     nms_stablehlo_spec spec = { .size = sizeof spec, .platform = NMS_STABLEHLO_TPU,
 *                               .boxes = 1024, .classes = 1 };
 *     nms_stablehlo program = { .size = sizeof program };
 *     char why[256];
 *     options.max_detections = 128;
 *     if (nms_stablehlo_make (&spec, &options, &program, why, sizeof why) < 0)
 *       puts (why);
 *     fwrite (program.text, 1, program.length, file);
 *     nms_stablehlo_clear (&program);
 *
 * The module has one public function, @main. Its inputs, row-major, in this order:
 *
 *   boxes    tensor<Nx4xf32>      rows of x1 y1 x2 y2
 *   scores   tensor<Nxf32>
 *   classes  tensor<Nxi32>        any numbers; only if spec.classes is set and an option
 *                                 uses classes: not class_agnostic, max_per_class, or
 *                                 class_options
 *   parents  tensor<Nxi32>        only if spec.parents is set: the index of the box of which
 *                                 this one is a part. A number below 0 or from N on means that
 *                                 the box has no parent. A box and its parent do not suppress
 *                                 each other
 *
 * or, with spec.head_classes = C:
 *
 *   head     tensor<(4+C)xNxf32>  of YOLOv8 and its relatives; see
 *                                 nms_lazy_decode_head () in nmsgraph.h
 *
 * With spec.images = B above 1 the inputs hold one image after another: boxes
 * tensor<B*N x 4>, the others tensor<B*N>. Parents are indices in the image. There is no
 * head then.
 *
 * With spec.bfloat16 boxes, scores and head are bf16. The program widens them to f32 without
 * rounding, so its results are those for the same numbers in f32.
 *
 * Its results, where K is max_detections, or N if that is 0 or above N (without classes
 * max_per_class limits K, too, because all boxes have one class):
 *
 *   picks    tensor<Kxi32>        indices of the kept boxes by rank, then -1
 *   count    tensor<i32>          the number of kept boxes
 *
 * for B images tensor<BxKxi32>, whose indices are those in the image, and tensor<Bxi32>; and for a
 * head, in the order of its N columns:
 *
 *   boxes    tensor<Nx4xf32>      the decoded corners x1 y1 x2 y2
 *   scores   tensor<Nxf32>        the best score of each box; unspecified if all are NaN
 *   classes  tensor<Nxi32>        its class
 *
 * The kept boxes are those of nms_run, bit for bit, on every platform whose arithmetic
 * is that of IEEE binary32 (TPUs and CPUs may flush subnormals; no result depends on
 * it). Rows that pad a frame have score NaN: such boxes are never kept.
 *
 * The input `floor` of the programs that nms_lazy_dump () prints does not exist here:
 * @main computes that number from its inputs.
 *
 * Threads: all functions may be called from any thread at any time.
 */
#ifndef NMSSTABLEHLO_H
#define NMSSTABLEHLO_H

#include "nmslazy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nms_stablehlo_platform {
  /* a loop, with divisions, which the device must round correctly */
  NMS_STABLEHLO_CPU = 0,
  /* the same loop without divisions, for every device */
  NMS_STABLEHLO_GPU = 1,
  /* a kernel for TPUs in a custom call, for libtpu */
  NMS_STABLEHLO_TPU = 2
} nms_stablehlo_platform;

typedef struct nms_stablehlo_spec {
  /* sizeof (nms_stablehlo_spec) */
  size_t size;
  /* nms_stablehlo_platform */
  int32_t platform;
  /* N, 1 or more; (4 + C) * N is at most NMS_LAZY_MAX_ELEMENTS */
  int32_t boxes;
  /* number of classes C if the input is a detector's head; 0 if it is boxes and scores */
  int32_t head_classes;
  /* nonzero if the program takes classes; must be 0 with a head, which contains them */
  int32_t classes;
  /* nonzero if the program takes parents; must be 0 with a head */
  int32_t parents;
  /* nonzero if boxes, scores and head are bf16 */
  int32_t bfloat16;
  /* B, images of one call; 0 stands for 1. A loop decides them together, in as many steps as the
   * image with the most kept boxes takes; a kernel decides one after another. More than 1 only
   * without a head; 4 * B * N is at most NMS_LAZY_MAX_ELEMENTS */
  int32_t images;
  /* bytes of vector memory that the kernel may use, at most 64 MiB on v5e, v5p and v6e; 0 stands
   * for 16 MiB, which every TPU has */
  size_t tpu_memory;
} nms_stablehlo_spec;

/* An input or a result of @main. */
typedef struct nms_stablehlo_array {
  char name[16];
  /* type F32 is f32 in the text, S32 is i32, BF16 is bf16 */
  nms_lazy_shape shape;
} nms_stablehlo_array;

#define NMS_STABLEHLO_MAX_ARRAYS 8

typedef struct nms_stablehlo {
  /* sizeof (nms_stablehlo), set by the caller */
  size_t size;
  /* text with a final 0; belongs to this struct */
  char *text;
  /* bytes of the text without the final 0 */
  size_t length;
  size_t input_count, output_count;
  nms_stablehlo_array input[NMS_STABLEHLO_MAX_ARRAYS], output[NMS_STABLEHLO_MAX_ARRAYS];
} nms_stablehlo;

/* Largest number of entries of class_options. */
#define NMS_STABLEHLO_MAX_CLASS_OPTIONS 256

/* Fills *program. These `options` (NULL for the defaults) become constants of the program: the
 * thresholds, inclusive, score_strict, class_agnostic, max_detections, max_per_class,
 * max_candidates (which makes the program sort the scores) and class_options (the program grows
 * with their number). `engine` has no effect; all others must have their defaults. Returns 0; or
 * NMS_ERROR_ARGUMENT, _RANGE, _UNSUPPORTED (an option that no program has, or a kernel that does
 * not fit into the memory) or _MEMORY, writes one line of text to `error`, at most `error_size`
 * bytes with the final 0, and leaves *program as it is. */
NMS_API int nms_stablehlo_make (const nms_stablehlo_spec *spec, const nms_options *options,
    nms_stablehlo *program, char *error, size_t error_size);

/* Frees the text and sets all fields but `size` to 0. Accepts NULL. */
NMS_API void nms_stablehlo_clear (nms_stablehlo *program);

#ifdef __cplusplus
}
#endif

#endif
