#if JPEG
    import HalcyonImage
    public struct JPEGCoder: ImageCoder {
        public init() {}
        public var formats: [ImageFormat] { [.jpeg] }
    }
#endif
