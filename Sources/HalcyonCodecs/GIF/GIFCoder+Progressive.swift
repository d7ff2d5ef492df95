#if GIF
    import HalcyonImage

    extension GIFCoder: ProgressiveImageDecoder {
        /// A GIF shows its first frame once that is whole, and grows with the frames behind it.
        public func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
            ArrivingFile(self, options: options, budget: budget)
        }
    }
#endif
