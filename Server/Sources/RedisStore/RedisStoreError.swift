import Foundation

/// An error that prevents an entry from being cached in Redis. None of them is a reason to fail a load.
///
/// No case holds a password, a key or a value.
public enum RedisStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No connection to the server, or it has ended: the address, and the reason.
    case unreachable(String, reason: String)
    /// The server did not answer the command in time.
    case timedOut(command: String)
    /// The server answered the command with an error, of which this is the first word, such as "OOM" or "READONLY".
    case refused(command: String, code: String)
    /// The server's answer to the command is not one of Redis.
    case malformed(command: String)
    /// The entry has this many bytes, which is more than `RedisStore.Configuration.maximumEntryBytes`, or a part of it has more
    /// than 4 GiB.
    case tooLarge(bytes: Int)
    /// As much as `RedisStore.Configuration.maximumQueuedBytes` allows waits to be sent already, or there is no memory.
    case busy
    /// The server has failed several times, and is left alone for now.
    case suspended
    /// An entry of one user is for no store that others read.
    case privateEntry
    /// The store has been shut down.
    case shutDown

    public var description: String {
        switch self {
        case .unreachable(let address, let reason): "Redis at \(address) cannot be reached: \(reason)"
        case .timedOut(let command): "Redis did not answer \(command) in time"
        case .refused(let command, let code): "Redis refused \(command): \(code)"
        case .malformed(let command): "the answer to \(command) is not one of Redis"
        case .tooLarge(let bytes): "an entry of \(bytes) bytes is too large for Redis"
        case .busy: "too much waits to be sent to Redis"
        case .suspended: "Redis has failed several times and is not asked for now"
        case .privateEntry: "entries of one user are not stored in Redis"
        case .shutDown: "the store has been shut down"
        }
    }
}

extension RedisStoreError: LocalizedError {
    public var errorDescription: String? { description }
}

extension RedisStoreError {
    /// Whether a server that answers with this error fails all calls. Otherwise it refuses writes, as one without memory or a
    /// replica does, or holds a foreign value under this key, and still answers look-ups.
    static func isFailure(code: String) -> Bool {
        !["WRONGTYPE", "OOM", "READONLY", "MISCONF", "NOREPLICAS", "EXECABORT"].contains(code)
    }
}
