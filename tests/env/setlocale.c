/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* setlocale: preloaded into a test program, gives it the environment's locale
 * before its main, as applications do and test programs do not. */
#include <locale.h>

__attribute__ ((constructor))
static void
use_the_locale_of_the_environment (void)
{
  setlocale (LC_ALL, "");
}
