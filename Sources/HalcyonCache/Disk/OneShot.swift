import HalcyonSystem

/// A continuation that several tasks may try to resume; only the first attempt takes effect.
final class OneShot<Value: Sendable>: Sendable {
    private let continuation: Lock<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = Lock(continuation)
    }

    func resume(returning value: Value) {
        let continuation = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(returning: value)
    }
}
