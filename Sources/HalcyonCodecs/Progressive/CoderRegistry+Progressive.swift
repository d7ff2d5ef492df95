import Foundation
import HalcyonImage

extension CoderRegistry {
    /// Returns a progressive decoding for a file that begins with `data`, or nil if the format's decoder does not
    /// support one. The caller still has to append `data` to it.
    ///
    /// - Parameter data: the beginning of the file; a dozen bytes are enough.
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
