/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * checkrunner: runs the GstCheck test programs, each case in a process of its own. A
 * program ends with a table of cases and CHECK_PROGRAM (cases);
 */
#pragma once

#include <gst/check/gstcheck.h>

typedef struct
{
  const gchar *name;
  TFun run;
} CheckCase;

/* The CheckCase of a GST_START_TEST. */
#define CHECK_CASE(test) \
  { \
#test, test \
  }

typedef struct
{
  const CheckCase *cases; /* ends with a name that is NULL */
  /* called before and after each case, in its process; may be NULL */
  void (*setup) (void);
  void (*teardown) (void);
} CheckProgram;

/* Returns the exit status. */
int checkrunner_run (int argc, char **argv, const CheckProgram *program);

/* The function main of a program; the arguments initialize its CheckProgram. */
#define CHECK_PROGRAM(...) \
  int main (int argc, char **argv) \
  { \
    static const CheckProgram program = { __VA_ARGS__ }; \
    return checkrunner_run (argc, argv, &program); \
  }
