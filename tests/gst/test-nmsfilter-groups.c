/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: groups of classes that suppress each other. test-nmsfilter-reference compares random
 * frames with the definition.
 */
#include "gstrunner.h"

/* An object that is found as four classes, and another one that is found as two. */
#define STREET \
  "1 car 0,0,100,100 0.9; 2 truck 5,0,100,100 0.8; 3 bus 10,0,100,100 0.3; " \
  "4 person 0,5,100,100 0.5; 5 rider 300,0,50,100 0.7; 6 person 305,0,50,100 0.6"

#define UNSCORED "1 car 0,0,100,100 0.9; 2 bus 10,0,100,100; 3 car 300,0,100,100"
#define FAR "1 car 0,0,100,100 0.2; 2 bus 0,0,100,100 0.9 from far"

#define GROUPS "nmsfilter class-groups=bus>truck>car;person>rider "
#define CARS "nmsfilter class-groups=car,truck,bus "

static void
test_rows (void)
{
  static const FrameRow rows[] = {
    { "groups", "nmsfilter", STREET, "1 2 3 4 5 6" },
    { "groups", "nmsfilter class-groups=NULL", STREET, "1 2 3 4 5 6" },
    { "groups", "nmsfilter class-groups=truck,car", STREET, "1 3 4 5 6" },
    { "groups", "nmsfilter class-groups=car,truck,bus;person,rider", STREET, "1 4 5" },
    { "groups", "nmsfilter class-groups=bus>truck>car", STREET, "3 4 5 6" },
    { "groups", "nmsfilter class-groups=\"  bus > truck , car ; person>rider;\"", STREET, "3 4 6" },
    { "groups", "nmsfilter class-agnostic=true", STREET, "1 5", NULL,
        "suppressed=4 suppressed-by-other-class=4" },
    /* the ranks hold for all classes, and classes of no group have the first one */
    { "groups", "nmsfilter class-agnostic=true class-groups=bus>truck>car", STREET, "4 5" },
    /* ranks count for limits, too: 4, 6 and 3 rank above 5 */
    { "groups", GROUPS "max-detections=3", STREET, "3 4 6" },
    { "groups", GROUPS "max-candidates=2", STREET, "4 6" },
    /* limits and thresholds are those of the class of a box */
    { "groups", GROUPS "max-per-class=1", STREET, "3 6" },
    { "groups", GROUPS "class-options=o,bus=[o,score-threshold=0.4]", STREET, "2 4 6" },
    { "groups", GROUPS "class-options=o,truck=[o,iou-threshold=0.95],person=[o,max=0]", STREET,
        "2 3 4 6" },
    { "groups", GROUPS "method=greedy-merge", STREET, "3 4 6" },
    { "groups", CARS "method=weighted", STREET, "1 4 5 6" },
    { "groups", CARS "method=soft-linear method-options=o,min-score=0.2", STREET, "1 4 5 6" },
    { "tags and stats", GROUPS "action=tag", STREET "; 7 bus 12,0,100,100 0.2", "1 2 3 4 5 6 7",
        "1=suppressed:2 2=suppressed:2 3=kept 4=kept 5=suppressed:5 6=kept 7=suppressed:2",
        "suppressed=4 suppressed-by-other-class=3" },
    /* a box over the limit of its class suppresses nothing, also in a group */
    { "over limit", "nmsfilter class-groups=bus>car class-options=o,bus=[o,max=1]",
        "1 bus 200,0,100,100 0.9; 2 bus 0,0,100,100 0.8; 3 car 0,0,100,100 0.7", "1 3" },
    /* boxes without a confidence rank by their class first */
    { "unscored", "nmsfilter class-groups=bus,car", UNSCORED, "1 3" },
    { "unscored", "nmsfilter class-groups=bus>car", UNSCORED, "2 3" },
    /* priorities of sources count before the ranks of classes */
    { "sources", "nmsfilter class-groups=bus>car sources=main,far", FAR, "2" },
    { "sources", "nmsfilter class-groups=bus>car sources=main:priority=1,far", FAR, "1" },
    /* a part that is dropped with its parent counts as its parent does */
    { "parts", "nmsfilter class-groups=bus>car",
        "1 car 0,0,100,100 0.9; 2 plate 0,0,10,10 0.9 in 1; 3 car 5,0,100,100 0.8; "
        "4 car 300,0,100,100 0.9; 5 car 305,0,100,100 0.8; 6 plate 305,0,10,10 0.8 in 5; "
        "7 bus 0,5,100,100 0.1",
        "4 7", NULL, "suppressed=5 suppressed-by-other-class=3" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

static void
test_refusals (void)
{
  static const gchar *const refused[][2] = {
    { "nmsfilter class-groups=car",
        "Cannot use class-groups: the group \"car\" has only one class" },
    { "nmsfilter class-groups=a,b;car,", "a class of the group \"car,\" has no name" },
    { "nmsfilter class-groups=a>>b", "a class of the group \"a>>b\" has no name" },
    { "nmsfilter class-groups=>b", "a class of the group \">b\" has no name" },
    { "nmsfilter class-groups=a,b;c>a", "class \"a\" is listed twice" },
    { "nmsfilter class-groups=a>b method=weighted",
        "method=weighted with \">\" in class-groups: the method ranks boxes by their scores only" },
  };
  g_autoptr (GString) many = g_string_new ("c0");
  g_autoptr (GstElement) element = NULL;

  expect_no_starts (refused, G_N_ELEMENTS (refused));

  for (guint i = 1; i < 1000; i++)
    g_string_append_printf (many, ">c%u", i);
  element = element_new ("nmsfilter");
  g_object_set (element, "class-groups", many->str, NULL);
  expect_start (element);
  g_string_append (many, ">c");
  g_object_set (element, "class-groups", many->str, NULL);
  expect_no_start (element, "has more than 1000 ranks");
  gst_element_set_state (element, GST_STATE_NULL);
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_refusals), { NULL } };

GST_TEST_PROGRAM (cases);
