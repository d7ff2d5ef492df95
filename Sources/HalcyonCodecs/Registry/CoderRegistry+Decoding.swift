import Foundation
import HalcyonImage
import HalcyonSystem

extension CoderRegistry {
    /// Reads the header of a file; the first 64 KiB are enough for most files.
    ///
    /// - Parameter isolation: the place where it is read; this process by default.
    /// - Throws: `CodecError.notAnImage`, `.unsupportedFormat` or `.damaged`; the errors of isolation.
    public func probe(_ data: Data, isolation: DecodeIsolation = .inProcess) throws -> ImageInfo {
        let decoder = try requireDecoder(for: data)
        if !isolation.isInProcess, let file = try isolatedFile(data, decoder, isolation, context: .uncancellable) {
            return try file.info()
        }
        return try decoder.probe(data)
    }

    /// Decodes data to an upright image at the size that the options request, in sRGB by default.
    ///
    /// For an animation, the first frame is decoded, and the image's `animation` provides the others.
    ///
    /// The header is checked against the limits before memory is allocated. The memory of the decode is reserved from
    /// the `budget`; the calling thread waits for it while others hold too much. Cost: a decode at the smallest
    /// sufficient size that the format's decoder can scale to by itself, then one scaling.
    ///
    /// - Throws: `CodecError`, also `.limitExceeded` for a decode that needs more than the whole budget; `BitmapError`,
    ///   `CancellationError`.
    public func decode(
        _ data: Data, options: DecodeOptions = DecodeOptions(), context: WorkContext = .uncancellable
    ) throws -> Image {
        let decoder = try requireDecoder(for: data)
        if let file = try isolatedFile(data, decoder, options.isolation, context: context) {
            return try file.image(options, budget: budget, context: context)
        }
        let plan = try plan(data, decoder: decoder, options: options, context: context)
        return try budget.withReservation(of: plan.workingBytes, context: context) {
            try decode(data, decoder: decoder, plan: plan, context: context)
        }
    }

    /// Returns the plan by which `decode` would decode this data, to reserve its memory from a budget and to coalesce
    /// equal decodes.
    ///
    /// - Throws: the errors that `decode` throws before it reads pixels.
    public func plan(
        _ data: Data, options: DecodeOptions = DecodeOptions(), context: WorkContext = .uncancellable
    ) throws -> DecodePlan {
        try plan(data, decoder: try requireDecoder(for: data), options: options, context: context)
    }

    /// - Parameter isArriving: whether this is the beginning of a file, whose length limits nothing.
    func plan(_ data: Data, options: DecodeOptions, isArriving: Bool) throws -> DecodePlan {
        try plan(
            data, decoder: try requireDecoder(for: data), options: options, isArriving: isArriving,
            context: .uncancellable)
    }

    /// Returns the decoder for the data, opened for it.
    ///
    /// - Throws: `CodecError.notAnImage` or `.unsupportedFormat`.
    func requireDecoder(for data: Data) throws -> any ImageDecoder {
        if let decoder = decoder(for: data) { return decoder.opened(for: data) }
        switch FormatSniffer.sniff(data) {
        case .image(let format): throw CodecError.noDecoder(for: format)
        case .other(let what): throw CodecError.notAnImage(what)
        }
    }

    /// Calls a decode of the data for a pipeline, which tells the errors of coders from those of other stages.
    ///
    /// - Throws: `CodecError`, also `.failed` for errors of other types; `CancellationError`.
    package func reporting<Result>(_ data: Data, _ decode: () throws -> Result) throws -> Result {
        try CodecError.reporting(
            FormatSniffer.format(of: data) ?? decoder(for: data)?.formats.first ?? .bitmap, decode)
    }

    private func plan(
        _ data: Data, decoder: any ImageDecoder, options: DecodeOptions, isArriving: Bool = false, context: WorkContext
    ) throws -> DecodePlan {
        if let file = try isolatedFile(data, decoder, options.isolation, context: context) {
            return try file.plan(options, budget: budget, context: context)
        }
        let info = try decoder.probe(data, within: options.limits, fileBytes: isArriving ? nil : data.count)
        if options.usesEmbeddedThumbnail, let plan = thumbnailPlan(data, info, decoder: decoder, options: options) {
            return plan
        }
        let embedded = try decoder.embeddedImages(in: data)
        try options.limits.check(embedded)
        var plan = try DecodePlan(info, options, decoder, of: data)
        plan.measure(data, decoder: decoder, embedded: embedded, keepsDynamicRange: options.keepsDynamicRange)
        try plan.check(options.limits)
        if options.decodesGainMap, let map = gainMapPlan(data, decoder, plan, options.limits) { plan.add(map) }
        return plan
    }

