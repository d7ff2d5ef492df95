#ifndef TEST_GDK_PIXBUF_H
#define TEST_GDK_PIXBUF_H

/// Returns the first number of the version of gdk-pixbuf's header.
int test_gdk_pixbuf_version(void);

#endif
