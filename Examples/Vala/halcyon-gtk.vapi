/* The functions of halcyon-gtk.h, which describes them. */
[CCode (cheader_filename = "halcyon-gtk.h", lower_case_cprefix = "halcyon_")]
namespace Halcyon {
    [CCode (cprefix = "HALCYON_CONTENT_FIT_", has_type_id = false)]
    public enum ContentFit {
        CONTAIN,
        COVER,
        FILL,
        SCALE_DOWN
    }

    [CCode (cprefix = "HALCYON_ERROR_")]
    public errordomain Error {
        IMAGE,
        PATH;
        public static GLib.Quark quark ();
    }

    public delegate void LoadCallback (Gtk.Widget view, int width, int height, string? error);

    public unowned string version ();
    public bool configure_cache (string? folder, uint64 memory_limit, uint64 disk_limit) throws Error;
    public void follow_application (GLib.Application application);

    [CCode (returns_floating_reference = true)]
    public Gtk.Widget? image_view_new (string? url = null);
    public bool image_view_adopt (Gtk.Widget widget);
    public bool is_image_view (Gtk.Widget? widget);
    public void image_view_set_url (Gtk.Widget view, string? url);
    public bool image_view_set_placeholder_file (Gtk.Widget view, string? path) throws Error;
    public bool image_view_set_error_file (Gtk.Widget view, string? path) throws Error;
    public void image_view_set_content_fit (Gtk.Widget view, ContentFit fit);
    public void image_view_set_load_callback (Gtk.Widget view, owned LoadCallback? callback);
    public void image_view_reload (Gtk.Widget view);
    public void image_view_cancel (Gtk.Widget view);
}
