/// A cache level, and the form in which it has an image.
public enum CachePlace: String, Sendable, Hashable, CaseIterable {
    /// The finished image in memory.
    case memory
    /// The finished image on disk.
    case diskProcessed
    /// The source's bytes on disk.
    case diskOriginal
    /// The image on disk, encoded for a web response.
    case diskEncoded
}
