#if JPEG
    extension JPEGCoder: ProgressiveImageDecoder {
        /// Creates a progressive decode, which shows a progressive JPEG scan by scan and a baseline one row by row.
        public func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
            JPEGProgressiveDecoding(options: options, budget: budget)
        }
    }
#endif
