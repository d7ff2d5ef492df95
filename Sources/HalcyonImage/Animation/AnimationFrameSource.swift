import HalcyonSystem

/// Where the frames of an `AnimatedImage` come from: decoded when they are asked for, or kept.
public protocol AnimationFrameSource: Sendable {
    /// The bytes that it keeps in memory between two frames.
    var cost: Int { get }

    /// The most bytes that are in use while a frame is made, what is kept from the last one included. `cost` by default.
    var workingBytes: Int { get }

    /// The same frames for a reader of its own, which asks for them in turn and has reserved `workingBytes` for as long
    /// as it reads. It shares no state with other readers, whose jumps would make it draw frames twice. The source
    /// itself by default; one that takes its frames from another animation takes them from that one's reader, as bytes that
    /// are reserved twice may be waited for in a circle.
    func makeReader() -> any AnimationFrameSource

    /// A whole frame, upright and at the animation's size, whatever was asked for before.
    ///
    /// - Parameter index: 0 up to the number of frames; the animation has checked it.
    func frame(at index: Int, context: WorkContext) throws -> Bitmap
}

extension AnimationFrameSource {
    public var workingBytes: Int { cost }

    public func makeReader() -> any AnimationFrameSource { self }
}

/// Frames that are kept as bitmaps.
final class KeptFrames: AnimationFrameSource {
    let bitmaps: [Bitmap]

    init(bitmaps: [Bitmap]) {
        self.bitmaps = bitmaps
    }

    /// Bitmaps that stand in several places count once.
    var cost: Int {
        var seen = Set<ObjectIdentifier>()
        return bitmaps.reduce(0) { seen.insert(ObjectIdentifier($1)).inserted ? $0 + $1.byteCount : $0 }
    }

    /// None are made.
    var workingBytes: Int { 0 }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap { bitmaps[index] }
}
