/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blockqueue: filters blocks on several threads and returns them in their order. At most two
 * blocks for each thread are in memory.
 */
#pragma once

#include "blockfilter.h"

G_BEGIN_DECLS

typedef struct _BlockQueue BlockQueue;

/* Reads from `blocks`. It and the settings must stay valid and unchanged. `to` is the format of the
 * output, not TEXT_FORMAT_AUTO. */
BlockQueue *block_queue_new (TextBlocks *blocks, const FilterSettings *settings, TextFormat to,
    guint threads);
void block_queue_free (BlockQueue *self);

/* Waits for the next block and returns it; it is valid until the next call. Returns NULL at the
 * end of the input, or with an error of reading it. */
const Block *block_queue_next (BlockQueue *self, GError **error);

G_END_DECLS
