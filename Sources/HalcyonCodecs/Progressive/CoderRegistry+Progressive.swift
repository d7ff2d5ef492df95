import Foundation
import HalcyonImage

extension CoderRegistry {
    /// A progressive decoding for a file that begins with `data`, which it has not been given yet; nil where the
    /// format's decoder has none.
    ///
    /// - Parameter data: a dozen bytes are enough.
    public func makeProgressive(for data: Data, options: DecodeOptions = DecodeOptions()) -> (any ProgressiveDecoding)?
    {
        makeProgressive(for: data, options: options, budget: budget)
    }

    package func makeProgressive(
        for data: Data, options: DecodeOptions, budget: DecodeBudget
    ) -> (any ProgressiveDecoding)? {
        (decoder(for: data) as? any ProgressiveImageDecoder)?.makeProgressive(options: options, budget: budget)
    }
}
