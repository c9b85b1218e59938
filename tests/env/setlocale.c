/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* setlocale: preloaded into a test program; sets the locale of the environment before
 * main, as applications do. */
#include <locale.h>

__attribute__ ((constructor)) static void
use_the_locale_of_the_environment (void)
{
  setlocale (LC_ALL, "");
}
