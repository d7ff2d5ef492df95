extension DiskCache {
    /// Files that a disk cache has removed by itself, at most some dozens at a time.
    public struct RemovalEvent: Sendable, Hashable {
        public enum Reason: Sendable, Hashable {
            /// They were past their time.
            case expired
            /// There was no room for them.
            case trimmed
            /// `removeAll()` was called.
            case removedAll
            /// They were not whole.
            case damaged
        }

        public var reason: Reason
        /// The names of the files that went, without their folders.
        public var fileNames: [String]
        /// Their lengths together.
        public var bytes: Int
        /// Counts the events of a cache, from 1. Where it leaves some out, the reader was too slow for them.
        public var number: Int
    }
}
