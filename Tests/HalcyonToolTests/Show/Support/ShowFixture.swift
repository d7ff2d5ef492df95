import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting

@testable import HalcyonTool

/// Pictures and parts that the tests of `halcyon show` use.
enum ShowFixture {
    /// A bitmap whose pixels are computed from their places: blue, green, red, alpha, premultiplied.
    static func bitmap(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) throws -> Bitmap {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += pixel(x, y) }
        }
        let isOpaque = stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }
        return try Bitmap(size: PixelSize(width, height), isOpaque: isOpaque, pixels: pixels)
    }

    /// An opaque bitmap with many colours.
    static func colorful(_ width: Int, _ height: Int) throws -> Bitmap {
        try bitmap(width, height) { x, y in
            [
                UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), UInt8((x * 7 + y * 13) % 256),
                255,
            ]
        }
    }

    static func uniform(_ width: Int, _ height: Int, _ color: [UInt8]) throws -> Bitmap {
        try bitmap(width, height) { _, _ in color }
    }

    static func image(_ bitmap: Bitmap, format: ImageFormat = .png) -> Image {
        Image(bitmap: bitmap, info: ImageInfo(format: format, size: bitmap.size, hasAlpha: !bitmap.isOpaque))
    }

    /// An animation whose frame `n` has the grey `n * 50`.
    static func animation(frames: Int, loops: Int, duration: Duration, size: PixelSize = PixelSize(4, 4)) throws
        -> Image
    {
        let bitmaps = try (0..<frames).map { (frame: Int) -> Bitmap in
            let grey = UInt8(frame * 50)
            return try uniform(size.width, size.height, [grey, grey, grey, 255])
        }
        let animation = try AnimatedImage(
            frames: bitmaps.map { (image($0), duration) }, loopCount: loops)
        let info = ImageInfo(format: .gif, size: size, frameCount: frames, loopCount: loops)
        return Image(bitmap: bitmaps[0], info: info, animation: animation)
    }

    /// A GIF file of such an animation, of 4x4 pixels and 30 ms for each frame.
    static func gif(frames: Int, loops: Int) throws -> Data {
        try CoderRegistry.shared.encode(animation(frames: frames, loops: loops, duration: .milliseconds(30)), as: .gif)
    }

    static func encoder(
        _ way: DrawingProtocol, isWrapped: Bool = false, surface: Backdrop.Surface? = nil, background: Color? = nil,
        dithers: Bool = false
    ) -> PictureEncoder {
        PictureEncoder(way: way, isWrapped: isWrapped, surface: surface, background: background, dithers: dithers)
    }

    /// The bytes of a picture at the cursor.
    static func bytes(_ picture: PictureEncoder.Picture) -> [UInt8] {
        switch picture {
        case .lines(let lines): Array(lines.joined(separator: [0x0A]))
        case .sequence(let sequence): sequence
        }
    }
}

/// An output that keeps all writes.
final class RecordedScreen: ScreenOutput {
    private let state = Lock<[[UInt8]]>([])

    var writes: [[UInt8]] { state.withLock { $0 } }
    var bytes: [UInt8] { Array(writes.joined()) }

    func write(_ bytes: [UInt8]) { state.withLock { $0.append(bytes) } }
}

/// A terminal that answers by a script; where the script says nothing, time passes.
final class ScriptedPort: TerminalPort {
    let clock = ManualClock()
    private let state: Lock<(sent: [UInt8], script: [Step], waits: Int)>

    enum Step: Sendable {
        /// Bytes that arrive after a duration.
        case bytes([UInt8], after: Duration)
        /// The terminal is gone.
        case end
    }

    init(_ script: [Step]) {
        state = Lock(([], script, 0))
    }

    /// A terminal whose answers arrive at once, as a whole.
    convenience init(_ answers: String) {
        self.init([.bytes(Array(answers.utf8), after: .zero)])
    }

    var sent: [UInt8] { state.withLock { $0.sent } }
    var waits: Int { state.withLock { $0.waits } }

    func send(_ bytes: [UInt8]) { state.withLock { $0.sent += bytes } }

    func receive(within duration: Duration) -> [UInt8]? {
        let step = state.withLock { state -> Step? in
            state.waits += 1
            return state.script.isEmpty ? nil : state.script.removeFirst()
        }
        switch step {
        case .bytes(let bytes, let delay):
            clock.advance(by: min(delay, duration))
            return delay <= duration ? bytes : []
        case .end: return nil
        case nil:
            clock.advance(by: duration)
            return []
        }
    }
}
