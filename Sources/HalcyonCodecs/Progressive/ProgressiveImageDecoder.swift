import HalcyonImage

/// A decoder that can show an image before all of its data is there.
public protocol ProgressiveImageDecoder: ImageDecoder {
    /// A decoding that is fed as the data arrives.
    ///
    /// The built-in ones reserve a still image's pixels from `DecodeBudget.shared` for as long as they live, and have
    /// no previews where they are not free.
    func makeProgressive(options: DecodeOptions) -> any ProgressiveDecoding
}
