import HalcyonSystem

/// The source of an `AnimatedImage`'s frames, which decodes them on request or keeps them.
public protocol AnimationFrameSource: Sendable {
    /// The bytes that the source keeps in memory between two frames.
    var cost: Int { get }

    /// The maximum number of bytes in use while a frame is made, including those kept from the last one. `cost` by default.
    var workingBytes: Int { get }

    /// Returns the same frames for a reader of its own that requests them sequentially and has reserved `workingBytes` for
    /// as long as it reads. It shares no state with other readers, whose jumps would make it draw frames twice.
    ///
    /// By default it returns the source itself. A source that takes its frames from another animation must take them from a
    /// reader of that animation, because bytes that are reserved twice can lead to a circular wait.
    func makeReader() -> any AnimationFrameSource

    /// Returns a complete frame, upright and at the animation's size, independent of the frames requested before.
    ///
    /// - Parameter index: from 0 up to the number of frames; the animation has checked it.
    func frame(at index: Int, context: WorkContext) throws -> Bitmap
}

extension AnimationFrameSource {
    public var workingBytes: Int { cost }

    public func makeReader() -> any AnimationFrameSource { self }
}

/// A source of frames that are kept as bitmaps.
final class KeptFrames: AnimationFrameSource {
    let bitmaps: [Bitmap]

    init(bitmaps: [Bitmap]) {
        self.bitmaps = bitmaps
    }

    /// The bytes of the bitmaps. A bitmap that appears several times counts once.
    var cost: Int {
        var seen = Set<ObjectIdentifier>()
        return bitmaps.reduce(0) { seen.insert(ObjectIdentifier($1)).inserted ? $0 + $1.byteCount : $0 }
    }

    /// 0, since no frame is made.
    var workingBytes: Int { 0 }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap { bitmaps[index] }
}
