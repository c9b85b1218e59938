/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tputilearrays: lays out the arrays of the tiles kernel (tputilearrays.h).
 */
#include "tputilearrays.h"

#define TILE NMS__TPU_LANES
#define WORDS NMS__TPU_WORDS

/* The first field that depends on the spec; before it are the corners and the index. */
#define FIRST_FREE (NMS__TPU_KEY + 1)

/* The most tiles that a kernel ranks; XLA sorts more boxes in fewer cycles. */
#define MOST_RANKED 8

static void
add_ranking (nms__tpu_layout *layout)
{
  nms__tpu_add_scratch (layout, NMS__TPU_S32, layout->rows * layout->block);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, layout->rows * TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, 4 * layout->block);
  layout->scratch[layout->scratch_count - 1].cols = layout->positions;
}

static void
add_caps (nms__tpu_layout *layout)
{
  nms__tpu_add_scratch (layout, NMS__TPU_F32, TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, WORDS * TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, TILE);
}

/* Returns the number of fields of a box. */
static int
fields_of (const nms__tpu_spec *spec)
{
  return FIRST_FREE + nms__tpu_uses_class (spec) + (spec->box_limits ? 3 : 0)
      + (spec->class_caps ? 1 : 0) + (spec->parents ? 1 : 0);
}

void
nms__tpu_tiles_layout (const nms__tpu_spec *spec, nms__tpu_layout *layout)
{
  int tiles = (spec->boxes + TILE - 1) / TILE, kept = (spec->picks + TILE - 1) / TILE;

  *layout = (nms__tpu_layout) { .chunk = 1,
    .rows = tiles,
    .positions = tiles * TILE,
    .steps = tiles,
    .fields = fields_of (spec),
    .ranks = tiles <= MOST_RANKED,
    .images = nms__tpu_images (spec) };
  layout->block = (layout->fields + 7) / 8 * 8;
  layout->window = layout->ranks ? 0 : layout->block;
  nms__tpu_add_input (layout, NMS__TPU_S32,
      tiles * (layout->ranks ? layout->fields : layout->block));
  if (layout->ranks && layout->images > 1) /* a window that moves has whole registers */
    layout->input[0].rows = (layout->input[0].rows + 7) / 8 * 8;
  if (layout->window)
    nms__tpu_add_input (layout, NMS__TPU_S32, tiles * layout->block);
  layout->shared = layout->input_count;
  nms__tpu_add_input (layout, NMS__TPU_F32, 8);
  nms__tpu_set_picks (layout, spec->picks);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, kept * layout->block);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, layout->fields * TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_BF16, 2 * WORDS * TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, 1);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, 1);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, 4 * layout->block);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, 4 * layout->block);
  nms__tpu_add_scratch (layout, NMS__TPU_F32, 2 * TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, WORDS * TILE);
  nms__tpu_add_scratch (layout, NMS__TPU_S32, TILE);
  if (spec->class_caps)
    add_caps (layout);
  if (layout->ranks)
    add_ranking (layout);
}

static void
assign_fields (nms__tpu_tiles *t)
{
  int next = FIRST_FREE;

  if (nms__tpu_uses_class (t->spec))
    t->class_field = next++;
  if (t->spec->box_limits)
    t->limit_field = next, next += 3;
  if (t->spec->class_caps)
    t->most_field = next++;
  if (t->spec->parents)
    t->parent_field = next;
}

void
nms__tpu_tiles_assign (nms__tpu_tiles *t)
{
  const nms__tpu_layout *layout = t->layout;
  const nms__array *s = layout->scratch;

  assign_fields (t);
  t->first = layout->input[0];
  t->next = layout->input[1];
  t->first.rows = t->next.rows = layout->window;
  t->parameters = layout->input[layout->input_count - 1];
  t->kept = s[0], t->turned = s[1], t->column = s[2], t->weights = s[3], t->blocked = s[4];
  t->count = s[5], t->most = s[6], t->bytes = s[7], t->hits = s[9], t->words = s[10];
  t->position = s[11];
  s += 12;
  if (t->most_field) {
    t->caps = (nms__tpu_caps) { .members = s[0], .words = s[1], .room = s[2] };
    s += 3;
  }
  t->ranking = (nms__tpu_ranking) { .tiles = layout->rows,
    .fields = layout->fields,
    .key = NMS__TPU_KEY,
    .given = layout->input[0],
    .mover = { layout->scratch[8], layout->block } };
  if (layout->ranks) {
    t->ranking.sorted = t->first = t->next = s[0];
    t->ranking.ranks = s[1], t->ranking.bytes = s[2];
  }
}
