/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blockqueue: one thread reads and writes, those of a GThreadPool filter. A block is about ten
 * milliseconds of work, so the lock does not matter. */
#include "blockqueue.h"

struct _BlockQueue
{
  TextBlocks *blocks;
  guint threads;
  GThreadPool *pool;
  GAsyncQueue *filters; /* BlockFilters that no thread uses */
  GQueue started;       /* blocks in their order */
  Block *returned;
  gboolean ended;
  GError *error; /* of reading, returned behind the blocks before it */
  GMutex lock;
  GCond done;
};

static Block *
block_new (void)
{
  Block *block = g_new0 (Block, 1);

  block->text = g_string_new (NULL);
  block->out = g_string_new (NULL);
  return block;
}

static void
block_free (Block *block)
{
  if (block == NULL)
    return;
  g_string_free (block->text, TRUE);
  g_string_free (block->out, TRUE);
  g_clear_error (&block->error);
  g_free (block);
}

/* Filters a block on a thread of the pool. */
static void
run (gpointer data, gpointer user_data)
{
  BlockQueue *self = user_data;
  Block *block = data;
  BlockFilter *filter = g_async_queue_pop (self->filters);

  block_filter_run (filter, block);
  g_async_queue_push (self->filters, filter);
  g_mutex_lock (&self->lock);
  block->done = TRUE;
  g_cond_signal (&self->done);
  g_mutex_unlock (&self->lock);
}

BlockQueue *
block_queue_new (TextBlocks *blocks, const FilterSettings *settings, TextFormat to, guint threads)
{
  BlockQueue *self = g_new0 (BlockQueue, 1);

  self->blocks = blocks;
  self->threads = threads;
  self->filters = g_async_queue_new_full ((GDestroyNotify) block_filter_free);
  for (guint i = 0; i < threads; i++)
    g_async_queue_push (self->filters, block_filter_new (settings, blocks, to));
  self->pool = g_thread_pool_new (run, self, (gint) threads, TRUE, NULL);
  g_queue_init (&self->started);
  g_mutex_init (&self->lock);
  g_cond_init (&self->done);
  return self;
}

void
block_queue_free (BlockQueue *self)
{
  if (self == NULL)
    return;
  g_thread_pool_free (self->pool, TRUE, TRUE);
  g_async_queue_unref (self->filters);
  g_queue_clear_full (&self->started, (GDestroyNotify) block_free);
  block_free (self->returned);
  g_clear_error (&self->error);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->done);
  g_free (self);
}

/* Reads a block and gives it to the pool. Sets `ended` at the end. */
static void
start_block (BlockQueue *self)
{
  Block *block = block_new ();

  if (!text_blocks_next (self->blocks, block->text, &block->begin, &block->end, &self->error)
      || block->text->len == 0) {
    self->ended = TRUE;
    block_free (block);
    return;
  }
  g_queue_push_tail (&self->started, block);
  g_thread_pool_push (self->pool, block, NULL);
}

const Block *
block_queue_next (BlockQueue *self, GError **error)
{
  Block *block;

  g_clear_pointer (&self->returned, block_free);
  while (!self->ended && self->started.length < 2 * self->threads)
    start_block (self);
  block = g_queue_pop_head (&self->started);
  if (block == NULL) {
    if (self->error)
      g_propagate_error (error, g_steal_pointer (&self->error));
    return NULL;
  }
  g_mutex_lock (&self->lock);
  while (!block->done)
    g_cond_wait (&self->done, &self->lock);
  g_mutex_unlock (&self->lock);
  self->returned = block;
  return block;
}
