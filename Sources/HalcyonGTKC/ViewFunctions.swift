import CGTK
import CHalcyonGTKC
import Foundation
import Halcyon
import HalcyonGTK

// The functions of halcyon-gtk.h that are about views. The compiler compares each with its declaration there.

/// Creates a view.
@c @implementation public func halcyon_image_view_new(
    _ url: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<GtkWidget>? {
    CallFromC.run("halcyon_image_view_new", url, otherwise: nil) { url in
        guard gtk_is_initialized() != 0 else {
            CallFromC.complain("halcyon_image_view_new", "gtk_is_initialized ()")
            return nil
        }
        let (view, widget) = AttachedView.make()
        if url != nil { view.show(source(url)) }
        return widget
    }
}

/// Makes a view of a widget of the program.
@c @implementation public func halcyon_image_view_adopt(_ widget: UnsafeMutablePointer<GtkWidget>?) -> gboolean {
    CallFromC.run("halcyon_image_view_adopt", widget, otherwise: 0) { widget in
        guard let widget else {
            CallFromC.complain("halcyon_image_view_adopt", "GTK_IS_WIDGET (widget)")
            return 0
        }
        return AttachedView.adopt(widget) == nil ? 0 : 1
    }
}

/// Returns whether a widget is a view.
@c @implementation public func halcyon_is_image_view(_ widget: UnsafeMutablePointer<GtkWidget>?) -> gboolean {
    CallFromC.run("halcyon_is_image_view", widget, otherwise: 0) { AttachedView.of($0) == nil ? 0 : 1 }
}

/// Loads the image of a URL.
@c @implementation public func halcyon_image_view_set_url(
    _ widget: UnsafeMutablePointer<GtkWidget>?, _ url: UnsafePointer<CChar>?
) {
    CallFromC.run("halcyon_image_view_set_url", view: widget, url, otherwise: ()) { view, url in
        view.show(url == nil ? nil : source(url))
    }
}

/// Sets the image that is shown until that of the URL is there.
@c @implementation public func halcyon_image_view_set_placeholder_file(
    _ widget: UnsafeMutablePointer<GtkWidget>?, _ path: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
) -> gboolean {
    CallFromC.run("halcyon_image_view_set_placeholder_file", view: widget, path, error, otherwise: 0) {
        view, path, error in
        setImage(path, error) { view.setPlaceholder($0) }
    }
}

/// Sets the image that is shown if a load fails.
@c @implementation public func halcyon_image_view_set_error_file(
    _ widget: UnsafeMutablePointer<GtkWidget>?, _ path: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
) -> gboolean {
    CallFromC.run("halcyon_image_view_set_error_file", view: widget, path, error, otherwise: 0) { view, path, error in
        setImage(path, error) { view.setFailure($0) }
    }
}

/// Sets the way in which the image fills the view.
@c @implementation public func halcyon_image_view_set_content_fit(
    _ widget: UnsafeMutablePointer<GtkWidget>?, _ fit: HalcyonContentFit
) {
    CallFromC.run("halcyon_image_view_set_content_fit", view: widget, fit, otherwise: ()) { view, fit in
        switch fit {
        case HALCYON_CONTENT_FIT_CONTAIN: view.setContentFit(.contain)
        case HALCYON_CONTENT_FIT_COVER: view.setContentFit(.cover)
        case HALCYON_CONTENT_FIT_FILL: view.setContentFit(.fill)
        case HALCYON_CONTENT_FIT_SCALE_DOWN: view.setContentFit(.scaleDown)
        default: CallFromC.complain("halcyon_image_view_set_content_fit", "fit is a HalcyonContentFit")
        }
    }
}

/// Sets the function that is called at the end of each load.
@c @implementation public func halcyon_image_view_set_load_callback(
    _ widget: UnsafeMutablePointer<GtkWidget>?, _ callback: HalcyonLoadCallback?, _ data: UnsafeMutableRawPointer?,
    _ destroy: GDestroyNotify?
) {
    let isSet = CallFromC.run(
        "halcyon_image_view_set_load_callback", view: widget, callback, data, destroy, otherwise: false
    ) { view, callback, data, destroy in
        view.setCallback(callback.map { LoadCallback($0, data, destroy) })
        return callback != nil
    }
    // The data belongs to nothing, on whichever thread this is.
    if !isSet { destroy?(data) }
}

/// Loads the image again.
@c @implementation public func halcyon_image_view_reload(_ widget: UnsafeMutablePointer<GtkWidget>?) {
    CallFromC.run("halcyon_image_view_reload", view: widget, otherwise: ()) { $0.reload() }
}

/// Cancels the load.
@c @implementation public func halcyon_image_view_cancel(_ widget: UnsafeMutablePointer<GtkWidget>?) {
    CallFromC.run("halcyon_image_view_cancel", view: widget, otherwise: ()) { $0.cancel() }
}

/// Returns the source that a URL names; one that names no image if it is not UTF-8.
private func source(_ url: UnsafePointer<CChar>?) -> ImageSource {
    CallFromC.text(url).map { ImageSource(string: $0) }
        ?? .malformed("", reason: "the URL is not UTF-8")
}

/// Decodes an image file, at no more than the pixels of a large screen, and passes it on; nil for a null path.
///
/// - Returns: false for a file that is not an image, with the error set.
@MainActor private func setImage(
    _ path: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
    _ set: (Image?) -> Void
) -> gboolean {
    guard path != nil else {
        set(nil)
        return 1
    }
    guard let name = CallFromC.text(path), !name.isEmpty else {
        CallFromC.fail(error, HALCYON_ERROR_PATH, "the path of the image is empty or not UTF-8")
        return 0
    }
    var options = DecodeOptions()
    options.target = TargetSize(PixelSize(4096, 4096), mode: .fit)
    do {
        set(try Image(contentsOf: URL(filePath: name), options: options))
        return 1
    } catch let failure {
        CallFromC.fail(error, HALCYON_ERROR_IMAGE, "\(name): \(failure)")
        return 0
    }
}
