/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fileclaim: a list with an item for each claim, found by device and inode, so that a file is known
 * under all of its names. */
#include "fileclaim.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fileerror.h"

struct _FileClaim
{
  dev_t device;
  ino_t inode;
  FileUse use;
  gchar *owner;
};

/* the files that are claimed in this process */
static GMutex lock;
static GSList *claims;

/* Returns whether the two uses of a file exclude each other. */
static gboolean
exclude (const struct stat *st, FileUse a, FileUse b)
{
  if (a == FILE_CLAIM_READ && b == FILE_CLAIM_READ)
    return S_ISFIFO (st->st_mode) || S_ISSOCK (st->st_mode);
  if (a != FILE_CLAIM_READ && b != FILE_CLAIM_READ)
    return TRUE;
  return (a == FILE_CLAIM_REPLACE || b == FILE_CLAIM_REPLACE) && S_ISREG (st->st_mode)
      && st->st_size > 0;
}

static const FileClaim *
find_excluding (const struct stat *st, FileUse use)
{
  GSList *item;

  for (item = claims; item; item = item->next) {
    const FileClaim *claim = item->data;

    if (claim->device == st->st_dev && claim->inode == st->st_ino && exclude (st, claim->use, use))
      return claim;
  }
  return NULL;
}

FileClaim *
file_claim_take (int fd, FileUse use, const gchar *owner, GError **error)
{
  const FileClaim *other;
  FileClaim *self = NULL;
  struct stat st;

  if (fstat (fd, &st) < 0) {
    file_error_set (error, errno);
    return NULL;
  }
  g_mutex_lock (&lock);
  if ((other = find_excluding (&st, use)) != NULL) {
    const gboolean is_read = other->use == FILE_CLAIM_READ, reads = use == FILE_CLAIM_READ;

    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s %s this file, so %s cannot%s",
        other->owner,
        is_read     ? "reads"
            : reads ? "replaces"
                    : "writes to",
        owner,
        is_read == reads ? ""
            : reads      ? " read it"
                         : " replace it");
  } else {
    self = g_new (FileClaim, 1);
    *self = (FileClaim) {
      .device = st.st_dev,
      .inode = st.st_ino,
      .use = use,
      .owner = g_strdup (owner),
    };
    claims = g_slist_prepend (claims, self);
  }
  g_mutex_unlock (&lock);
  return self;
}

void
file_claim_release (FileClaim *self)
{
  if (self == NULL)
    return;
  g_mutex_lock (&lock);
  claims = g_slist_remove (claims, self);
  g_mutex_unlock (&lock);
  g_free (self->owner);
  g_free (self);
}

const gchar *
file_claim_owner (const FileClaim *self)
{
  return self->owner;
}

gboolean
file_claim_empty (FileClaim *self, int fd, GError **error)
{
  gboolean emptied;

  g_mutex_lock (&lock);
  emptied = ftruncate (fd, 0) == 0 || file_error_set (error, errno);
  if (emptied)
    self->use = FILE_CLAIM_APPEND;
  g_mutex_unlock (&lock);
  return emptied;
}
