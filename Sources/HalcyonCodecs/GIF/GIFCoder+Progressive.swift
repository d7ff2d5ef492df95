#if GIF
    import HalcyonImage

    extension GIFCoder: ProgressiveImageDecoder {
        /// Creates a progressive decode, which shows the first frame once it is complete and grows with the frames
        /// after it.
        public func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
            ArrivingFile(self, options: options, budget: budget)
        }
    }
#endif
