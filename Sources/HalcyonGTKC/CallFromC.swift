import CGTK
import CHalcyonGTKC
import Foundation
import Halcyon

/// The way from a function of the C interface into Swift: nothing that a C program passes may end in a trap.
enum CallFromC {
    /// Runs a body on the main actor, if this is its thread; otherwise logs a critical.
    ///
    /// - Parameters:
    ///   - function: the name of the C function.
    ///   - argument: the arguments of the C function, which the body takes in the place of captures.
    ///   - failure: the result on any other thread.
    static func run<each Argument, Result>(
        _ function: String, _ argument: repeat each Argument, otherwise failure: Result,
        _ body: @MainActor (repeat each Argument) -> Result
    ) -> Result {
        guard Thread.isMainThread || MainQueue.isCurrent else {
            complain(function, "called on the thread of the main loop")
            return failure
        }
        let arguments = Passed((repeat each argument))
        // Unsafe in name alone: the closure runs within this call, on this thread.
        nonisolated(unsafe) var result = failure
        MainActor.assumeIsolated { result = body(repeat each arguments.value) }
        return result
    }

    /// The arguments of a call.
    ///
    /// `@unchecked Sendable`: they reach a body that runs within the call, on the same thread.
    private struct Passed<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    /// Runs a body with the view of a widget; logs a critical if the widget is not one.
    static func run<each Argument, Result>(
        _ function: String, view widget: UnsafeMutablePointer<GtkWidget>?, _ argument: repeat each Argument,
        otherwise failure: Result, _ body: @MainActor (AttachedView, repeat each Argument) -> Result
    ) -> Result {
        // Unsafe in name alone: the body runs within this call, on this thread.
        nonisolated(unsafe) let failure = failure
        return run(function, widget, repeat each argument, otherwise: failure) {
            (widget: UnsafeMutablePointer<GtkWidget>?, argument: repeat each Argument) in
            guard let view = AttachedView.of(widget) else {
                complain(function, "halcyon_is_image_view (view)")
                return failure
            }
            return body(view, repeat each argument)
        }
    }

    /// Logs a critical, as GLib's own functions do for arguments that they do not accept.
    static func complain(_ function: String, _ expectation: String) {
        g_return_if_fail_warning("Halcyon", function, expectation)
    }

    /// Returns the text behind a pointer; nil for a null pointer and for anything but UTF-8.
    static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        pointer.flatMap { String(validatingCString: $0) }
    }

    /// Sets an error, unless the caller wants none.
    static func fail(
        _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?, _ code: HalcyonError, _ message: String
    ) {
        g_set_error_literal(error, halcyon_error_quark(), gint(code.rawValue), message)
    }
}
