/// A place where an `ImageTarget` shows its images: a view, a cell, a map's marker.
@MainActor
public protocol ImageSurface: AnyObject {
    /// Shows this from now on, at once, and ends any transition.
    func show(_ content: ImageTarget.Content)

    /// Shows an image by a transition.
    ///
    /// - Parameter completion: called once, when the transition has ended or was cut short.
    func show(_ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void)

    /// A load began, went on, or ended: what an indicator follows.
    func stateChanged(_ state: ImageTarget.State)
}

extension ImageSurface {
    /// At once: a surface that cannot animate.
    public func show(
        _ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void
    ) {
        show(.image(response))
        completion()
    }

    /// Nothing.
    public func stateChanged(_ state: ImageTarget.State) {}
}

/// A surface with a size of its own, for which images are loaded. It calls `ImageTarget.roomChanged()` after each change.
@MainActor
package protocol SizedImageSurface: ImageSurface {
    /// Nil before it is known, and where there is none.
    var room: ViewRoom? { get }
}

/// A surface of a closure.
final class ClosureSurface: ImageSurface {
    private let body: @MainActor (ImageTarget.Content) -> Void

    init(_ body: @escaping @MainActor (ImageTarget.Content) -> Void) {
        self.body = body
    }

    func show(_ content: ImageTarget.Content) { body(content) }
}
