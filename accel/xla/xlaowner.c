/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaowner: the id of the owner, in an atomic number. */
#include "xlaowner.h"
#include "xlaerror.h"

#include <stdatomic.h>
#include <unistd.h>

static atomic_long owner; /* 0: none yet */

int
nms__xla_owner_claim (char *error, size_t error_size)
{
  long claimed_by = 0, self = (long) getpid ();

  if (atomic_compare_exchange_strong (&owner, &claimed_by, self) || claimed_by == self)
    return NMS_OK;
  return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
      "this process was forked from one that had used an XLA plugin, whose threads do not "
      "exist here");
}

int
nms__xla_owner_is_self (void)
{
  return atomic_load (&owner) == (long) getpid ();
}
