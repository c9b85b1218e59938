/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tputext: prints the operations of a TPU kernel as MLIR text.
 *
 * Mosaic is the compiler of TPU kernels inside libtpu. Its input is MLIR of the
 * dialects arith, vector, scf, memref and tpu. Each function here appends an operation
 * to the text and returns a handle of its result, whose type follows from the operands.
 * Vectors have two axes, sublanes (`rows`) and lanes (`cols`); a vector register holds
 * 8 x 128 elements.
 *
 * After a failed allocation the text is NULL and all functions do nothing.
 */
#ifndef NMS_TPUTEXT_H
#define NMS_TPUTEXT_H

#include <stddef.h>
#include <stdint.h>

typedef enum nms__tpu_type {
  NMS__TPU_F32,
  NMS__TPU_S32,
  NMS__TPU_I1,
  NMS__TPU_INDEX,
  NMS__TPU_BF16
} nms__tpu_type;

/* The result of an operation: its name in the text and its shape; rows is 0 for a scalar. */
typedef struct nms__value {
  char name[16];
  int rows, cols;
  nms__tpu_type type;
} nms__value;

/* An array in the chip's vector memory. */
typedef struct nms__array {
  char name[16];
  int rows, cols;
  nms__tpu_type type;
} nms__array;

typedef struct nms__tpu {
  char *text; /* NULL if empty or `failed` */
  size_t length, capacity;
  int failed;
  int values; /* number of names used */
} nms__tpu;

/* Appends formatted text. */
void nms__tpu_print (nms__tpu *m, const char *format, ...)
#ifdef __GNUC__
    __attribute__ ((format (printf, 2, 3)))
#endif
    ;
/* Frees the text. */
void nms__tpu_free (nms__tpu *m);

/* Print the type of a value or of an array. */
void nms__tpu_print_type (nms__tpu *m, nms__value shape);
void nms__tpu_print_array (nms__tpu *m, nms__array array);

/* Returns a value with a new name, for an operation that the caller prints. */
nms__value nms__tpu_value (nms__tpu *m, nms__tpu_type type, int rows, int cols);

/* Print constants; rows is 0 for a scalar. */
nms__value nms__tpu_f32 (nms__tpu *m, int rows, int cols, float value);
nms__value nms__tpu_s32 (nms__tpu *m, int rows, int cols, int32_t value);
nms__value nms__tpu_index (nms__tpu *m, int value);

/* Prints 0, 1, 2, ... along an axis. */
nms__value nms__tpu_iota (nms__tpu *m, int rows, int cols, int axis);

/* Print an operation on two values, a comparison, a selection by a mask. `op` is the
 * operation's full name ("arith.addf"), `order` the predicate of arith.cmpf for floats
 * ("oeq") or of arith.cmpi for integers ("eq"). */
nms__value nms__tpu_op (nms__tpu *m, const char *op, nms__value a, nms__value b);
nms__value nms__tpu_compare (nms__tpu *m, const char *order, nms__value a, nms__value b);
nms__value nms__tpu_select (nms__tpu *m, nms__value mask, nms__value a, nms__value b);

/* Prints the first element of a row as a scalar, which the scalar unit computes with. */
nms__value nms__tpu_first (nms__tpu *m, nms__value row);

/* Print conversions: to another type with the same bits; of an integer to the nearest
 * float; of a float to an integer; of a float to the nearest bfloat16. */
nms__value nms__tpu_bitcast (nms__tpu *m, nms__tpu_type type, nms__value a);
nms__value nms__tpu_to_f32 (nms__tpu *m, nms__value a);
nms__value nms__tpu_to_s32 (nms__tpu *m, nms__value a);
nms__value nms__tpu_to_bf16 (nms__tpu *m, nms__value a);

/* Prints the number of bits of each integer that are set. */
nms__value nms__tpu_count_bits (nms__tpu *m, nms__value a);

/* Print scalars: the number of a row's first element, `row` times `cols`, from an index
 * as S32; and the row of an element, `number` divided by `cols`, a power of two, from
 * an S32 as an index. */
nms__value nms__tpu_first_of_row (nms__tpu *m, nms__value row, int cols);
nms__value nms__tpu_row_of (nms__tpu *m, nms__value number, int cols);

/* Prints a row, a column or a scalar repeated to a shape. */
nms__value nms__tpu_spread (nms__tpu *m, nms__value a, int rows, int cols);

/* Prints the transpose. */
nms__value nms__tpu_transpose (nms__tpu *m, nms__value a);

/* Prints the product of two matrices of BF16, added to `sum`, in F32. */
nms__value nms__tpu_product (nms__tpu *m, nms__value a, nms__value b, nms__value sum);

/* Prints a reduction of an axis to extent 1. `kind` is "maximumf", "maxsi", ...;
 * `start` is its neutral element as text. */
nms__value nms__tpu_reduce (nms__tpu *m, const char *kind, const char *start, nms__value a,
    int axis);

/* Print a load or store of `rows` x `cols` elements at row `row` and column `col`,
 * which are indices. */
nms__value nms__tpu_load (nms__tpu *m, nms__array array, nms__value row, nms__value col, int rows,
    int cols);
void nms__tpu_store (nms__tpu *m, nms__value value, nms__array array, nms__value row,
    nms__value col);

/* Print a load or store of whole rows, beginning at row `row`. */
nms__value nms__tpu_load_rows (nms__tpu *m, nms__array array, int row, int rows);
void nms__tpu_store_rows (nms__tpu *m, nms__value value, nms__array array, int row);

/* A loop for (index = 0; index < end; index += step) that carries `count` values from
 * one pass to the next. *carried[k] is the start value before open_loop, the current
 * value after it, set by the caller to the next value before close_loop, and the last
 * value after that. */
typedef struct nms__loop {
  nms__value index;
  int result;
  int count;
  nms__value *carried[8];
} nms__loop;
void nms__tpu_open_loop (nms__tpu *m, nms__loop *loop, int end, int step);
void nms__tpu_close_loop (nms__tpu *m, nms__loop *loop);

/* Print a block that runs if a scalar I1 is true. */
void nms__tpu_open_if (nms__tpu *m, nms__value condition);
void nms__tpu_close_if (nms__tpu *m);

#endif
