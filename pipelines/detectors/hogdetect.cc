/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hogdetect: OpenCV's people detector (histograms of oriented gradients and a linear SVM) as an
 * element. It needs no model file, reports every window with its confidence as a region of interest,
 * and suppresses none: that is nmsfilter's work. A frame of 768 x 576 takes about 0.15 s, beside
 * which the metadata of some hundred boxes is nothing. C++, because OpenCV has no interface for C. */
#include <cmath>
#include <vector>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

/* OpenCV's people stand in the middle of the window of 64 x 128 pixels: these parts of its width and
 * height on each side are background (measured: with them the boxes have the greatest IoU with
 * people marked by hand). */
constexpr double SIDE = 0.22, END = 0.10;

constexpr double DEFAULT_SCALE = 1, DEFAULT_PYRAMID_STEP = 1.05, DEFAULT_SCORE_THRESHOLD = 0.5;
constexpr guint DEFAULT_INTERVAL = 1;

enum { PROP_0, PROP_SCALE, PROP_PYRAMID_STEP, PROP_SCORE_THRESHOLD, PROP_INTERVAL };

struct HogDetect {
  GstBaseTransform parent;
  /* under the object lock */
  double scale, pyramid_step, score_threshold;
  guint interval;
  /* used by the streaming thread only */
  GstVideoInfo info;
  guint64 frames;
  GstClockTime pts; /* time of the last frame */
  cv::HOGDescriptor *hog;
};

struct HogDetectClass {
  GstBaseTransformClass parent_class;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("RGB")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("RGB")));

G_DEFINE_TYPE (HogDetect, hog_detect, GST_TYPE_BASE_TRANSFORM)

static HogDetect *
hog_detect (gpointer object)
{
  return reinterpret_cast<HogDetect *> (object);
}

/* Adds a region: whole pixels, clipped to the frame, and the exact normalised edges. */
static void
attach (HogDetect *self, GstBuffer *buffer, double confidence, double left, double top,
    double right, double bottom)
{
  const double width = self->info.width, height = self->info.height;
  const double x0 = CLAMP (std::nearbyint (left), 0, width);
  const double y0 = CLAMP (std::nearbyint (top), 0, height);
  const double x1 = CLAMP (std::nearbyint (right), x0, width);
  const double y1 = CLAMP (std::nearbyint (bottom), y0, height);

  gst_video_region_of_interest_meta_add_param (gst_buffer_add_video_region_of_interest_meta (buffer,
                                                   "person", guint (x0), guint (y0),
                                                   guint (x1 - x0), guint (y1 - y0)),
      gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, confidence, "x_min",
          G_TYPE_DOUBLE, left / width, "x_max", G_TYPE_DOUBLE, right / width, "y_min",
          G_TYPE_DOUBLE, top / height, "y_max", G_TYPE_DOUBLE, bottom / height, "label_id",
          G_TYPE_INT, 0, nullptr));
}

/* Finds the people in `picture` and attaches their boxes. May throw cv::Exception. */
static void
detect (HogDetect *self, GstBuffer *buffer, const cv::Mat &picture, double scale,
    double pyramid_step, double score_threshold)
{
  const double score = CLAMP (score_threshold, 1e-9, 1 - 1e-9);
  cv::Mat enlarged;
  std::vector<cv::Rect> windows;
  std::vector<double> distances; /* distances from the SVM's boundary */

  if (scale != 1)
    cv::resize (picture, enlarged, cv::Size (), scale, scale);
  else
    enlarged = picture;
  if (enlarged.rows < 128 || enlarged.cols < 64)
    return;
  self->hog->detectMultiScale (enlarged, windows, distances, std::log (score / (1 - score)),
      cv::Size (8, 8), cv::Size (16, 16), pyramid_step, 0);
  for (size_t i = 0; i < windows.size (); i++) {
    const cv::Rect &w = windows[i];

    attach (self, buffer, 1 / (1 + std::exp (-distances[i])), (w.x + SIDE * w.width) / scale,
        (w.y + END * w.height) / scale, (w.x + w.width - SIDE * w.width) / scale,
        (w.y + w.height - END * w.height) / scale);
  }
}

static GstFlowReturn
hog_detect_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  HogDetect *self = hog_detect (trans);
  GstVideoFrame frame;
  GstFlowReturn ret = GST_FLOW_OK;

  GST_OBJECT_LOCK (self);
  const double scale = self->scale, step = self->pyramid_step, threshold = self->score_threshold;
  const guint interval = self->interval;
  GST_OBJECT_UNLOCK (self);
  /* tiledetect passes the tiles of a frame one after the other */
  if (GST_BUFFER_PTS (buffer) != self->pts || !GST_BUFFER_PTS_IS_VALID (buffer))
    self->frames++;
  self->pts = GST_BUFFER_PTS (buffer);
  if ((self->frames - 1) % interval != 0)
    return GST_FLOW_OK;
  if (!gst_video_frame_map (&frame, &self->info, buffer,
          GstMapFlags (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))) {
    GST_ELEMENT_ERROR (self, STREAM, FAILED, ("The pixels of a frame cannot be read."), (nullptr));
    return GST_FLOW_ERROR;
  }
  try {
    detect (self, buffer,
        cv::Mat (self->info.height, self->info.width, CV_8UC3,
            GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
            size_t (GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0))),
        scale, step, threshold);
  } catch (const std::exception &fault) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED, ("OpenCV: %s", fault.what ()), (nullptr));
    ret = GST_FLOW_ERROR;
  }
  gst_video_frame_unmap (&frame);
  return ret;
}

