import Foundation
import HalcyonImage

/// A decoder that can show an image before all of its data is there.
public protocol ProgressiveImageDecoder: ImageDecoder {
    /// A decoding that is fed as the data arrives.
    ///
    /// The built-in ones hold a still image's pixels for as long as they live.
    ///
    /// - Parameter budget: what it holds its memory of until it goes; where nothing is free it shows no previews.
    func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding
}

extension ImageDecoder {
    /// Bytes that a still image takes while it arrives: its pixels, those of a preview, and what the decoder and the
    /// conversion of its colours take.
    func arrivingBytes(of data: Data, plan: DecodePlan) -> Int {
        workingBytes(of: data, info: plan.info, nativeSize: plan.nativeSize)
            .adding(2, times: plan.nativeSize.bitmapBytes).adding(1, times: plan.finalSize.bitmapBytes)
            .adding(1, times: plan.conversionBytes(of: colorProfile(of: data)))
    }
}
