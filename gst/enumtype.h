/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enumtype: defines the type of a property's enumeration together with its names. */
#pragma once

#include <glib-object.h>

/* Defines `function`, which registers the type on its first call. The arguments after
 * `name` are values { number, description, nick }. The numbers must not change, because
 * applications store them. */
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