static gboolean
hog_detect_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *)
{
  return gst_video_info_from_caps (&hog_detect (trans)->info, in);
}

static gboolean
hog_detect_start (GstBaseTransform *trans)
{
  HogDetect *self = hog_detect (trans);

  self->frames = 0;
  self->pts = GST_CLOCK_TIME_NONE;
  try {
    self->hog = new cv::HOGDescriptor;
    self->hog->setSVMDetector (cv::HOGDescriptor::getDefaultPeopleDetector ());
  } catch (const std::exception &fault) {
    GST_ELEMENT_ERROR (self, LIBRARY, INIT, ("OpenCV: %s", fault.what ()), (nullptr));
    return FALSE;
  }
  return TRUE;
}

static gboolean
hog_detect_stop (GstBaseTransform *trans)
{
  delete hog_detect (trans)->hog;
  hog_detect (trans)->hog = nullptr;
  return TRUE;
}

static void
hog_detect_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  HogDetect *self = hog_detect (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_SCALE:
      self->scale = g_value_get_double (value);
      break;
    case PROP_PYRAMID_STEP:
      self->pyramid_step = g_value_get_double (value);
      break;
    case PROP_SCORE_THRESHOLD:
      self->score_threshold = g_value_get_double (value);
      break;
    case PROP_INTERVAL:
      self->interval = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
hog_detect_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  HogDetect *self = hog_detect (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_SCALE:
      g_value_set_double (value, self->scale);
      break;
    case PROP_PYRAMID_STEP:
      g_value_set_double (value, self->pyramid_step);
      break;
    case PROP_SCORE_THRESHOLD:
      g_value_set_double (value, self->score_threshold);
      break;
    case PROP_INTERVAL:
      g_value_set_uint (value, self->interval);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
hog_detect_init (HogDetect *self)
{
  self->scale = DEFAULT_SCALE;
  self->pyramid_step = DEFAULT_PYRAMID_STEP;
  self->score_threshold = DEFAULT_SCORE_THRESHOLD;
  self->interval = DEFAULT_INTERVAL;
}

static void
hog_detect_class_init (HogDetectClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS (klass);
  GstElementClass *element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *transform = GST_BASE_TRANSFORM_CLASS (klass);
  const GParamFlags flags = GParamFlags (
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);

  object->set_property = hog_detect_set_property;
  object->get_property = hog_detect_get_property;
  g_object_class_install_property (object, PROP_SCALE,
      g_param_spec_double ("scale", "Scale",
          "Enlarges the picture by this factor for the detector, which finds people "
          "that are at least about 100 pixels tall; the time grows with its square",
          0.1, 10, DEFAULT_SCALE, flags));
  g_object_class_install_property (object, PROP_PYRAMID_STEP,
      g_param_spec_double ("pyramid-step", "Pyramid step",
          "Ratio of the sizes of people that are searched one after the other; 1.1 "
          "takes half the time of 1.05",
          1.01, 4, DEFAULT_PYRAMID_STEP, flags));
  g_object_class_install_property (object, PROP_SCORE_THRESHOLD,
      g_param_spec_double ("score-threshold", "Score threshold",
          "Reports windows with at least this confidence, 1 / (1 + exp (-d)) with d "
          "the distance from the SVM's boundary, where it is 0.5",
          0, 1, DEFAULT_SCORE_THRESHOLD, flags));
  g_object_class_install_property (object, PROP_INTERVAL,
      g_param_spec_uint ("interval", "Interval",
          "Detects in every N-th frame, beginning with the first one; the frames "
          "between get no boxes",
          1, 1000000, DEFAULT_INTERVAL, flags));
  gst_element_class_set_static_metadata (element, "HOG people detector", "Filter/Analyzer/Video",
      "Attaches a region with a confidence for each window that looks like a person", "gst-nms");
  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  transform->start = hog_detect_start;
  transform->stop = hog_detect_stop;
  transform->set_caps = hog_detect_set_caps;
  transform->transform_ip = hog_detect_transform_ip;
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  return gst_element_register (plugin, "hogdetect", GST_RANK_NONE, hog_detect_get_type ());
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, hogdetect,
    "OpenCV's people detector, an example of gst-nms", plugin_init, PACKAGE_VERSION, "LGPL",
    PACKAGE, "gst-nms")
