#ifndef TEST_VIDEO_H
#define TEST_VIDEO_H

#include <stdbool.h>

/// Runs a pipeline of GStreamer until its end, such as one that writes a video. Returns false, with the reason in the text of at
/// least 256 bytes, if it fails or takes longer than a minute.
bool test_video_run(const char *pipeline, char *text);

#endif
