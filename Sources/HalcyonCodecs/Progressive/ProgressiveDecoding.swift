import Foundation
import HalcyonImage
import HalcyonSystem

/// The decoding of one image while its data arrives. Every byte is read once, whatever the number of previews.
///
/// Safe from any thread; concurrent calls wait for each other. After an error, every further call fails.
public protocol ProgressiveDecoding: AnyObject, Sendable {
    /// Appends the next part of the file.
    ///
    /// Cost: reading this part, without decoding its pixels if the format allows that.
    ///
    /// - Throws: `CodecError`, also for a header beyond the limits, `BitmapError`, and `CancellationError`; the
    ///   decoding cannot continue after any of them.
    func append(_ data: Data, context: WorkContext) throws

    /// Returns the image as far as it has arrived, at the final size and upright, or nil if it shows nothing more than
    /// the last preview.
    ///
    /// The missing rows of an image that arrives row by row are transparent.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`; the decoding cannot continue after any of them.
    func preview(context: WorkContext) throws -> Image?

    /// The number of scans that the last preview showed, of which each one refines the whole image; nil, the default, for
    /// an image without scans.
    var shownScans: Int? { get }

    /// Returns the complete image, identical to a decode of the whole file without a gain map.
    ///
    /// Cost: that of a preview; for an animation, a WebP and an image without previews, a decode of the whole file.
    ///
    /// - Throws: `CodecError.damaged` if the end of the file has not arrived, and the errors of `preview`.
    func finish(context: WorkContext) throws -> Image
}

extension ProgressiveDecoding {
    public var shownScans: Int? { nil }

    /// Appends the next part of the file without a way to cancel.
    public func append(_ data: Data) throws {
        try append(data, context: .uncancellable)
    }
}

/// A decoder that can show an image before all of its data has arrived.
public protocol ProgressiveImageDecoder: ImageDecoder {
    /// Creates a decoding to which the data is appended as it arrives.
    ///
    /// The decodings of the built-in decoders hold the pixels of a still image for as long as they live.
    ///
    /// - Parameter budget: the budget from which the decoding reserves its memory until it is deallocated; if not
    ///   enough is free, it shows no previews.
    func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding
}

/// A decoder that shows a picture only once all of its data has arrived, but may find its thumbnail before.
package protocol ThumbnailImageDecoder: ImageDecoder {
    /// Returns whether the file declares a thumbnail that has not arrived as a whole. Costs reading the header.
    func awaitsThumbnail(in data: Data) -> Bool
}

extension ImageDecoder {
    /// Returns the number of bytes that a still image takes while it arrives: its pixels, those of a preview, and the
    /// memory of the decoder and of the colour conversion.
    func arrivingBytes(of data: Data, plan: DecodePlan) -> Int {
        workingBytes(of: data, info: plan.info, nativeSize: plan.nativeSize)
            .adding(2, times: plan.nativeSize.bitmapBytes).adding(1, times: plan.finalSize.bitmapBytes)
            .adding(1, times: plan.conversionBytes(of: colorProfile(of: data)))
    }
}

extension CoderRegistry {
    /// Returns a progressive decoding for a file that begins with `data`, or nil if the format's decoder does not
    /// support one. Of HEIC and AVIF it supports the thumbnail alone. The caller still has to append `data` to it.
    ///
    /// - Parameters:
    ///   - data: the beginning of the file; a dozen bytes are enough.
    ///   - showsThumbnail: whether the previews begin with the thumbnail that the file has of its picture, enlarged to the
    ///     size of the result, with the rows that have arrived drawn over it. False by default.
    public func makeProgressive(
        for data: Data, options: DecodeOptions = DecodeOptions(), showsThumbnail: Bool = false
    ) -> (any ProgressiveDecoding)? {
        makeProgressive(for: data, options: options, budget: budget, showsThumbnail: showsThumbnail)
    }

    package func makeProgressive(
        for data: Data, options: DecodeOptions, budget: DecodeBudget, showsThumbnail: Bool = false
    ) -> (any ProgressiveDecoding)? {
        var options = options
        // Its previews are what has arrived; its end is the whole image. Gain maps come last in a file.
        (options.allowsIncomplete, options.decodesGainMap) = (false, false)
        options.depth = nil
        guard let decoder = decoder(for: data),
            decoder is any ProgressiveImageDecoder || showsThumbnail && decoder is any ThumbnailImageDecoder
        else { return nil }
        let makeOwn = { @Sendable [options] () -> any ProgressiveDecoding in
            let decoding =
                (decoder as? any ProgressiveImageDecoder)?.makeProgressive(options: options, budget: budget)
                ?? WholeDecoding(decoder, options: options, budget: budget)
            guard showsThumbnail else { return decoding }
            return ThumbnailFirst(decoding, of: decoder, coders: self, options: options, budget: budget)
        }
        let isolation = options.isolation ?? .inProcess
        guard !isolation.isInProcess || DecodeIsolation.isRequired(by: decoder) else { return makeOwn() }
        let format = FormatSniffer.format(of: data) ?? decoder.formats.first ?? .bitmap
        return IsolatedPreviews(
            self, format, options: options, budget: budget, showsThumbnail: showsThumbnail,
            findWorkers: { try isolation.workers(for: decoder, format, context: $0) }, makeOwn: makeOwn)
    }
}

/// A decoding of a picture that shows nothing before all of its data has arrived. Memory: the data, as it came.
private final class WholeDecoding: ProgressiveDecoding {
    private let decoder: any ImageDecoder
    private let options: DecodeOptions
    private let budget: DecodeBudget
    private let parts = Lock<[Data]>([])

    init(_ decoder: any ImageDecoder, options: DecodeOptions, budget: DecodeBudget) {
        (self.decoder, self.options, self.budget) = (decoder, options, budget)
    }

    func append(_ data: Data, context: WorkContext) throws {
        try context.checkCancellation()
        parts.withLock { $0.append(data) }
    }

    func preview(context: WorkContext) throws -> Image? { nil }

    func finish(context: WorkContext) throws -> Image {
        let data = parts.withLock { $0.reduce(into: Data()) { $0 += $1 } }
        return try CoderRegistry([decoder], budget: budget).decode(data, options: options, context: context)
    }
}
