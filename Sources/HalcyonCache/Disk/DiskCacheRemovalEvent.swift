extension DiskCache {
    /// An event that reports files that a disk cache has removed itself, at most a few dozen at a time.
    public struct RemovalEvent: Sendable, Hashable {
        public enum Reason: Sendable, Hashable {
            /// The entries had expired.
            case expired
            /// The entries were evicted to make room.
            case trimmed
            /// `removeAll()` was called.
            case removedAll
            /// The files were incomplete or damaged.
            case damaged
        }

        public var reason: Reason
        /// The names of the removed files, without their folders.
        public var fileNames: [String]
        /// The total length of the files in bytes.
        public var bytes: Int
        /// The number of the event in its cache, from 1. A gap means that the reader was too slow for the events left out.
        public var number: Int
    }
}
