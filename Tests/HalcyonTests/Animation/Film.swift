import Foundation
import Halcyon
import HalcyonImage
import HalcyonSystem

/// An animation of frames of one pixel each, which identifies the frame. It notes the requested frames, and fails at those that
/// a test names.
final class Film: AnimationFrameSource {
    struct Torn: Error {}

    private let state = Lock<(asked: [Int], torn: Set<Int>)>((asked: [], torn: []))
    let cost = 0

    init(torn: Set<Int> = []) {
        state.withLock { $0.torn = torn }
    }

    /// The requested frames, in order.
    var asked: [Int] { state.withLock { $0.asked } }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        try state.withLock { state in
            state.asked.append(index)
            if state.torn.contains(index) { throw Torn() }
        }
        return try Self.bitmap(index)
    }

    static func bitmap(_ index: Int) throws -> Bitmap {
        try Bitmap(size: PixelSize(1, 1), isOpaque: true) { bytes in
            bytes.storeBytes(of: 0xff00_0000 | UInt32(index), as: UInt32.self)
        }
    }

    /// Returns the index of the frame that an image shows.
    static func index(of image: Image?) -> Int? {
        image?.bitmap.withPixels { Int($0.load(as: UInt32.self) & 0xff_ffff) }
    }

    /// Frames of one unit, 100 ms, or of so many.
    func image(
        frames: Int, units: [Int]? = nil, unit: Duration = .milliseconds(100), loops: Int = 0
    ) throws -> Image {
        let durations = (0..<frames).map { unit * (units?[$0] ?? 1) }
        let animation = try AnimatedImage(
            source: self, size: PixelSize(1, 1), durations: durations, loopCount: loops)
        return Image(
            bitmap: try Self.bitmap(0), info: ImageInfo(format: .gif, size: PixelSize(1, 1), hasAlpha: false),
            animation: animation)
    }
}

/// Work that waits until a test does it.
final class HeldWork: Sendable {
    private let waiting = Lock<[@Sendable () -> Void]>([])

    /// A pool whose frames are decoded by `doAll` or `doOne`; 4 bytes are a frame of a `Film`.
    func pool(
        frames: Int = 1000, budget: DecodeBudget = .shared, memoryPressure: (any MemoryPressureSource)? = nil,
        time: TimeSource = .system
    ) -> FramePool {
        FramePool(limit: frames * 4, budget: budget, memoryPressure: memoryPressure, time: time) { work in
            self.waiting.withLock { $0.append(work) }
        }
    }

    /// False where none waited.
    @discardableResult func doOne() -> Bool {
        let work = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        work?()
        return work != nil
    }

    func doAll() {
        while doOne() {}
    }
}
