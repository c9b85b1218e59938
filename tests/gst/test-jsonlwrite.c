/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-jsonlwrite: writes numbers and strings as JSON. */
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "gstrunner.h"
#include "records/jsonlwrite.h"

static void
numbers_are_short_and_exact (void)
{
  static const struct
  {
    gdouble number;
    const gchar *text;
  } rows[] = {
    { 0, "0" },
    { -0.0, "0" },
    { 1, "1" },
    { -1.5, "-1.5" },
    { 0.1, "0.1" },
    { 0.91, "0.91" },
    { 1.0 / 3, "0.3333333333333333" },
    { 0.1 + 0.2, "0.30000000000000004" },
    { 1e300, "1e+300" },
    { 5e-324, "4.94065645841247e-324" },
    { 123456789012345680.0, "1.2345678901234568e+17" },
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_string_truncate (text, 0);
    jsonl_append_double (text, rows[i].number);
    g_assert_cmpstr (text->str, ==, rows[i].text);
  }
  for (guint i = 0; i < 100000; i++) {
    union
    {
      guint64 bits;
      gdouble number;
    } any = { .bits = (guint64) g_rand_int (random) << 32 | g_rand_int (random) };

    if (!isfinite (any.number))
      continue;
    g_string_truncate (text, 0);
    jsonl_append_double (text, any.number);
    if (g_ascii_strtod (text->str, NULL) != any.number)
      g_error ("%s", text->str);
    g_assert_false (strchr (text->str, ','));
  }
  g_string_truncate (text, 0);
  jsonl_append_int (text, G_MININT64);
  g_assert_cmpstr (text->str, ==, "-9223372036854775808");
}

/* A number has the digits of the shortest of %.15g, %.16g and %.17g that reads back. */
static void
numbers_have_the_digits_of_printf (void)
{
  static const gdouble edges[] = { 1e-4, 9.9999999999999991e-5, 1e15, 999999999999999.9, 1e14,
    -1e15 };
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  g_autoptr (GString) text = g_string_new (NULL);
  gchar expected[G_ASCII_DTOSTR_BUF_SIZE], how[8];

  for (guint i = 0; i < 100000 + G_N_ELEMENTS (edges); i++) {
    gdouble number = i < G_N_ELEMENTS (edges)
        ? edges[i]
        : g_rand_double_range (random, -1, 1) * pow (10, g_rand_int_range (random, -20, 25));
    gint digits = 15;

    do {
      g_snprintf (how, sizeof how, "%%.%dg", digits++);
      g_ascii_formatd (expected, sizeof expected, how, number);
    } while (g_ascii_strtod (expected, NULL) != number);
    g_string_truncate (text, 0);
    jsonl_append_double (text, number);
    g_assert_cmpstr (text->str, ==, expected);
  }
}

#ifdef __SSE2__
/* A library built with fast-math leaves flush-to-zero on in the process. */
static void
numbers_are_exact_under_flush_to_zero (void)
{
  const unsigned int mode = _mm_getcsr ();
  g_autoptr (GString) text = g_string_new (NULL);

  _mm_setcsr (mode | 0x8040);
  jsonl_append_double (text, 5e-324);
  g_string_append_c (text, ' ');
  jsonl_append_double (text, 1e-310);
  _mm_setcsr (mode);
  g_assert_cmpstr (text->str, ==, "4.94065645841247e-324 9.99999999999997e-311");
}
#endif

static void
strings_are_escaped (void)
{
  static const struct
  {
    const gchar *text, *json;
  } rows[] = {
    { "", "\"\"" }, { "traffic light", "\"traffic light\"" }, { "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
    { "\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"" },
    { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
    { "a\xff\xc3", "\"a\xef\xbf\xbd\xef\xbf\xbd\"" },
    { "\xed\xa0\x80z", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"" }, /* a lone surrogate */
  };
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_string_truncate (text, 0);
    jsonl_append_string (text, rows[i].text);
    g_assert_cmpstr (text->str, ==, rows[i].json);
  }
}

static const TestCase cases[] = { CASE (numbers_are_short_and_exact),
  CASE (numbers_have_the_digits_of_printf),
#ifdef __SSE2__
  CASE (numbers_are_exact_under_flush_to_zero),
#endif
  CASE (strings_are_escaped), { NULL } };

GST_TEST_PROGRAM (cases);
