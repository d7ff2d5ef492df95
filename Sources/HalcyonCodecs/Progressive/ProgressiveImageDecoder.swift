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
