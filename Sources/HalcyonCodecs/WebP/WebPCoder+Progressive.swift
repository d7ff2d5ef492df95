import CHalcyonCodecs
import CWebP
import Foundation
import HalcyonImage
import HalcyonSystem

extension WebPCoder: ProgressiveImageDecoder {
    /// Creates a decoding that shows a WebP row by row, an animated one frame by frame. A file whose EXIF follows
    /// its pixels is only shown once it is complete, because its orientation is unknown before; so is a file with
    /// too few bytes for its pixels, which a decode of the whole file refuses by its actual length.
    package func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
        ArrivingImage(
            self, options: options, budget: budget,
            isHeaderWhole: { $0.read { (try? WebPHeader($0).hasReachedPixels) ?? false } },
            isAnimation: { data, _ in data.read { (try? WebPHeader($0).isAnimation) ?? false } },
            keptBytes: { $0.read { (try? WebPHeader($0).declaredBytes) ?? 0 } },
            makeRows: { plan, data in
                let header = try data.read { try WebPHeader($0) }
                let limits = options.limits
                guard !header.lacksExif, (try? limits.check(plan.info, fileBytes: header.declaredBytes)) != nil
                else { return nil }
                return try WebPStream(plan: plan)
            })
    }
}

extension WebPCoder: IncompleteImageDecoder {
    /// Shows a still image as it is stored if the EXIF that may rotate it is missing, and no part of an animation's
    /// first frame.
    package func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        guard try !data.read({ try WebPHeader($0).isAnimation }) else {
            throw WebPOutput.damaged("its first frame was cut off")
        }
        return try WebPStream(plan: plan).part(of: data, .webp, context: context)
    }

    package func lacksFrames(_ data: Data, info: ImageInfo) -> Bool {
        data.read { (try? WebPHeader($0).isCut) ?? true }
    }
}

/// The owner of libwebp's side of a progressive decode. Used by one thread at a time.
///
/// Its rows serve previews only; the final image is a decode of the whole file. For a damaged file, libwebp's
/// result depends on how the file was split into parts: pixels change with the number of bytes that its bit reader
/// begins with, and a part that ends in a large macroblock, or before bytes that lossless data runs into, is an
/// error with one split and not with another. Only a second decode distinguishes such files from others.
final class WebPStream: RowStream {
    private let plan: DecodePlan
    private let isScaled: Bool
    /// The pixels, cleared at first, so that those that never arrive are transparent.
    private let pixels: UnsafeMutableRawBufferPointer
    /// Allocated on the heap, because libwebp keeps its address.
    private let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
    private var decoder: OpaquePointer?
    private var status = VP8_STATUS_SUSPENDED
    private var isCancelled = false
    /// All bytes that arrived. libwebp reads them in place, at their current address, and keeps no copy.
    private var file = Data()
    private(set) var rows = 0

    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    init(plan: DecodePlan) throws {
        self.plan = plan
        let size = plan.nativeSize
        isScaled = size != plan.storedSize
        guard let memory = calloc(size.width * size.height, 4) else {
            throw BitmapError.outOfMemory(bytes: size.bitmapBytes)
        }
        pixels = UnsafeMutableRawBufferPointer(start: memory, count: size.bitmapBytes)
        config.initialize(to: WebPDecoderConfig())
        let output = WebPOutput(
            pixels: pixels, bytesPerRow: size.width * 4, size: size, isScaled: isScaled,
            hasAlpha: plan.info.hasAlpha)
        config.pointee = try output.makeConfig()
        decoder = WebPIDecode(nil, 0, config)
        guard decoder != nil else { throw BitmapError.outOfMemory(bytes: size.bitmapBytes) }
    }

    deinit {
        if let decoder { WebPIDelete(decoder) }
        config.deallocate()
        free(pixels.baseAddress)
    }

    var ending: RowEnding { isCancelled ? .cutOff : .file(file) }

    func append(_ data: Data, context: WorkContext) throws {
        // A part that is skipped once would be missing from then on.
        if context.isCancelled { isCancelled = true }
        try context.checkCancellation()
        guard let decoder, !isCancelled else { throw WebPOutput.damaged("an earlier call on this stream failed") }
        file.append(data)
        if status == VP8_STATUS_OK { return }
        status = file.withUnsafeBytes { bytes in
            WebPIUpdate(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        try WebPOutput.check(status, bytes: pixels.count)
        var last: Int32 = 0
        if WebPIDecGetRGB(decoder, &last, nil, nil, nil) != nil { rows = Int(last) }
        // libwebp writes a smaller image into a larger buffer without an error.
        let output = config.pointee.output
        guard
            rows == 0
                || (Int(output.width) == plan.nativeSize.width && Int(output.height) == plan.nativeSize.height)
        else { throw WebPOutput.damaged("the decoded size differs from the header") }
    }

    func bitmap(context: WorkContext) throws -> Bitmap {
        let (size, hasAlpha) = (plan.nativeSize, plan.info.hasAlpha)
        return try Bitmap(size: size, isOpaque: rows == size.height && !hasAlpha) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(pixels))
            let there = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            if !hasAlpha {
                halcyon_make_opaque(there, rows * size.width)
            } else if !isScaled {
                halcyon_premultiply(there, rows * size.width)
            }
        }
    }
}
