extension ImagePrefetcher {
    /// The destination of a prefetcher's images.
    public enum Destination: Sendable, Hashable, CaseIterable {
        /// The disk cache, for the source's bytes. They are stored once their header has proved to be that of an image within
        /// the request's limits; no pixels are decoded, unless the request's policy stores finished images on the disk.
        case disk
        /// Memory, for the finished image, and the disk for whatever the request's policy stores there.
        case memory
    }
}
