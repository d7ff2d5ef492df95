#if GIF
    import HalcyonImage
    public struct GIFCoder: ImageCoder {
        public init() {}
        public var formats: [ImageFormat] { [.gif] }
    }
#endif
