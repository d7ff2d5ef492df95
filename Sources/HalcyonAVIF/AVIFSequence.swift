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
                let frames = try (0..<max(1, file.frameCount)).map { index in
                    AnimationFrame(rect: rect, duration: try file.duration(of: index), blend: .replace)
                }
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

    /// The duration of a frame.
    ///
    /// - Throws: `CodecError.damaged`.
    func duration(of index: Int) throws -> Duration {
        guard frameCount > 1 else { return .zero }
        var timing = avifImageTiming()
        try Self.check(avifDecoderNthImageTiming(decoder, UInt32(index), &timing))
        guard timing.timescale > 0 else { return .zero }
        // A day is more than any frame is shown for.
        let (seconds, rest) = timing.durationInTimescales.quotientAndRemainder(dividingBy: timing.timescale)
        guard seconds < 86_400 else { return .seconds(86_400) }
        let nanoseconds = timing.timescale.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000_000)).quotient
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(nanoseconds))
    }
}

/// The number of times that a sequence plays, by its edit list, as libavif 1.0 and browsers read it.
enum AVIFLoops {
    /// Returns 0 for ever, which is also for a sequence without an edit list.
    static func count(_ file: ByteReader) -> Int {
        guard let movie = child("moov", of: ISOBox.ofFile(file)),
            let track = child("trak", of: ISOBox.all(in: movie.body)),
            let edits = child("edts", of: ISOBox.all(in: track.body)),
            let list = child("elst", of: ISOBox.all(in: edits.body))?.body,
            let header = child("tkhd", of: ISOBox.all(in: track.body))?.body,
            let version = list.byte(0), let flags = list.byte(3)
        else { return 0 }
        guard flags & 1 == 1 else { return 1 }
        guard list.bigEndian32(4) == 1 else { return 0 }
        let segment = version == 1 ? long(list, 8) : list.bigEndian32(8)
        let isLong = header.byte(0) == 1
        let whole = isLong ? long(header, 28) : header.bigEndian32(20)
        guard let segment, let whole, segment > 0, whole < (isLong ? Int.max : Int(UInt32.max)) else { return 0 }
        return min(whole / segment + (whole % segment > 0 ? 1 : 0), 65_535)
    }

    private static func child(_ name: StaticString, of boxes: some Sequence<ISOBox>) -> ISOBox? {
        boxes.first { $0.isNamed(name) }
    }

    private static func long(_ reader: ByteReader, _ offset: Int) -> Int? {
        guard let high = reader.bigEndian32(offset), let low = reader.bigEndian32(offset + 4) else { return nil }
        return high > Int(Int32.max) ? .max : high << 32 | low
    }
}
