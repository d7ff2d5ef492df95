#if JPEG
    extension JPEGCoder: ProgressiveImageDecoder {
        /// A progressive JPEG shows itself scan by scan, a baseline one row by row.
        public func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
            JPEGProgressiveDecoding(options: options, budget: budget)
        }
    }
#endif
