#if GIF
    import HalcyonImage

    extension GIFCoder: ProgressiveImageDecoder {
        /// A GIF shows its first frame once that is whole, and grows with the frames behind it.
        public func makeProgressive(options: DecodeOptions) -> any ProgressiveDecoding {
            ArrivingFile(self, options: options)
        }
    }
#endif
