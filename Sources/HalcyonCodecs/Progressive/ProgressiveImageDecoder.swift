import Foundation
import HalcyonImage

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

extension ImageDecoder {
    /// Returns the number of bytes that a still image takes while it arrives: its pixels, those of a preview, and the
    /// memory of the decoder and of the colour conversion.
    func arrivingBytes(of data: Data, plan: DecodePlan) -> Int {
        workingBytes(of: data, info: plan.info, nativeSize: plan.nativeSize)
            .adding(2, times: plan.nativeSize.bitmapBytes).adding(1, times: plan.finalSize.bitmapBytes)
            .adding(1, times: plan.conversionBytes(of: colorProfile(of: data)))
    }
}
