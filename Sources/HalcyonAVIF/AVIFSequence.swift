import CAVIF
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension AVIFCoder: AnimatedImageDecoder {
    package func frames(of data: Data, info: ImageInfo) throws -> any FrameReader { try AVIFSequence(data, info: info) }
}

/// The frames of an AVIF sequence, each of which covers the canvas.
///
/// libavif's decoder is kept from one frame to the next, with a copy of the file. A jump decodes from the nearest key frame before
/// the frame on, and frames that are decoded only for that are bounded, as those of other formats are.
final class AVIFSequence: FrameReader {
    private struct State {
        var stream: AVIFStream?
        /// The frame that the decoder has; -1 for none.
        var position = -1
        var detours: FrameDetours
    }

    let frames: [AnimationFrame]
    private let data: Data
    private let size: PixelSize
    private let samples: AVIFFile.Samples
    private let crop: PixelRect?
    private let hasAlpha: Bool
    /// The profile by which frames of more than 8 bits are converted before they are rounded.
    private let deepProfile: ColorProfile?
    private let state: Lock<State>

    /// - Throws: `CodecError`, `BitmapError`.
    init(_ data: Data, info: ImageInfo) throws {
        (self.data, hasAlpha) = (data, info.hasAlpha)
        (size, samples, crop, deepProfile, frames) = try data.withUnsafeBytes { bytes in
            try AVIFFile.read(bytes) { file in
                let rect = PixelRect(x: 0, y: 0, width: info.storedSize.width, height: info.storedSize.height)
                let frames = try file.durations.map { AnimationFrame(rect: rect, duration: $0, blend: .replace) }
                return (file.codedSize, file.samples, file.crop, file.isDeep ? file.colorProfile : nil, frames)
            }
        }
        state = Lock(State(detours: FrameDetours(of: info.storedSize, maximumTotalPixels: 1 << 32)))
    }

    func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
        try state.withLock { state in
            do {
                let stream = try state.stream ?? AVIFStream(data, size: size)
                state.stream = stream
                try advance(stream, to: index, &state, context)
                return try bitmap(of: stream.image)
            } catch {
                // The decoder cannot go on after an error.
                (state.stream, state.position) = (nil, -1)
                throw error
            }
        }
    }

    private func advance(_ stream: AVIFStream, to index: Int, _ state: inout State, _ context: WorkContext) throws {
        guard index != state.position else { return }
        let key = Int(avifDecoderNearestKeyframe(stream.decoder, UInt32(index)))
        var next = state.position + 1
        if next > index || next < key { next = min(key, index) }
        try state.detours.take(index - next)
        while next <= index {
            try context.checkCancellation()
            // In order it decodes one picture, and at a key frame it begins anew.
            try AVIFFile.check(avifDecoderNthImage(stream.decoder, UInt32(next)))
            state.position = next
            next += 1
        }
    }

    private func bitmap(of image: UnsafeMutablePointer<avifImage>) throws -> Bitmap {
        guard PixelSize(Int(image.pointee.width), Int(image.pointee.height)) == size else {
            throw CodecError.damaged(.avif, reason: "a frame has another size than the first one")
        }
        guard AVIFFile.Samples(image.pointee) == samples else {
            throw CodecError.damaged(.avif, reason: "the samples of a frame are of another kind than the header says")
        }
        let pixels = AVIFPixels(image: image, size: size, hasAlpha: hasAlpha)
        let bitmap = image.pointee.depth > 8 ? try pixels.deepBitmap(converting: deepProfile) : try pixels.bitmap()
        return try crop.map { try bitmap.cropped(to: $0) } ?? bitmap
    }
}

/// A decoder of libavif with the bytes that it reads. One thread at a time may use it.
final class AVIFStream {
    let decoder: UnsafeMutablePointer<avifDecoder>
    private let bytes: UnsafeMutableRawBufferPointer

    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    init(_ data: Data, size: PixelSize) throws {
        let count = data.read { ISOImageHeader($0).byteCount }
        guard let decoder = avifDecoderCreate() else { throw BitmapError.outOfMemory(bytes: 0) }
        guard let copy = malloc(max(1, count)) else {
            avifDecoderDestroy(decoder)
            throw BitmapError.outOfMemory(bytes: count)
        }
        (self.decoder, bytes) = (decoder, UnsafeMutableRawBufferPointer(start: copy, count: count))
        data.prefix(count).withUnsafeBytes { bytes.copyMemory(from: $0) }
        AVIFMovie.shortenTimes(in: bytes)
        AVIFFile.configure(&decoder.pointee, size: size)
        try AVIFFile.check(avifDecoderSetIOMemory(decoder, copy.assumingMemoryBound(to: UInt8.self), count))
        try AVIFFile.check(avifDecoderParse(decoder))
        guard decoder.pointee.image != nil else { throw CodecError.damaged(.avif, reason: "it has no image") }
    }

    deinit {
        avifDecoderDestroy(decoder)
        bytes.deallocate()
    }

    var image: UnsafeMutablePointer<avifImage> { decoder.pointee.image }
}

extension AVIFFile {
    /// The number of frames; 1 for a still image.
    var frameCount: Int { Int(decoder.pointee.imageCount) }

    /// The duration of each frame.
    ///
    /// - Throws: `CodecError.damaged`.
    var durations: [Duration] {
        get throws {
            guard frameCount > 1 else { return [.zero] }
            return try AVIFMovie(ByteReader(bytes))
                .durations(of: frameCount, ticksPerSecond: decoder.pointee.timescale)
        }
    }
}
