/// The coders of this build, selected by its package traits.
enum BuiltInCoders {
    /// The built-in coders. The most common format comes last, because the last one is asked first.
    static var all: [any ImageCoder] {
        var coders: [any ImageCoder] = []
        // Detecting text costs more than a signature.
        #if SVG
            coders.append(SVGCoder())
        #endif
        #if BMP
            coders.append(BMPCoder())
        #endif
        #if TIFF
            coders.append(TIFFCoder())
        #endif
        #if HEIC
            coders.append(HEICCoder())
        #endif
        #if AVIF
            coders.append(AVIFCoder())
        #endif
        #if GIF
            coders.append(GIFCoder())
        #endif
        #if WebP
            coders.append(WebPCoder())
        #endif
        #if PNG
            coders.append(PNGCoder())
        #endif
        #if JPEG
            coders.append(JPEGCoder())
        #endif
        return coders
    }
}
