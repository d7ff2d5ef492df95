import CHalcyonPixels
import Foundation
import HalcyonImage
import HalcyonSystem

/// A progressive decoding that begins with the thumbnail in the file's header, and draws what has arrived over it.
///
/// Memory: the bytes before the pixels, until the thumbnail is found or known to be missing; the enlarged thumbnail, which is
/// reserved from the budget. Without room, or if the thumbnail is refused or damaged, the previews are those of the picture.
final class ThumbnailFirst: ProgressiveDecoding {
    private struct Thumbnail {
        let image: Image
        let memory: DecodeBudget.Hold
    }

    private enum Phase {
        /// The header has not arrived.
        case waiting(Data, HeaderPacing)
        /// The header is there, and the thumbnail was not looked for.
        case arrived(Data, ImageInfo)
        case found(Thumbnail, isShown: Bool)
        /// There is no thumbnail, or the picture covers it.
        case over
    }

    private struct State {
        var phase = Phase.waiting(Data(), HeaderPacing())
        /// Whether the last preview was the thumbnail alone.
        var showsThumbnailAlone = false
    }

    /// The maximum number of bytes that are searched: the segment of the EXIF data, those that precede it, and a profile; of HEIC
    /// and AVIF, pixels that precede the thumbnail.
    private static let maximumHeader = 1 << 20

    private let decoding: any ProgressiveDecoding
    private let decoder: any ImageDecoder
    private let coders: CoderRegistry
    private let options: DecodeOptions
    private let budget: DecodeBudget
    private let state = Lock(State())

    init(
        _ decoding: any ProgressiveDecoding, of decoder: any ImageDecoder, coders: CoderRegistry,
        options: DecodeOptions,
        budget: DecodeBudget
    ) {
        self.decoding = decoding
        self.decoder = decoder
        self.coders = coders
        self.options = options
        self.budget = budget
    }

    func append(_ data: Data, context: WorkContext) throws {
        // The picture's own memory comes first.
        try decoding.append(data, context: context)
        state.withLock { state in
            guard case .waiting(var header, var pacing) = state.phase else { return }
            state.phase = .over
            header.append(data)
            guard pacing.isDue(header.count), let info = try? decoder.probe(header), !isArriving(header) else {
                if header.count < Self.maximumHeader { state.phase = .waiting(header, pacing) }
                return
            }
            state.phase = .arrived(header, info)
        }
    }

    /// Whether the thumbnail may stand among the pixels, and is not there.
    private func isArriving(_ header: Data) -> Bool {
        (decoder as? any ThumbnailImageDecoder)?.awaitsThumbnail(in: header) ?? false
    }

    /// Decodes the thumbnail.
    ///
    /// - Throws: `CancellationError` only.
    private func thumbnail(of info: ImageInfo, in header: Data, context: WorkContext) throws -> Thumbnail? {
        guard
            let found = EmbeddedThumbnail(
                of: info, in: header, decoder: decoder, coders: coders, limits: options.limits),
            let plan = found.plan(by: options, of: decoder, upscales: true),
            // The result stays, and a preview draws another bitmap.
            let memory = budget.hold(plan.workingBytes.adding(2, times: plan.finalSize.bitmapBytes))
        else { return nil }
        do {
            let image = try coders.decodePixels(found.data, decoder: found.decoder, plan: plan, context: context)
            var preview = info
            preview.isPreview = true
            return Thumbnail(image: Image(bitmap: image.bitmap, info: preview), memory: memory)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return nil
        }
    }

    func preview(context: WorkContext) throws -> Image? {
        let image = try decoding.preview(context: context)
        return try state.withLock { state -> Image? in
            if case .arrived(let header, let info) = state.phase {
                state.phase = .over
                if image?.bitmap.isOpaque != true, let found = try thumbnail(of: info, in: header, context: context) {
                    state.phase = .found(found, isShown: false)
                }
            }
            guard case .found(let thumbnail, let isShown) = state.phase else {
                if image != nil { state.showsThumbnailAlone = false }
                return image
            }
            guard let image else {
                state.phase = .found(thumbnail, isShown: true)
                if !isShown { state.showsThumbnailAlone = true }
                return isShown ? nil : thumbnail.image
            }
            state.showsThumbnailAlone = false
            guard !image.bitmap.isOpaque, image.size == thumbnail.image.size else {
                state.phase = .over
                return image
            }
            state.phase = .found(thumbnail, isShown: true)
            return image.replacing(try Self.drawing(image.bitmap, over: thumbnail.image.bitmap))
        }
    }

    private static func drawing(_ rows: Bitmap, over thumbnail: Bitmap) throws -> Bitmap {
        try Bitmap(size: thumbnail.size, isOpaque: thumbnail.isOpaque) { bytes in
            thumbnail.withPixels { bytes.copyMemory(from: $0) }
            guard let target = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            rows.withPixels { source in
                guard let source = source.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                halcyon_draw(target, rows.size.width * 4, source, rows.size.width, rows.size.height, true)
            }
        }
    }

    var shownScans: Int? { state.withLock { $0.showsThumbnailAlone } ? nil : decoding.shownScans }

    func finish(context: WorkContext) throws -> Image {
        // The decode of the whole file may wait for this memory.
        state.withLock { $0.phase = .over }
        return try decoding.finish(context: context)
    }
}
