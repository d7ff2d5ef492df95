/// An object that shows the images of an `ImageTarget`: a view, a cell, a map's marker.
@MainActor
public protocol ImageSurface: AnyObject {
    /// Shows the content from now on, at once, and ends any transition.
    func show(_ content: ImageTarget.Content)

    /// Shows an image by a transition.
    ///
    /// - Parameter completion: called once, when the transition has ended or was interrupted.
    func show(_ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void)

    /// Called when a load begins, progresses or ends, for example to update an activity indicator.
    func stateChanged(_ state: ImageTarget.State)
}

extension ImageSurface {
    /// Shows the image at once, for a surface that cannot animate.
    public func show(
        _ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void
    ) {
        show(.image(response))
        completion()
    }

    /// Does nothing.
    public func stateChanged(_ state: ImageTarget.State) {}
}

/// A surface with a size of its own, for which images are loaded. It calls `ImageTarget.roomChanged()` after each
/// change.
@MainActor
package protocol SizedImageSurface: ImageSurface {
    /// The room for an image; nil before it is known, and if there is none.
    var room: ViewRoom? { get }
}

/// A surface that shows its content by a closure.
final class ClosureSurface: ImageSurface {
    private let body: @MainActor (ImageTarget.Content) -> Void

    init(_ body: @escaping @MainActor (ImageTarget.Content) -> Void) {
        self.body = body
    }

    func show(_ content: ImageTarget.Content) { body(content) }
}
