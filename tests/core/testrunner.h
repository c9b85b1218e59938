/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * testrunner: runs the GLib test programs. A program ends with a table of cases and
 * TEST_PROGRAM (cases);
 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* One case, or with `rows` one case for each row of a table. The first member of a row
 * is its name, a string, which replaces "%s" in `path` ('/' in it becomes ':'). A row
 * whose name is NULL ends the table. */
typedef struct {
  const char *path;
  void (*run) (void);
  void (*run_row) (gconstpointer row);
  gconstpointer rows;
  size_t row_size;
} TestCase;

/* The TestCase of a function, whose name is its path. */
#define CASE(run) \
  { \
    "/" #run, run \
  }

/* A TestCase that calls `run_row` with each row of the array `rows`. */
#define TEST_ROWS(path, run_row, rows) \
  { \
    path, NULL, run_row, rows, sizeof *(rows) \
  }

typedef struct {
  const TestCase *cases; /* ends with a path that is NULL */
  /* Called with `needs` before the first case. Returns NULL, or the reason why the
   * program is skipped. May be NULL. */
  const char *(*start) (const char *needs);
  void (*finish) (void); /* called after the last case; may be NULL */
  const char *needs;     /* names of what `start` looks for, separated by blanks */
  /* For programs that start themselves again: called before anything else if there are
   * arguments. Returns the exit status, or -1 to run the cases. May be NULL. */
  int (*child) (const char *first_argument);
} TestProgram;

/* Returns the exit status. */
int testrunner_run (int argc, char **argv, const TestProgram *program);

/* Returns the number in the environment variable `name`: NMS_TEST_SEED, the seed of the
 * first round, or NMS_TEST_ROUNDS. Returns `otherwise` if it is not set. */
static inline uint64_t
testrunner_number (const char *name, uint64_t otherwise)
{
  const char *text = g_getenv (name);
  return text ? g_ascii_strtoull (text, NULL, 10) : otherwise;
}

/* Returns the rounds of a test: `most`, or the number in NMS_TEST_ROUNDS if that is less. */
static inline uint64_t
testrunner_rounds (uint64_t most)
{
  return MIN (testrunner_number ("NMS_TEST_ROUNDS", most), most);
}

/* The function main of a program; the arguments initialize its TestProgram. */
#define TEST_PROGRAM(...) \
  int main (int argc, char **argv) \
  { \
    static const TestProgram program = { __VA_ARGS__ }; \
    return testrunner_run (argc, argv, &program); \
  }
