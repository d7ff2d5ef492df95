/// A level of the caches, and the form in which it has an image.
public enum CacheLevel: String, Sendable, Hashable, CaseIterable {
    /// The finished image in memory.
    case memory
    /// The finished image on disk.
    case diskProcessed
    /// The source's bytes on disk.
    case diskOriginal
    /// The image on disk, encoded for a web response.
    case diskEncoded
}

/// A set of the levels that a policy reads and writes, and that a program stores to or removes from.
public struct CacheLevels: OptionSet, Hashable, Sendable {
    /// The bits of the set; the bits that no level has are reserved.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The finished image, in memory.
    public static let memory = CacheLevels(rawValue: 1)
    /// The source's bytes, on disk.
    public static let diskOriginal = CacheLevels(rawValue: 2)
    /// The finished image, on disk, as the request's `CacheSerializer` encodes it; lossless by default.
    public static let diskProcessed = CacheLevels(rawValue: 4)
    /// The image before any processor, in memory, as the input of other processors. A resize is then not merged into the
    /// decode: the image is decoded at full size and costs the memory of all its pixels.
    public static let memoryOriginal = CacheLevels(rawValue: 8)
    /// Both disk levels.
    public static let disk: CacheLevels = [.diskOriginal, .diskProcessed]
    static let all: CacheLevels = [.memory, .memoryOriginal, .disk]
}
