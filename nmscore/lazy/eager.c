/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * eager: interprets a trace, one operation after the other. Shapes are known,
 * so memory is planned once: each value gets a place in one arena, and places
 * are taken again, the warmest first, when the last use is over.
 */
#include "lazy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_ALIGN 64

struct nms__eager {
  size_t *offset;      /* of each node's value in the arena */
  unsigned char *lone; /* whether a node's value is one element for all */
  size_t arena_bytes;
  atomic_uintptr_t spare; /* an arena that no run uses now */
};

static int
is_element_wise (int32_t op)
{
  return op >= NMS__NEG && op <= NMS__SELECT;
}

static int
has_place (int32_t op)
{
  return op != NMS__INPUT && op != NMS__CONSTANT && op != NMS__WHILE && op != NMS__CAPTURE
      && op != NMS__RETURN && op != NMS__RESULT;
}

/* ------------------------------------------------------------------- plan */

typedef struct planner {
  const nms__trace *trace;
  const nms__node *nodes;
  nms__eager *plan;
  uint32_t *last;        /* the last use of each node's value */
  size_t *size;          /* of the place of each node */
  size_t *free_offset, *free_size, free_count; /* a stack */
} planner;

/* A broadcast scalar stays one element if all that use it can take it so. */
static void
find_lone (planner *p)
{
  const nms__trace *t = p->trace;
  unsigned char *lone = p->plan->lone;

  for (size_t i = 0; i < t->nodes.count; i++) {
    const nms__node *n = &p->nodes[i];
    lone[i] = n->op == NMS__BROADCAST && !p->nodes[nms__operand (t, n, 0)].shape.rank;
    for (uint32_t k = 0; k < n->count && !is_element_wise (n->op); k++)
      lone[nms__operand (t, n, k)] = 0;
  }
  for (size_t i = 0; i < t->outputs.count; i++)
    lone[((uint32_t *) t->outputs.data)[i]] = 0;
}

/* State k of loop w is needed until then, at both of its places. */
static void
keep_state (planner *p, const nms__node *loop, uint32_t w, int32_t k, uint32_t until)
{
  uint32_t places[] = { w + 1 + (uint32_t) k, (uint32_t) loop->attr[1] + 1 + (uint32_t) k };

  for (int i = 0; i < 2; i++)
    if (p->last[places[i]] < until)
      p->last[places[i]] = until;
}

/* A use inside a loop of something from outside it lasts until the loop ends;
 * what a RESULT stands for is kept by the loop's placeholders. */
static void
find_last_uses (planner *p)
{
  const nms__trace *t = p->trace;

  for (uint32_t i = 0; i < t->nodes.count; i++) {
    const nms__node *n = &p->nodes[i];
    for (uint32_t k = 0; k < n->count; k++) {
      uint32_t of = nms__operand (t, n, k), until = i;
      for (uint32_t w = of + 1; w < i; w++)
        if (p->nodes[w].op == NMS__WHILE && (uint32_t) p->nodes[w].attr[2] > i) {
          until = (uint32_t) p->nodes[w].attr[2];
          break;                /* the outermost */
        }
      p->last[of] = until > p->last[of] ? until : p->last[of];
    }
  }
  for (size_t i = 0; i < t->outputs.count; i++)
    p->last[((uint32_t *) t->outputs.data)[i]] = UINT32_MAX;
  for (uint32_t i = 0; i < t->nodes.count; i++) {
    const nms__node *n = &p->nodes[i];
    if (n->op == NMS__WHILE)
      for (int32_t k = 0; k < n->attr[0]; k++)
        keep_state (p, n, i, k, (uint32_t) n->attr[2]);
    else if (n->op == NMS__RESULT)
      keep_state (p, &p->nodes[nms__operand (t, n, 0)], nms__operand (t, n, 0), n->attr[0],
          p->last[i] > i ? p->last[i] : i);
  }
}

