import CGTK
import Halcyon

/// An asynchronous GIO call, awaited to its end.
class GIOCall {
    /// Starts a call with the given cancellable, callback and user data.
    typealias Begin =
        @Sendable (
            _ cancellable: UnsafeMutablePointer<GCancellable>?, _ callback: @escaping GAsyncReadyCallback,
            _ data: gpointer
        ) -> Void
    typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

    /// Runs one call on GIO's thread. Cancelling the task cancels the call.
    ///
    /// - Parameters:
    ///   - end: the call's `_finish` function; returns nil after it has set the error.
    /// - Throws: `GIOImageError.Reason`; `CancellationError`.
    static func run<Value: Sendable>(
        _ begin: @escaping Begin, end: @escaping @Sendable (_ result: OpaquePointer?, _ error: Failure) -> Value?
    ) async throws -> Value {
        let cancellable = GObjectReference(taking: UnsafeMutableRawPointer(g_cancellable_new()))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                GIOThread.shared.perform {
                    let call = Ending(end: end, continuation: continuation)
                    begin(cancellable.typed(), callback, Unmanaged<GIOCall>.passRetained(call).toOpaque())
                }
            }
        } onCancel: {
            g_cancellable_cancel(cancellable.typed())
        }
    }

    private static let callback: GAsyncReadyCallback = { _, result, data in
        guard let data else { return }
        Unmanaged<GIOCall>.fromOpaque(data).takeRetainedValue().finish(result)
    }

    fileprivate func finish(_ result: OpaquePointer?) {}

    /// The state that the callback of a call needs: a subclass of its own, since a C callback cannot be generic.
    private final class Ending<Value: Sendable>: GIOCall {
        private let end: @Sendable (_ result: OpaquePointer?, _ error: Failure) -> Value?
        private let continuation: CheckedContinuation<Value, any Error>

        init(
            end: @escaping @Sendable (_ result: OpaquePointer?, _ error: Failure) -> Value?,
            continuation: CheckedContinuation<Value, any Error>
        ) {
            self.end = end
            self.continuation = continuation
        }

        override func finish(_ result: OpaquePointer?) {
            var error: UnsafeMutablePointer<GError>?
            let value = end(result, &error)
            defer { g_clear_error(&error) }
            if let value { return continuation.resume(returning: value) }
            continuation.resume(throwing: GIOImageError.thrown(for: error))
        }
    }
}
