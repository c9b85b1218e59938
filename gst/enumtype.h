/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enumtype: the type of a property's enumeration, in one place with its names. */
#pragma once

#include <glib-object.h>

/* Defines `function`, which registers the type once; behind its name stand
 * { number, description, nick }... The numbers are fixed: applications store them. */
#define DEFINE_ENUM_TYPE(function, name, ...)                                  \
  static GType                                                                 \
  function (void)                                                              \
  {                                                                            \
    static const GEnumValue values[] = { __VA_ARGS__, { 0, NULL, NULL } };     \
    static gsize type = 0;                                                     \
    if (g_once_init_enter (&type))                                             \
      g_once_init_leave (&type, g_enum_register_static (name, values));        \
    return (GType) type;                                                       \
  }
