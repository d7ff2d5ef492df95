import Halcyon

extension ImageListPrefetcher {
    /// How far ahead images are loaded, and how.
    public struct Configuration: Sendable, Hashable {
        /// How many times as many items as are seen; 1 by default.
        public var screens: Double
        /// The most items ahead, 100 by default.
        public var maximumItems: Int
        /// Items whose images are loaded at the same time, at least 1; 5 by default.
        public var concurrency: Int
        /// `.low` by default, behind what is seen.
        public var priority: RequestPriority

        public init(
            screens: Double = 1, maximumItems: Int = 100, concurrency: Int = 5, priority: RequestPriority = .low
        ) {
            self.screens = screens
            self.maximumItems = maximumItems
            self.concurrency = max(1, concurrency)
            self.priority = priority
        }
    }
}
