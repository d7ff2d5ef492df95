import NIOConcurrencyHelpers

/// Commands that are sent one behind the other, and the answers to them.
///
/// The caller waits until they are answered, or late, or its task is cancelled, whichever is first. The fate of the commands,
/// which the server may execute after that, is a matter of its own.
final class Exchange: Sendable {
    typealias Outcome = Result<[RedisReply], RedisStoreError>

    let commands: [RedisCommand]
    /// The time at which the caller gives up.
    let deadline: ContinuousClock.Instant
    private let fate: (@Sendable (Outcome) -> Void)?
    private let waiting = NIOLockedValueBox(Waiting.notYet)

    private enum Waiting {
        case notYet
        case caller(CheckedContinuation<[RedisReply], any Error>)
        case over
    }

    /// Creates an exchange.
    ///
    /// - Parameter fate: called once, when all answers are there or cannot come any more, or nothing is sent at all.
    init(
        _ commands: [RedisCommand], by deadline: ContinuousClock.Instant, fate: (@Sendable (Outcome) -> Void)? = nil
    ) {
        (self.commands, self.deadline, self.fate) = (commands, deadline, fate)
    }

    /// The names of the commands, for errors.
    var name: String { commands.first?.name ?? "" }

    /// Whether nobody waits for the answers and nothing depends on them.
    var isAbandoned: Bool {
        guard fate == nil else { return false }
        return waiting.withLockedValue { if case .over = $0 { true } else { false } }
    }

    /// Begins the exchange and waits for the answers.
    ///
    /// - Throws: `RedisStoreError`, or `CancellationError` at once when the task is cancelled.
    func replies(start: @escaping @Sendable () -> Void) async throws -> [RedisReply] {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let begins = waiting.withLockedValue { waiting in
                    guard case .notYet = waiting else { return false }
                    waiting = .caller(continuation)
                    return true
                }
                guard begins else {
                    fate?(.failure(.busy))
                    return continuation.resume(throwing: CancellationError())
                }
                start()
            }
        } onCancel: {
            caller()?.resume(throwing: CancellationError())
        }
    }

    /// Lets the caller go without the answers.
    ///
    /// - Parameter failed: called before that, if the caller was still waiting.
    func giveUp(_ error: RedisStoreError, failed: (RedisStoreError) -> Void) {
        guard let caller = caller() else { return }
        failed(error)
        caller.resume(throwing: error)
    }

    /// Ends the exchange. Called once.
    func end(_ outcome: Outcome) {
        fate?(outcome)
        caller()?.resume(with: outcome.mapError { $0 as any Error })
    }

    private func caller() -> CheckedContinuation<[RedisReply], any Error>? {
        waiting.withLockedValue { waiting in
            defer { waiting = .over }
            return if case .caller(let continuation) = waiting { continuation } else { nil }
        }
    }
}
