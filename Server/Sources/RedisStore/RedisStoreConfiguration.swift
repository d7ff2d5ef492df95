import Foundation
import HalcyonSystem

extension RedisStore {
    /// The server of a `RedisStore`, and its limits.
    public struct Configuration: Sendable, CustomStringConvertible, CustomReflectable {
        /// The way to a server.
        public enum Address: Sendable, Hashable, CustomStringConvertible {
            /// A name or an address of IPv4 or IPv6, and the port.
            case host(String, port: Int)
            /// The path of a socket, of at most 107 bytes.
            case unixSocket(String)

            public var description: String {
                switch self {
                case .host(let name, let port): name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
                case .unixSocket(let path): path
                }
            }
        }

        /// The server's address. Default: port 6379 of this machine.
        ///
        /// Connections are not encrypted: the server is meant to be on the same machine, in the same private network, or
        /// behind a tunnel. Redis Cluster is not supported.
        public var address: Address
        /// The user of an access control list; nil, the default, is Redis' default user.
        public var username: String?
        /// The password; nil, the default, sends none. It is in no description and no error.
        public var password: String?
        /// The number of the database. Default: 0.
        public var database: Int
        /// The beginning of all keys and channels, which several programs on one server set apart. Default: "halcyon".
        public var prefix: String
        /// The maximum number of connections for look-ups and claims. Default: 4, at least 1. One more is for writes, and one
        /// for the claims of others. A second one is opened only when the first waits for an answer.
        public var connections: Int
        /// The time after which a look-up gives up. Default: 50 ms.
        public var lookupTimeout: Duration
        /// The time for a connection, with the resolution of the name and the password. Default: 100 ms.
        public var connectTimeout: Duration
        /// The time after which a store, a removal and new metadata give up. Default: 1 s.
        public var writeTimeout: Duration
        /// The maximum size of an entry in bytes, with its key and its metadata. Default: 8 MiB, at most 256 MiB. Larger ones are
        /// not stored.
        public var maximumEntryBytes: Int
        /// The maximum total size in bytes of the entries, removals and new metadata that are being sent. Default: 32 MiB. Beyond
        /// it, nothing is stored, and removals wait.
        public var maximumQueuedBytes: Int
        /// The time for which entries without an expiration are kept. Default: 30 days.
        public var lifetime: Duration
        /// The maximum number of removals that wait for a server which is gone. Default: 10,000, of about 100 bytes each. With
        /// one more, all entries are removed once it is back.
        public var maximumPendingRemovals: Int
        /// The time after which the claim of a process that has died ends. Default: 2 s. A living holder renews it.
        public var leaseDuration: Duration
        /// The time for which a claim is renewed at most. Default: 2 minutes.
        public var maximumClaim: Duration
        /// The time for which a call waits for the claim of another process. Default: 5 s.
        public var claimWait: Duration

        /// Creates a configuration; omitted arguments take the defaults that the properties state.
        public init(
            address: Address = .host("127.0.0.1", port: 6379),
            username: String? = nil,
            password: String? = nil,
            database: Int = 0,
            prefix: String = "halcyon",
            connections: Int = 4,
            lookupTimeout: Duration = .milliseconds(50),
            connectTimeout: Duration = .milliseconds(100),
            writeTimeout: Duration = .seconds(1),
            maximumEntryBytes: Int = 8 << 20,
            maximumQueuedBytes: Int = 32 << 20,
            lifetime: Duration = .seconds(30 * 86_400),
            maximumPendingRemovals: Int = 10_000,
            leaseDuration: Duration = .seconds(2),
            maximumClaim: Duration = .seconds(120),
            claimWait: Duration = .seconds(5)
        ) {
            (self.address, self.username, self.password) = (address, username, password)
            (self.database, self.prefix, self.connections) = (database, prefix, connections)
            (self.lookupTimeout, self.connectTimeout) = (lookupTimeout, connectTimeout)
            (self.writeTimeout, self.lifetime) = (writeTimeout, lifetime)
            (self.maximumEntryBytes, self.maximumQueuedBytes) = (maximumEntryBytes, maximumQueuedBytes)
            self.maximumPendingRemovals = maximumPendingRemovals
            (self.leaseDuration, self.maximumClaim, self.claimWait) = (leaseDuration, maximumClaim, claimWait)
        }

        public var description: String { "Redis at \(address), database \(database), prefix \(prefix)" }
        public var customMirror: Mirror { Mirror(self, children: ["address": address, "prefix": prefix]) }

        /// The maximum size of an entry, within the range that a command can have.
        var entryLimit: Int { min(max(maximumEntryBytes, 0), 256 << 20) }

        /// The time of a claim, which is at least long enough to be renewed.
        var lease: Duration { max(leaseDuration, .milliseconds(100)) }

        var lookupDeadline: ContinuousClock.Instant { .now + lookupTimeout.forCalls }
        var connectDeadline: ContinuousClock.Instant { .now + connectTimeout.forCalls }
        var writeDeadline: ContinuousClock.Instant { .now + writeTimeout.forCalls }
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded down, at least `minimum`, and at most ten years, which Redis accepts.
    func milliseconds(atLeast minimum: Int = 1) -> Int {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(3650 * 86_400)).components
        return max(minimum, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }

    /// The duration in the range of a time to wait: from zero to a day.
    var forCalls: Duration { min(max(self, .zero), .seconds(86_400)) }

    /// The duration in seconds.
    var seconds: TimeInterval {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
