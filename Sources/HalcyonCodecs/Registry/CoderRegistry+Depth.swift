import CHalcyonCodecs
import CHalcyonPixels
import Foundation
import HalcyonImage
import HalcyonSystem

extension CoderRegistry {
    /// Decodes a still image once, to pixels of 8 bits and to those of 16 in the format of the plan.
    func decodeDeep(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, depth: DeepBitmap.Format, context: WorkContext
    ) throws -> Image {
        guard plan.isDeep, let decoder = decoder as? any DeepImageDecoder,
            let pixels = decoder.deepPixels(of: data, info: plan.info, for: depth)
        else {
            do {
                if plan.widensFirst {
                    return try reducedWide(data, decoder: decoder, plan: plan, depth: depth, context: context)
                }
            } catch CodecError.damaged where plan.allowsIncomplete {}
            return try widened(data, decoder: decoder, plan: plan, depth: depth, context: context)
        }
        do {
            let work = DeepDecode(decoder: decoder, plan: plan, format: depth, pixels: pixels)
            let (bitmap, deep) = try work.bitmaps(of: data, context: context)
            var image = Image(bitmap: bitmap, info: plan.info)
            image.deepBitmap = deep
            if !plan.convertsColor { image.colorProfile = decoder.embeddedProfile(of: data) }
            return image
        } catch CodecError.damaged(let format, let reason) {
            guard plan.allowsIncomplete, decoder is any IncompleteImageDecoder else {
                throw CodecError.damaged(format, reason: reason)
            }
            return try widened(data, decoder: decoder, plan: plan, depth: depth, context: context)
        }
    }

    /// Decodes pixels of 8 bits and widens them before they are averaged in linear light: those of 8 bits are converted to sRGB before
    /// that, which has no light above white.
    private func reducedWide(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, depth: DeepBitmap.Format, context: WorkContext
    ) throws -> Image {
        let color = try ColorTransforms.shared.transform(for: plan, of: data, decoder)
        let native = try decoder.decode(data, plan: plan, context: context)
        var deep = try DeepBitmap(
            widening: native, profile: decoder.colorProfile(of: data), format: depth, context: context)
        if let residual = plan.residual {
            deep = try deep.resampled(nil, residual, light: plan.light, context: context)
        }
        var image = Image(
            bitmap: try Self.finish(native, plan: plan, color: color, context: context), info: plan.info)
        image.deepBitmap = try deep.oriented(nil, plan.info.orientation, context: context)
        return image
    }

    /// Decodes pixels of 8 bits and widens them, from the colours of the file where those can be told.
    private func widened(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, depth: DeepBitmap.Format, context: WorkContext
    ) throws -> Image {
        let (bitmap, source, isPart) = try bitmaps(of: data, decoder: decoder, plan: plan, context: context)
        let asStored = plan.convertsColor ? nil : decoder.embeddedProfile(of: data)
        var profile = asStored.map { ColorProfile(embedded: $0) }
        if source !== bitmap { profile = decoder.colorProfile(of: data) }
        let deep = try DeepBitmap(widening: source, profile: profile, format: depth, context: context)
        var info = plan.info
        info.isPreview = isPart
        var image = Image(bitmap: bitmap, info: info)
        (image.deepBitmap, image.colorProfile) = (deep, asStored)
        return image
    }

    /// Returns the finished pixels of 8 bits, and those before the conversion of colours, which are the same if there is none or if
    /// it has to come before the reduction. The conversion is not there any more afterwards.
    private func bitmaps(
        of data: Data, decoder: any ImageDecoder, plan: DecodePlan, context: WorkContext
    ) throws -> (finished: Bitmap, source: Bitmap, isPart: Bool) {
        let color = try ColorTransforms.shared.transform(for: plan, of: data, decoder)
        // In linear light, colours are converted before they are averaged.
        let isEarly = plan.light == .linear && plan.residual != nil
        let (reduced, isPart) = try Self.reducedOrPart(
            data, decoder: decoder, plan: plan, color: isEarly ? color : nil, context: context)
        let source = try Self.turned(reduced, plan: plan, context: context)
        guard let color, !isEarly else { return (source, source, isPart) }
        return (try color.convert(source), source, isPart)
    }
}

/// A decode to pixels of 16 bits a channel, of which those of 8 are made as well.
private struct DeepDecode {
    let decoder: any DeepImageDecoder
    let plan: DecodePlan
    let format: DeepBitmap.Format
    let pixels: DeepPixels

    func bitmaps(of data: Data, context: WorkContext) throws -> (Bitmap, DeepBitmap) {
        var made: Bitmap?
        let isOpaque = !plan.info.hasAlpha
        var deep = try DeepBitmap(size: plan.nativeSize, format: format, isOpaque: isOpaque) { words in
            try decoder.decodeDeep(data, plan: plan, format: format, into: words, context: context)
            try context.checkCancellation()
            // Whatever the decoder found there: alpha that the header does not declare is none.
            if isOpaque {
                halcyon_deep_make_opaque(
                    words.baseAddress?.assumingMemoryBound(to: UInt16.self), pixels.channels.kernel, words.count / 8)
            }
            made = try narrowed(UnsafeRawBufferPointer(words), of: data, context: context)
            let conversion = try DeepConversion(from: pixels, to: format, isOpaque: isOpaque)
            try conversion.convert(words, context: context)
        }
        guard let made else { throw CodecError.damaged(plan.info.format, reason: "it has no pixels") }
        if let residual = plan.residual {
            deep = try deep.resampled(nil, residual, light: plan.light, context: context)
        }
        return (made, try deep.oriented(nil, plan.info.orientation, context: context))
    }

    /// Returns the finished pixels of 8 bits, whose colours are converted before they are rounded.
    private func narrowed(
        _ words: UnsafeRawBufferPointer, of data: Data, context: WorkContext
    ) throws -> Bitmap {
        // Without a profile that tells their colours, as of animations, pixels are sRGB in any case.
        let converts = plan.converts(pixels.profile) || decoder.embeddedProfile(of: data) == nil
        let transform =
            converts
            ? try ColorTransforms.shared.transform(for: pixels.profile, isDeep: true) : nil
        let native = try pixels.narrowed(
            words, size: plan.nativeSize, isOpaque: !plan.info.hasAlpha, by: transform, context: context)
        return try CoderRegistry.finish(native, plan: plan, color: nil, context: context)
    }
}
