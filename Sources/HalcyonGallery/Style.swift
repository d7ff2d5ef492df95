import CGTK

/// The gallery's additions to the theme.
@MainActor enum Style {
    static func install() {
        guard let provider = gtk_css_provider_new() else { return }
        gtk_css_provider_load_from_data(provider, css, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(provider)
    }

    private static let css = """
        .pictures { padding: 12px; background: transparent; }
        .pictures > child { padding: 6px; border-radius: 12px; }
        .tile .picture { border-radius: 10px; background: alpha(currentColor, 0.08); }
        .tile-title { font-size: 0.9em; }
        .tile-format { font-size: 0.7em; font-weight: bold; opacity: 0.55; }
        .stage { background: alpha(currentColor, 0.05); }
        .figures { font-size: 1.1em; }
        """
}