    /// Returns the data for a worker; nil if this process decodes it.
    func isolatedFile(
        _ data: Data, _ coder: any ImageCoder, _ isolation: DecodeIsolation?, context: WorkContext
    ) throws -> IsolatedFile? {
        let isolation = isolation ?? .inProcess
        guard !isolation.isInProcess || DecodeIsolation.isRequired(by: coder) else { return nil }
        let format = FormatSniffer.format(of: data) ?? coder.formats.first ?? .bitmap
        return try isolation.workers(for: coder, format, context: context).map { IsolatedFile(data, format, for: $0) }
    }

    func decode(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, context: WorkContext
    ) throws -> Image {
        try context.checkCancellation()
        if let isolated = plan.isolated { return try isolated.image(by: plan, context: context) }
        guard !DecodeIsolation.isRequired(by: decoder) else {
            throw CodecError.isolationUnavailable(
                "\(plan.info.format) is decoded in workers only, and the plan is of none")
        }
        if let picture = plan.picture {
            return try thumbnail(of: data, picture, decoder: decoder, plan: plan, context: context)
        }
        return try decodePixels(data, decoder: decoder, plan: plan, context: context)
    }

    func decodePixels(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, context: WorkContext
    ) throws -> Image {
        defer { HeapTrim.after(plan.heapBytes) }
        var image =
            try plan.depth.map { try decodeDeep(data, decoder: decoder, plan: plan, depth: $0, context: context) }
            ?? decodeShallow(data, decoder: decoder, plan: plan, context: context)
        if let map = plan.gainMap, !image.info.isPreview {
            image.gainMap = try gainMap(of: data, decoder, plan: map, context: context)
        }
        return image
    }

    /// Decodes pixels of 8 bits, and the frames of an animation.
    private func decodeShallow(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, context: WorkContext
    ) throws -> Image {
        let color = try ColorTransforms.shared.transform(for: plan, of: data, decoder)
        let (reduced, isPart) = try Self.reducedOrPart(
            data, decoder: decoder, plan: plan, color: color, context: context)
        let bitmap = try Self.turned(reduced, plan: plan, context: context)
        let animation =
            isPart ? nil : try animation(data, decoder: decoder, plan: plan, color: color, context: context)
        var info = plan.info
        info.isPreview = isPart || Self.lacksFrames(data, decoder: decoder, plan: plan)
        var image = Image(bitmap: bitmap, info: info, animation: animation)
        if !plan.convertsColor { image.colorProfile = decoder.embeddedProfile(of: data) }
        return image
    }

    /// Decodes to the final size in stored orientation, or to what there is if the plan allows that.
    static func reducedOrPart(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, color: ColorTransform?, context: WorkContext
    ) throws -> (bitmap: Bitmap, isPart: Bool) {
        do {
            return (try reduced(data, decoder: decoder, plan: plan, color: color, context: context), false)
        } catch let error as CodecError {
            guard case .damaged = error, plan.allowsIncomplete, let decoder = decoder as? any IncompleteImageDecoder
            else { throw error }
            do {
                let native = try decoder.decodeIncomplete(data, plan: plan, context: context)
                return (try reduced(native, plan: plan, color: color, context: context), true)
            } catch is CodecError {
                throw error
            }
        }
    }

    private static func lacksFrames(_ data: Data, decoder: any ImageDecoder, plan: DecodePlan) -> Bool {
        guard plan.allowsIncomplete, plan.info.isAnimated, plan.frames != .first else { return false }
        return (decoder as? any IncompleteImageDecoder)?.lacksFrames(data, info: plan.info) ?? false
    }

    /// Decodes to the final size in stored orientation, row by row if the decoder can, so that no larger bitmap is
    /// needed.
    private static func reduced(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, color: ColorTransform?, context: WorkContext
    ) throws -> Bitmap {
        if plan.isStreamed, let residual = plan.residual, let decoder = decoder as? any RowImageDecoder {
            return try scaled(isOpaque: !plan.info.hasAlpha, to: residual, plan: plan, color: color, context: context) {
                try decoder.decodeRows(of: data, plan: plan, into: $0, context: context)
            }
        }
        let native = try decoder.decode(data, plan: plan, context: context)
        guard native.size == plan.nativeSize else {
            throw CodecError.damaged(
                plan.info.format, reason: "it decoded to \(native.size) instead of \(plan.nativeSize)")
        }
        return try reduced(native, plan: plan, color: color, context: context)
    }

    private static func reduced(
        _ native: consuming Bitmap, plan: DecodePlan, color: ColorTransform?, context: WorkContext
    ) throws -> Bitmap {
        var bitmap = native
        if let residual = plan.residual {
            try context.checkCancellation()
            if plan.light == .linear, color != nil {
                return try scaled(
                    isOpaque: bitmap.isOpaque, to: residual, plan: plan, color: color, context: context
                ) { try bitmap.passRows(to: $0, context: context) }
            }
            bitmap = try bitmap.resampled(residual, filter: plan.filter, light: plan.light, context: context)
        }
        return try converted(bitmap, color, context: context)
    }

