import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

extension PNGCoder: ProgressiveImageDecoder {
    /// Creates a decoding that shows a PNG row by row, an interlaced one pass by pass, and an APNG frame by frame.
    package func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
        ArrivingImage(
            self, options: options, budget: budget,
            // Every chunk that describes the pixels precedes them.
            isHeaderWhole: { $0.read { PNGChunks($0).contains { $0.isNamed("IDAT") || $0.isNamed("IEND") } } },
            isAnimation: { data, _ in data.read { PNGHeader.isAnimation($0) } },
            makeRows: { try PNGStream(plan: $0, deep: PNGCoder.deepTransform(for: $1, plan: $0)) })
    }
}

extension PNGCoder: IncompleteImageDecoder {
    /// Shows the default image of an APNG only if it is the first frame.
    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let isShown = data.read { reader in
            let chunks = PNGChunks(reader).lazy.filter { $0.isNamed("fcTL") || $0.isNamed("IDAT") }
            return !PNGHeader.isAnimation(reader) || chunks.first { _ in true }?.isNamed("fcTL") == true
        }
        guard isShown else { throw Self.noFrame }
        let stream = try PNGStream(plan: plan, deep: try Self.deepTransform(for: data, plan: plan))
        return try stream.part(of: data, .png, context: context)
    }

    package func lacksFrames(_ data: Data, info: ImageInfo) -> Bool { !data.read { PNGHeader.isWhole($0) } }
}

/// The owner of the C side of a progressive decode. Used by one thread at a time.
final class PNGStream: RowStream {
    private let plan: DecodePlan
    private let stream: OpaquePointer
    /// Retained because the stream points to its memory.
    private let deep: ColorTransform?

    /// - Throws: `BitmapError.outOfMemory`.
    init(plan: DecodePlan, deep: ColorTransform?) throws {
        self.plan = plan
        self.deep = deep
        let size = plan.nativeSize
        let stream = halcyon_png_stream_create(PNGCoder.layout(size, deep: deep))
        guard let stream else { throw BitmapError.outOfMemory(bytes: size.width * size.height * 4) }
        self.stream = stream
    }

    deinit { halcyon_png_stream_free(stream) }

    var rows: Int { Int(halcyon_png_stream_rows(stream)) }
    var ending: RowEnding { isWhole ? .rows : .cutOff }
    private var isWhole: Bool { halcyon_png_stream_is_whole(stream) }

    func append(_ data: Data, context: WorkContext) throws {
        try CodecCall.decode(.png, context: context) { call in
            data.withUnsafeBytes { bytes in
                halcyon_png_stream_append(
                    stream, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, call)
            }
        }
    }

    func bitmap(context: WorkContext) throws -> Bitmap {
        let isOpaque = isWhole && !plan.info.hasAlpha
        return try CodecCall.decode(.png, size: plan.nativeSize, isOpaque: isOpaque, context: context) {
            bitmap, _ in
            halcyon_png_stream_read(stream, bitmap)
            return HALCYON_CODEC_OK
        }
    }
}