static void
take_place (planner *p, uint32_t node)
{
  const nms__node *n = &p->nodes[node];
  size_t bytes = p->plan->lone[node] ? nms__type_size (n->shape.type)
                                     : nms_lazy_shape_bytes (&n->shape);

  p->size[node] = (bytes + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
  for (size_t f = p->free_count; f-- > 0;)
    if (p->free_size[f] == p->size[node]) {
      p->plan->offset[node] = p->free_offset[f];
      p->free_count--;
      memmove (p->free_offset + f, p->free_offset + f + 1,
          (p->free_count - f) * sizeof *p->free_offset);
      memmove (p->free_size + f, p->free_size + f + 1, (p->free_count - f) * sizeof *p->free_size);
      return;
    }
  p->plan->offset[node] = p->plan->arena_bytes;
  p->plan->arena_bytes += p->size[node];
}

/* Places that node i was the last to use are free from now on. */
static void
free_places (planner *p, uint32_t i)
{
  for (uint32_t k = 0; k <= i; k++)
    if (p->size[k] && (p->last[k] ? p->last[k] : k) <= i) {
      p->free_offset[p->free_count] = p->plan->offset[k];
      p->free_size[p->free_count++] = p->size[k];
      p->size[k] = 0;
    }
}

static void
place_all (planner *p)
{
  for (uint32_t i = 0; i < p->trace->nodes.count; i++) {
    const nms__node *n = &p->nodes[i];
    /* both functions' placeholders hold the state in turn, all the loop long */
    for (int32_t k = 0; n->op == NMS__WHILE && k < n->attr[0]; k++) {
      take_place (p, i + 1 + (uint32_t) k);
      take_place (p, (uint32_t) n->attr[1] + 1 + (uint32_t) k);
    }
    if (has_place (n->op) && n->op != NMS__STATE)
      take_place (p, i);
    free_places (p, i);
  }
}

nms__eager *
nms__eager_new (const nms__trace *trace)
{
  size_t n = trace->nodes.count;
  planner p = { .trace = trace, .nodes = nms__trace_nodes (trace) };
  nms__eager *plan = calloc (1, sizeof *plan);

  p.plan = plan;
  p.last = calloc (n, sizeof *p.last);
  p.size = calloc (3 * n, sizeof *p.size);
  if (plan) {
    atomic_init (&plan->spare, 0);
    plan->offset = calloc (n, sizeof *plan->offset);
    plan->lone = calloc (n, 1);
  }
  if (plan && p.last && p.size && plan->offset && plan->lone) {
    p.free_offset = p.size + n;
    p.free_size = p.free_offset + n;
    find_lone (&p);
    find_last_uses (&p);
    place_all (&p);
  } else {
    nms__eager_free (plan);
    plan = NULL;
  }
  free (p.last);
  free (p.size);
  return plan;
}

void
nms__eager_free (nms__eager *plan)
{
  if (!plan)
    return;
  free ((void *) atomic_load (&plan->spare));
  free (plan->offset);
  free (plan->lone);
  free (plan);
}

/* -------------------------------------------------------------------- run */

typedef struct runner {
  const nms__eager *plan;
  const nms__trace *trace;
  const nms__node *nodes;
  unsigned char *arena;
  void **at; /* the value of each node */
} runner;

typedef struct strides {
  size_t n[NMS_LAZY_MAX_RANK];
} strides;

/* Elements between neighbours along each axis of a packed array. */
static strides
packed_strides (const nms_lazy_shape *shape)
{
  strides s = { { 0 } };
  size_t n = 1;

  for (int i = shape->rank - 1; i >= 0; i--) {
    s.n[i] = n;
    n *= (size_t) shape->dims[i];
  }
  return s;
}

/* Copies `extent` elements from strides to strides, axis by axis. */
static void
copy_strided (unsigned char *to, strides ts, const unsigned char *from, strides fs,
    const nms_lazy_shape *extent, int axis, size_t size)
{
  size_t n = axis < extent->rank ? (size_t) extent->dims[axis] : 1;
  size_t t = axis < extent->rank ? ts.n[axis] * size : 0;
  size_t f = axis < extent->rank ? fs.n[axis] * size : 0;

  if (axis + 1 < extent->rank)
    for (size_t i = 0; i < n; i++)
      copy_strided (to + i * t, ts, from + i * f, fs, extent, axis + 1, size);
  else if (t == size && f == size)
    memcpy (to, from, n * size);
  else if (size == 4)
    for (size_t i = 0; i < n; i++)
      memcpy (to + i * t, from + i * f, 4);
  else
    for (size_t i = 0; i < n; i++)
      to[i * t] = from[i * f];
}

/* The offset of run-time starts, moved so that `part` lies in `whole`. */
static size_t
start_offset (const runner *r, const nms__node *n, uint32_t first, const nms_lazy_shape *whole,
    const nms_lazy_shape *part)
{
  strides s = packed_strides (whole);
  size_t offset = 0;

  for (int i = 0; i < whole->rank; i++) {
    int32_t start = *(int32_t *) r->at[nms__operand (r->trace, n, first + (uint32_t) i)];
    int32_t most = whole->dims[i] - part->dims[i];
    offset += s.n[i] * (size_t) (start < 0 ? 0 : start > most ? most : start);
  }
  return offset * nms__type_size (whole->type);
}

/* BROADCAST, TRANSPOSE, SLICE, DYNAMIC_SLICE: elements of `a` by strides. */
static void
run_view (const runner *r, const nms__node *n, void *result)
{
  uint32_t of = nms__operand (r->trace, n, 0);
  const nms_lazy_shape *a = &r->nodes[of].shape;
  const strides as = packed_strides (a);
  const size_t size = nms__type_size (a->type);
  const unsigned char *from = r->at[of];
  strides s = as;

  if (n->op == NMS__BROADCAST) {
    s = (strides){ { 0 } };
    for (int i = 0; i < a->rank; i++)
      s.n[n->attr[i]] = a->dims[i] > 1 ? as.n[i] : 0;
  } else if (n->op == NMS__TRANSPOSE) {
    for (int i = 0; i < a->rank; i++)
      s.n[i] = as.n[n->attr[i]];
  } else if (n->op == NMS__SLICE) {
    for (int i = 0; i < a->rank; i++)
      from += (size_t) n->attr[i] * as.n[i] * size;
  } else
    from += start_offset (r, n, 1, a, &n->shape);
  copy_strided (result, packed_strides (&n->shape), from, s, &n->shape, 0, size);
}

static void
run_update (const runner *r, const nms__node *n, void *result)
{
  uint32_t part = nms__operand (r->trace, n, 1);
  const nms_lazy_shape *p = &r->nodes[part].shape;

  memcpy (result, r->at[nms__operand (r->trace, n, 0)], nms_lazy_shape_bytes (&n->shape));
  copy_strided ((unsigned char *) result + start_offset (r, n, 2, &n->shape, p),
      packed_strides (&n->shape), r->at[part], packed_strides (p), p, 0,
      nms__type_size (p->type));
}

static void
run_iota (const nms__node *n, int32_t *result)
{
  size_t inner = packed_strides (&n->shape).n[n->attr[0]];
  size_t count = nms_lazy_shape_elements (&n->shape), extent = (size_t) n->shape.dims[n->attr[0]];

  for (size_t i = 0; i < count;)
    for (size_t k = 0; k < extent; k++)
      for (size_t j = 0; j < inner; j++)
        result[i++] = (int32_t) k;
}

static void
run_reduce (const runner *r, const nms__node *n, void *result)
{
  uint32_t of = nms__operand (r->trace, n, 0);
  const nms_lazy_shape *a = &r->nodes[of].shape;
  size_t inner = packed_strides (a).n[n->attr[0]], extent = (size_t) a->dims[n->attr[0]];

  nms__kernel_reduce (n, nms_lazy_shape_elements (a) / (inner * extent), extent, inner, result,
      r->at[of]);
}

static void
run_elements (const runner *r, const nms__node *n, uint32_t index)
{
  void *operand[3] = { NULL };
  int step[3] = { 1, 1, 1 };
  uint32_t of = 0;

  for (uint32_t k = 0; k < n->count; k++) {
    of = nms__operand (r->trace, n, k);
    operand[k] = r->at[of];
    step[k] = !r->plan->lone[of];
  }
  nms__kernel_elements (n, r->nodes[of].shape.type, nms_lazy_shape_elements (&n->shape),
      r->at[index], operand, step);
}

static void run_range (runner *r, uint32_t from, uint32_t to);

/* The place of state k that does not hold it now. */
static void *
other_place (const runner *r, uint32_t cond, uint32_t body, uint32_t k)
{
  unsigned char *first = r->arena + r->plan->offset[cond + k];
  return r->at[cond + k] == first ? r->arena + r->plan->offset[body + k] : first;
}

/* Each state has two places: where it is, and where the next one goes. */
static void
run_while (runner *r, uint32_t w)
{
  const nms__node *n = &r->nodes[w];
  const uint32_t cond = w + 1, cond_end = (uint32_t) n->attr[1];
  const uint32_t body = cond_end + 1, body_end = (uint32_t) n->attr[2];
  const uint32_t count = (uint32_t) n->attr[0];
  const nms__node *next = &r->nodes[body_end];

  for (uint32_t k = 0; k < count; k++) {
    r->at[cond + k] = r->at[body + k] = r->arena + r->plan->offset[cond + k];
    memcpy (r->at[cond + k], r->at[nms__operand (r->trace, n, k)],
        nms_lazy_shape_bytes (&r->nodes[cond + k].shape));
  }
  for (;;) {
    run_range (r, cond, cond_end);
    if (!*(uint8_t *) r->at[nms__operand (r->trace, &r->nodes[cond_end], 0)])
      break;
    run_range (r, body, body_end);
    for (uint32_t k = 0; k < count; k++)
      if (nms__operand (r->trace, next, k) != body + k)
        memcpy (other_place (r, cond, body, k), r->at[nms__operand (r->trace, next, k)],
            nms_lazy_shape_bytes (&r->nodes[cond + k].shape));
    for (uint32_t k = 0; k < count; k++)
      if (nms__operand (r->trace, next, k) != body + k)
        r->at[cond + k] = r->at[body + k] = other_place (r, cond, body, k);
  }
}

static void
run_range (runner *r, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++) {
    const nms__node *n = &r->nodes[i];
    void *result = r->at[i];

    switch (n->op) {
    case NMS__INPUT:
    case NMS__CONSTANT:
    case NMS__STATE:
      break;                    /* are where they are */
    case NMS__CAPTURE:
      r->at[i] = r->at[nms__operand (r->trace, n, 0)];
      break;
    case NMS__RESULT:
      r->at[i] = r->at[nms__operand (r->trace, n, 0) + 1 + (uint32_t) n->attr[0]];
      break;
    case NMS__WHILE:
      run_while (r, i);
      i = (uint32_t) n->attr[2];
      break;
    case NMS__IOTA:
      run_iota (n, result);
      break;
    case NMS__RESHAPE:
      memcpy (result, r->at[nms__operand (r->trace, n, 0)], nms_lazy_shape_bytes (&n->shape));
      break;
    case NMS__BROADCAST:
      if (r->plan->lone[i])
        memcpy (result, r->at[nms__operand (r->trace, n, 0)], nms__type_size (n->shape.type));
      else
        run_view (r, n, result);
      break;
    case NMS__TRANSPOSE:
    case NMS__SLICE:
    case NMS__DYNAMIC_SLICE:
      run_view (r, n, result);
      break;
    case NMS__DYNAMIC_UPDATE:
      run_update (r, n, result);
      break;
    case NMS__REDUCE:
      run_reduce (r, n, result);
      break;
    default:
      run_elements (r, n, i);
      break;
    }
  }
}