    /// Scales rows and converts them to sRGB: before the scaling in linear light, since it takes their values as those of sRGB;
    /// otherwise after it, because there are fewer pixels then.
    private static func scaled(
        isOpaque: Bool, to geometry: ResizeGeometry, plan: DecodePlan, color: ColorTransform?, context: WorkContext,
        rows: (RowSink) throws -> Void
    ) throws -> Bitmap {
        guard plan.light == .linear, let color else {
            let bitmap = try Bitmap.reducing(
                plan.nativeSize, to: geometry, isOpaque: isOpaque, filter: plan.filter, light: plan.light, rows: rows)
            return try converted(bitmap, color, context: context)
        }
        return try Bitmap.reducing(plan.nativeSize, to: geometry, isOpaque: isOpaque, light: plan.light) { sink in
            try rows(color.converting(into: sink, isOpaque: isOpaque))
        }
    }

    private static func converted(
        _ bitmap: Bitmap, _ color: ColorTransform?, context: WorkContext
    ) throws -> Bitmap {
        guard let color else { return bitmap }
        try context.checkCancellation()
        return try color.convert(bitmap)
    }

    /// Decodes a still image row by row without a bitmap of it, and passes the rows on.
    ///
    /// - Parameter room: returns memory in which the next row may be made, of so many bytes; nil if there is none.
    /// - Returns: false, and nothing was passed, if the decoder does not deliver rows, or if the whole image is needed to scale,
    ///   convert or turn it.
    func passRows(
        of data: Data, plan: DecodePlan, context: WorkContext, to receive: @escaping (UnsafeRawBufferPointer) -> Void,
        room: @escaping (Int) -> UnsafeMutableRawPointer?
    ) throws -> Bool {
        guard plan.picture == nil, plan.residual == nil, plan.gainMap == nil, plan.depth == nil,
            plan.info.orientation == .up,
            !plan.allowsIncomplete,
            !plan.info.isAnimated, let decoder = try requireDecoder(for: data) as? any RowImageDecoder,
            decoder.deliversRows(of: data, info: plan.info),
            try ColorTransforms.shared.transform(for: plan, of: data, decoder) == nil
        else { return false }
        try context.checkCancellation()
        defer { HeapTrim.after(plan.heapBytes) }
        let sink = RowSink(passing: plan.nativeSize, to: receive, room: room)
        try decoder.decodeRows(of: data, plan: plan, into: sink, context: context)
        guard sink.isFull else { throw CodecError.damaged(plan.info.format, reason: "it has fewer rows than it says") }
        return true
    }

    private func animation(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, color: ColorTransform?, context: WorkContext
    ) throws -> AnimatedImage? {
        guard plan.info.isAnimated, plan.frames != .first, let decoder = decoder as? any AnimatedImageDecoder else {
            return nil
        }
        let reader = try decoder.frames(of: data, info: plan.info)
        // A file whose other frames are truncated is a still image.
        guard reader.frames.count > 1 else { return nil }
        let animation = try AnimatedImage(
            source: DecodedFrames(reader, plan: plan, color: color, dataCost: data.count, budget: budget),
            size: plan.finalSize, durations: reader.frames.map(\.duration), loopCount: plan.info.loopCount ?? 1)
        // The plan has reserved the memory for all frames.
        guard plan.frames == .all else { return animation }
        return try animation.makeReader().preloaded(maximumBytes: .max, context: context)
    }

    /// Finishes native pixels: scales them to the final size and converts them to sRGB, then turns them upright.
    static func finish(
        _ native: Bitmap, plan: DecodePlan, color: ColorTransform?, context: WorkContext
    ) throws -> Bitmap {
        try turned(try reduced(native, plan: plan, color: color, context: context), plan: plan, context: context)
    }

    /// Applies the orientation, which happens here and nowhere else, and last, because there are fewer pixels then.
    static func turned(_ bitmap: Bitmap, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        guard plan.info.orientation != .up else { return bitmap }
        try context.checkCancellation()
        return try bitmap.oriented(plan.info.orientation)
    }
}

extension CoderRegistry {
    /// Decodes data by an earlier `plan` of the same data.
    ///
    /// Reserves no memory: the caller reserves `plan.workingBytes` from the `budget`.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public func decode(_ data: Data, plan: DecodePlan, context: WorkContext = .uncancellable) throws -> Image {
        try decode(data, decoder: try requireDecoder(for: data), plan: plan, context: context)
    }
}
