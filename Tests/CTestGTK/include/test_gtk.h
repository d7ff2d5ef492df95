#ifndef TEST_GTK_H
#define TEST_GTK_H

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the number of functions of halcyon-gtk.h that a C file is linked with.
int test_gtk_functions_in_c(void);

/// Returns the number of functions of halcyon-gtk.h that a C++ file is linked with.
int test_gtk_functions_in_cpp(void);

#ifdef __cplusplus
}
#endif

#endif
