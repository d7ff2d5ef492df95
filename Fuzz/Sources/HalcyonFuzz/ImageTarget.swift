import Foundation
import Halcyon

/// The decoder of one format, alone, so that every input is parsed as that format, and the encoders after it.
struct ImageTarget: FuzzTarget {
    private let coders: CoderRegistry
    /// The encoders for the decoded image: cheap formats, and all frames.
    private let writers = CoderRegistry.standard()
    /// Small limits, so that an input that declares a large image costs nothing.
    private let limits = DecodeLimits(maximumPixels: 1 << 20, maximumFrames: 64, maximumTotalPixels: 1 << 23)

    /// Returns nil for a format without a coder in this build.
    init?(_ format: ImageFormat) {
        guard let coder = CoderRegistry.standard().coders.first(where: { $0.formats.contains(format) }) else {
            return nil
        }
        coders = CoderRegistry([coder], budget: DecodeBudget(capacity: 256 << 20))
    }

    func run(_ data: Data) {
        _ = try? coders.probe(data)
        decodeAll(data)
        for size in [PixelSize(9, 5), PixelSize(64, 64)] {
            let options = DecodeOptions(
                target: TargetSize(size, mode: .fill), limits: limits, usesEmbeddedThumbnail: size.width < 10)
            guard let image = try? coders.decode(data, options: options) else { continue }
            precondition(image.width <= size.width && image.height <= size.height)
            if let frame = try? image.animation?.frame(at: 1) { precondition(frame.size == image.size) }
        }
        cutOut(data)
        decodeDeep(data)
        rewrite(data)
        for pieces in [2, 7] { feed(data, pieces: pieces) }
    }

    /// Decodes the whole input with all frames, whose sizes must be the declared one, then encodes it and probes the
    /// file.
    private func decodeAll(_ data: Data) {
        guard let image = try? coders.decode(data, options: DecodeOptions(limits: limits)) else { return }
        precondition(image.size == image.info.size)
        for index in 0..<(image.animation?.frameCount ?? 0) {
            guard let frame = try? image.animation?.frame(at: index) else { break }
            precondition(frame.size == image.size)
        }
        let format: ImageFormat = image.animation == nil && image.bitmap.isOpaque ? .jpeg : .png
        guard let file = try? writers.encode(image, as: format) else { return }
        guard let info = try? writers.probe(file) else { fatalError("what was written cannot be read") }
        precondition(info.size == image.size)
    }

    /// Decodes a region with its gain map and its colours as stored, encodes it with its profile and its orientation,
    /// and decodes the file.
    private func cutOut(_ data: Data) {
        let options = DecodeOptions(
            region: PixelRect(x: 1, y: 1, width: 7, height: 6), color: .asStored, firstFrameOnly: true, limits: limits,
            decodesGainMap: true)
        guard let part = try? coders.decode(data, options: options) else { return }
        precondition(part.width <= 7 && part.height <= 6)
        if let map = part.gainMap { precondition(map.size.width <= part.width && map.size.height <= part.height) }
        let format = part.info.format
        guard coders.canEncode(format),
            let file = try? coders.encode(
                part, as: format, options: EncodeOptions(keepsOrientation: true, keepsColorProfile: true))
        else { return }
        guard let again = try? coders.decode(file, options: DecodeOptions(decodesGainMap: true)) else {
            fatalError("what was written cannot be read")
        }
        precondition(again.size == part.size && again.gainMap?.size == part.gainMap?.size)
    }

    /// Decodes to 16 bits a channel in another colour space, as stored and small, encodes that and decodes the file.
    private func decodeDeep(_ data: Data) {
        for target in [nil, TargetSize(PixelSize(5, 9), light: .linear)] {
            let options = DecodeOptions(
                target: target, firstFrameOnly: true, limits: limits,
                depth: DeepBitmap.Format(.float16, colorSpace: .bt2020PQ))
            guard let image = try? coders.decode(data, options: options) else { return }
            precondition(image.deepBitmap?.size == image.size)
            guard let file = try? writers.encode(image, as: .png, options: EncodeOptions(bitsPerChannel: 16)) else {
                continue
            }
            guard let again = try? writers.decode(file, options: options) else {
                fatalError("what was written cannot be read")
            }
            precondition(again.deepBitmap != nil)
        }
    }

    /// Rewrites the input without loss, and once more the file that was made.
    private func rewrite(_ data: Data) {
        for (source, target) in [(ImageFormat.jpeg, ImageFormat.jpegXL), (.jpegXL, .jpeg)]
        where coders.decodableFormats.contains(source) {
            guard let file = try? writers.transcode(data, to: target, limits: limits) else { continue }
            guard source == .jpeg else { continue }
            precondition((try? writers.transcode(file, to: source, limits: limits)) == data)
        }
    }

    /// Feeds the input in pieces, as it would arrive; the final image must equal that of a decode. A PNG that arrives
    /// is read by libpng, most whole ones without.
    private func feed(_ data: Data, pieces: Int) {
        let options = DecodeOptions(limits: limits)
        guard let decoding = coders.makeProgressive(for: data, options: options, showsThumbnail: pieces > 2) else {
            return
        }
        do {
            let length = max(1, (data.count + pieces - 1) / pieces)
            for start in stride(from: 0, to: data.count, by: length) {
                try decoding.append(data.dropFirst(start).prefix(length))
                _ = try decoding.preview(context: .uncancellable)
            }
            let image = try decoding.finish(context: .uncancellable)
            let whole = try coders.decode(data, options: options)
            precondition(image.size == whole.size)
            precondition(image.withPixels { new in whole.withPixels { old in new.elementsEqual(old) } })
        } catch {}
    }
}
