extension ImagePrefetcher {
    /// Where a prefetcher brings images to.
    public enum Destination: Sendable, Hashable, CaseIterable {
        /// The source's bytes, to the disk cache. They are stored once their head has proved to be that of an image within
        /// the request's limits; no pixels are decoded, unless the request's policy keeps finished images on the disk.
        case disk
        /// The finished image, to memory, and whatever the request's policy wants on the disk.
        case memory
    }
}
