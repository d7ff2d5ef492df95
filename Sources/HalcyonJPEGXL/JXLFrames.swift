import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension JXLCoder: AnimatedImageDecoder {
    package func frames(of data: Data, info: ImageInfo) throws -> any FrameReader { try JXLFrames(file(of: data)) }
}

/// The frames of an animation, each of which libjxl composes on the canvas.
///
/// Its decoder is kept from one frame to the next. A jump has libjxl skip the frames between, of which it decodes those that others
/// may refer to; they are bounded, as those of other formats are.
final class JXLFrames: FrameReader {
    private struct State {
        var stream: JXLFrameStream?
        /// The number of the frame that the decoder comes to next.
        var next = 0
        var detours: FrameDetours
    }

    let frames: [AnimationFrame]
    private let codestream: Data
    private let pixels: JXLPixels
    /// For each shown frame, the number of frames up to it that libjxl decodes even if it skips them.
    private let needed: [Int]
    private let state: Lock<State>

    /// - Throws: `CodecError.damaged`.
    init(_ file: JXLFile) throws {
        let rect = PixelRect(x: 0, y: 0, width: file.header.size.width, height: file.header.size.height)
        frames = file.shownFrames.map {
            AnimationFrame(rect: rect, duration: file.duration(of: $0), blend: .replace)
        }
        guard !frames.isEmpty else { throw JXLFile.cutOff }
        (codestream, pixels) = (file.codestream, JXLPixels(file.header))
        var (needed, count) = ([Int](), 0)
        for frame in file.frames {
            if frame.header.slot != nil { count += 1 }
            if frame.header.isShown { needed.append(count) }
        }
        self.needed = needed
        state = Lock(State(detours: FrameDetours(of: file.header.size, maximumTotalPixels: 1 << 32)))
    }

    func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
        try state.withLock { state in
            do {
                if index < state.next { (state.stream, state.next) = (nil, 0) }
                let between = index > state.next ? needed[index - 1] - (state.next > 0 ? needed[state.next - 1] : 0) : 0
                try state.detours.take(between)
                let stream =
                    try state.stream
                    ?? JXLFrameStream(codestream, dividesByAlpha: pixels.dividesByAlpha, context: context)
                state.stream = stream
                stream.decoder.context = context
                stream.decoder.skip(index - state.next)
                state.next = index + 1
                return try pixels.bitmap(of: stream.decoder, converts: true)
            } catch {
                // The decoder cannot go on after an error.
                (state.stream, state.next) = (nil, 0)
                throw error
            }
        }
    }
}

/// A decoder with the bytes that it reads. One thread at a time may use it.
final class JXLFrameStream {
    let decoder: JXLDecoder
    private let bytes: UnsafeMutableRawBufferPointer

    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`, `CancellationError`.
    init(_ codestream: Data, dividesByAlpha: Bool, context: WorkContext) throws {
        guard let copy = malloc(max(1, codestream.count)) else {
            throw BitmapError.outOfMemory(bytes: codestream.count)
        }
        let bytes = UnsafeMutableRawBufferPointer(start: copy, count: codestream.count)
        codestream.withUnsafeBytes { bytes.copyMemory(from: $0) }
        self.bytes = bytes
        do {
            decoder = try JXLDecoder(
                UnsafeRawBufferPointer(bytes), isWhole: false, wanted: JXL_DEC_FULL_IMAGE.rawValue,
                dividesByAlpha: dividesByAlpha, context: context)
        } catch {
            free(copy)
            throw error
        }
    }

    deinit { free(bytes.baseAddress) }
}
