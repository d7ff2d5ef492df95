import HalcyonImage

/// A decoder that can show an image before all of its data is there.
public protocol ProgressiveImageDecoder: ImageDecoder {
    /// A decoding that is fed as the data arrives.
    func makeProgressive(options: DecodeOptions) -> any ProgressiveDecoding
}
