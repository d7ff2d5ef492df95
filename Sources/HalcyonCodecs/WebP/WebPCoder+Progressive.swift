#if WebP
    import CHalcyonCodecs
    import CWebP
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    extension WebPCoder: ProgressiveImageDecoder {
        /// A WebP shows itself row by row, an animated one frame by frame. One whose EXIF follows its pixels is shown
        /// whole, because nothing says before how it stands.
        public func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
            ArrivingImage(
                self, options: options, budget: budget,
                isHeaderWhole: { $0.read { (try? WebPHeader($0).hasReachedPixels) ?? false } },
                isAnimation: { data, _ in data.read { (try? WebPHeader($0).isAnimation) ?? false } },
                makeRows: { plan, data in
                    let header = try data.read { try WebPHeader($0) }
                    try options.limits.check(plan.info, fileBytes: header.declaredBytes)
                    return header.lacksExif ? nil : try WebPStream(plan: plan, declaredBytes: header.declaredBytes)
                })
        }
    }

    /// Owns libwebp's side of a progressive decode. One thread at a time.
    final class WebPStream: RowStream {
        private let plan: DecodePlan
        private let isScaled: Bool
        /// Cleared, so that what never comes is transparent.
        private let pixels: UnsafeMutableRawBufferPointer
        /// On the heap, as libwebp remembers its address.
        private let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
        private var decoder: OpaquePointer?
        private var status = VP8_STATUS_SUSPENDED
        private var byteCount = 0
        /// What the file says that it has, but for a last byte that only fills up.
        private let leastBytes: Int
        private(set) var rows = 0

        /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
        init(plan: DecodePlan, declaredBytes: Int) throws {
            self.plan = plan
            leastBytes = declaredBytes - 1
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

        /// Bytes may still follow the pixels.
        var isFinished: Bool { status == VP8_STATUS_OK && byteCount >= leastBytes }

        func append(_ data: Data, context: WorkContext) throws {
            // What is left out once would be missing from then on.
            if context.isCancelled, status == VP8_STATUS_SUSPENDED { status = VP8_STATUS_USER_ABORT }
            try context.checkCancellation()
            byteCount += data.count
            if status == VP8_STATUS_OK { return }
            guard let decoder, status == VP8_STATUS_SUSPENDED else { throw WebPOutput.damaged("it failed before") }
            status = data.withUnsafeBytes { bytes in
                WebPIAppend(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
            }
            try WebPOutput.check(status, bytes: pixels.count)
            var last: Int32 = 0
            if WebPIDecGetRGB(decoder, &last, nil, nil, nil) != nil { rows = Int(last) }
            // Into a larger buffer libwebp writes a smaller image without a word.
            let output = config.pointee.output
            guard
                rows == 0
                    || (Int(output.width) == plan.nativeSize.width && Int(output.height) == plan.nativeSize.height)
            else { throw WebPOutput.damaged("it has another size than its header says") }
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
#endif
