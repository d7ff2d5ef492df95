// Each function of the header with the type that programs in C and Vala rely on: another type does not compile.
typedef struct {
    const char *(*version)(void);
    GQuark (*error_quark)(void);
    gboolean (*configure_cache)(const char *, guint64, guint64, GError **);
    void (*follow_application)(GApplication *);
    GtkWidget *(*view_new)(const char *);
    gboolean (*adopt)(GtkWidget *);
    gboolean (*is_view)(GtkWidget *);
    void (*set_url)(GtkWidget *, const char *);
    gboolean (*set_placeholder_file)(GtkWidget *, const char *, GError **);
    gboolean (*set_error_file)(GtkWidget *, const char *, GError **);
    void (*set_content_fit)(GtkWidget *, HalcyonContentFit);
    void (*set_load_callback)(GtkWidget *, HalcyonLoadCallback, gpointer, GDestroyNotify);
    void (*reload)(GtkWidget *);
    void (*cancel)(GtkWidget *);
} Functions;

static const Functions functions = {
    halcyon_version,
    halcyon_error_quark,
    halcyon_configure_cache,
    halcyon_follow_application,
    halcyon_image_view_new,
    halcyon_image_view_adopt,
    halcyon_is_image_view,
    halcyon_image_view_set_url,
    halcyon_image_view_set_placeholder_file,
    halcyon_image_view_set_error_file,
    halcyon_image_view_set_content_fit,
    halcyon_image_view_set_load_callback,
    halcyon_image_view_reload,
    halcyon_image_view_cancel,
};

static int count_functions(void) {
    // Volatile, so that the linker has to find each of them.
    const Functions *volatile linked = &functions;
    return linked->version ? (int)(sizeof functions / sizeof functions.version) : 0;
}