int
nms__eager_run (nms__eager *plan, const nms__trace *trace, const nms_lazy_buffer *inputs,
    const nms_lazy_buffer *outputs)
{
  runner r = { plan, trace, nms__trace_nodes (trace), NULL, NULL };
  size_t pointers = trace->nodes.count * sizeof *r.at;
  size_t bytes = (pointers + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
  void *memory = (void *) atomic_exchange (&plan->spare, 0);

  if (!memory)
    memory = aligned_alloc (PLACE_ALIGN, bytes + plan->arena_bytes);
  if (!memory)
    return NMS_ERROR_MEMORY;
  r.at = memory;
  r.arena = (unsigned char *) memory + bytes;
  for (size_t i = 0; i < trace->nodes.count; i++) {
    const nms__node *n = &r.nodes[i];
    if (n->op == NMS__INPUT)
      r.at[i] = inputs[n->attr[0]].data;
    else if (n->op == NMS__CONSTANT)
      r.at[i] = (char *) trace->bytes.data + n->attr[0];
    else
      r.at[i] = r.arena + plan->offset[i];
  }
  run_range (&r, 0, (uint32_t) trace->nodes.count);
  for (size_t i = 0; i < trace->outputs.count; i++)
    memcpy (outputs[i].data, r.at[((uint32_t *) trace->outputs.data)[i]],
        nms_lazy_shape_bytes (&outputs[i].shape));
  free ((void *) atomic_exchange (&plan->spare, (uintptr_t) memory));
  return NMS_OK;
}
