#if PNG
    import HalcyonImage
    public struct PNGCoder: ImageCoder {
        public init() {}
        public var formats: [ImageFormat] { [.png] }
    }
#endif
