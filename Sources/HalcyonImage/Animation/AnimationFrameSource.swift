import HalcyonSystem

/// Where the frames of an `AnimatedImage` come from: decoded when they are asked for, or kept.
public protocol AnimationFrameSource: Sendable {
    /// The bytes that it keeps in memory between two frames.
    var cost: Int { get }

    /// A whole frame, upright and at the animation's size, whatever was asked for before.
    ///
    /// - Parameter index: 0 up to the number of frames; the animation has checked it.
    func frame(at index: Int, context: WorkContext) throws -> Bitmap
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

    func frame(at index: Int, context: WorkContext) throws -> Bitmap { bitmaps[index] }
}
