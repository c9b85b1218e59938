/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaictext: prints the operations of a TPU kernel as MLIR text.
 *
 * Mosaic is the compiler of TPU kernels inside libtpu, its input is MLIR of the
 * dialects arith, vector, scf, memref and tpu. The functions here append one
 * operation each to a text that grows and return a handle of its result; the
 * operation's type follows from its operands. Vectors have two axes, sublanes
 * (`rows`) and lanes (`cols`); a vector register holds 8 x 128.
 *
 * Out of memory latches: what follows does nothing, and the text is NULL.
 */
#ifndef NMS_MOSAICTEXT_H
#define NMS_MOSAICTEXT_H

#include <stddef.h>
#include <stdint.h>

typedef enum nms__mosaic_type {
  NMS__MOSAIC_F32, NMS__MOSAIC_S32, NMS__MOSAIC_I1, NMS__MOSAIC_INDEX
} nms__mosaic_type;

/* A result: its name in the text, its shape; rows 0: a scalar. */
typedef struct nms__value {
  char name[16];
  int rows, cols;
  nms__mosaic_type type;
} nms__value;

/* An array in the chip's vector memory. */
typedef struct nms__array {
  char name[16];
  int rows, cols;
  nms__mosaic_type type;
} nms__array;

typedef struct nms__mosaic {
  char *text; /* NULL: nothing yet, or failed */
  size_t length, room;
  int failed;
  int values; /* names given */
} nms__mosaic;

void nms__mosaic_print (nms__mosaic *m, const char *format, ...)
#ifdef __GNUC__
    __attribute__ ((format (printf, 2, 3)))
#endif
    ;
void nms__mosaic_free (nms__mosaic *m);

/* Prints a type: of a value, of an array. */
void nms__mosaic_print_type (nms__mosaic *m, nms__value shape);
void nms__mosaic_print_array (nms__mosaic *m, nms__array array);

/* A value of a new name, for results that the caller prints himself. */
nms__value nms__mosaic_value (nms__mosaic *m, nms__mosaic_type type, int rows, int cols);

/* Constants; `bits` are those of the float. rows 0: a scalar. */
nms__value nms__mosaic_f32 (nms__mosaic *m, int rows, int cols, float value);
nms__value nms__mosaic_s32 (nms__mosaic *m, int rows, int cols, int32_t value);
nms__value nms__mosaic_index (nms__mosaic *m, int value);

/* 0, 1, 2, ... along an axis. */
nms__value nms__mosaic_iota (nms__mosaic *m, int rows, int cols, int axis);

/* `op` is the operation's full name ("arith.addf"), `order` of a comparison its
 * predicate ("oeq"). A comparison of floats is arith.cmpf, else arith.cmpi. */
nms__value nms__mosaic_op (nms__mosaic *m, const char *op, nms__value a, nms__value b);
nms__value nms__mosaic_compare (nms__mosaic *m, const char *order, nms__value a, nms__value b);
nms__value nms__mosaic_select (nms__mosaic *m, nms__value mask, nms__value a, nms__value b);

/* The first element of a row, as a scalar: a way through the scalar unit. */
nms__value nms__mosaic_first (nms__mosaic *m, nms__value row);

/* The same bits as another type; the nearest float to an integer, and back. */
nms__value nms__mosaic_bitcast (nms__mosaic *m, nms__mosaic_type type, nms__value a);
nms__value nms__mosaic_to_f32 (nms__mosaic *m, nms__value a);
nms__value nms__mosaic_to_s32 (nms__mosaic *m, nms__value a);

/* The index `row` times `cols` as S32; S32 `number` divided by `cols`, a power
 * of two, as an index. Scalars. */
nms__value nms__mosaic_place (nms__mosaic *m, nms__value row, int cols);
nms__value nms__mosaic_row_of (nms__mosaic *m, nms__value number, int cols);

/* One row, one column or a scalar spread out. */
nms__value nms__mosaic_spread (nms__mosaic *m, nms__value a, int rows, int cols);

/* The transpose. */
nms__value nms__mosaic_turn (nms__mosaic *m, nms__value a);

/* Reduces an axis to extent 1. `kind` is "maximumf", "maxsi", ...; `start` its
 * neutral element in the text's form. */
nms__value nms__mosaic_reduce (nms__mosaic *m, const char *kind, const char *start, nms__value a,
    int axis);

/* `rows` x `cols` elements at row `row` (an index) and column `col`. */
nms__value nms__mosaic_load (nms__mosaic *m, nms__array array, nms__value row, nms__value col,
    int rows, int cols);
void nms__mosaic_store (nms__mosaic *m, nms__value value, nms__array array, nms__value row,
    nms__value col);

/* for (i = 0; i < end; i += step), indices, with `count` values carried from
 * pass to pass: *carried[k] is the start value before, the current one between
 * open and close, where the caller puts the next, and the last one after. */
typedef struct nms__loop {
  nms__value index;
  int result;
  int count;
  nms__value *carried[8];
} nms__loop;
void nms__mosaic_open_loop (nms__mosaic *m, nms__loop *loop, int end, int step);
void nms__mosaic_close_loop (nms__mosaic *m, nms__loop *loop);

/* A block that runs where the scalar I1 is true. */
void nms__mosaic_open_if (nms__mosaic *m, nms__value condition);
void nms__mosaic_close_if (nms__mosaic *m);

#endif
