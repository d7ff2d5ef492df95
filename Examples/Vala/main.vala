// Shows the image of a URL in a window: ./show-image https://example.org/photo.jpg
int main (string[] arguments) {
    if (arguments.length != 2) {
        stderr.printf ("usage: %s URL\nHalcyon %s\n", arguments[0], Halcyon.version ());
        return 64;
    }
    var url = arguments[1];
    var application = new Gtk.Application ("org.example.ShowImage", ApplicationFlags.NON_UNIQUE);
    Halcyon.follow_application (application);
    application.activate.connect (() => {
        var window = new Gtk.ApplicationWindow (application) { default_width = 640, default_height = 480 };
        var view = Halcyon.image_view_new (url);
        Halcyon.image_view_set_content_fit (view, SCALE_DOWN);
        Halcyon.image_view_set_load_callback (view, (view, width, height, error) => {
            window.title = error ?? "%d x %d".printf (width, height);
            print ("%s\n", window.title);
        });
        window.child = view;
        window.present ();
    });
    return application.run ({ arguments[0] });
}
