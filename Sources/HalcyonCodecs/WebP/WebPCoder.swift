#if WebP
    import HalcyonImage
    public struct WebPCoder: ImageCoder {
        public init() {}
        public var formats: [ImageFormat] { [.webp] }
    }
#endif
