/// How much a `PartialBodyFiles` holds.
///
/// Free space is not looked at: a body that the disk has no room for stays in memory.
public struct PartialBodyLimits: Sendable, Hashable {
    /// Bodies that broke off and are kept. 64; the oldest goes first.
    public var keptBodies = 64
    /// Bytes of those. 256 MiB.
    public var keptBytes = 256 << 20
    /// How long they are kept. A day.
    public var lifetime = Duration.seconds(86_400)
    /// Bytes of bodies that are on their way or in use, in this process; what would be more stays in memory. 1 GiB.
    public var openBytes = 1 << 30

    public init() {}
}
