import Foundation

extension Image {
    /// Makes this image, as a still, of its pixels, which it does not keep.
    package var makeOfPixels: @Sendable (Bitmap) -> Image {
        let (info, scale, profile) = (info, scale, colorProfile)
        return { Image(bitmap: $0, info: info, scale: scale, colorProfile: profile) }
    }

    /// Gives the image back for as long as somebody else keeps its pixels, and its frames; nil where its frames are no
    /// object that could be looked at without keeping it.
    package var weakReference: (@Sendable () -> Image?)? {
        let (info, scale, profile) = (info, scale, colorProfile)
        guard let animation else {
            let make = makeOfPixels
            return { [weak bitmap] in bitmap.map(make) }
        }
        guard let animation = animation.weakReference else { return nil }
        return { [weak bitmap] in
            guard let bitmap, let animation = animation() else { return nil }
            return Image(bitmap: bitmap, info: info, animation: animation, scale: scale, colorProfile: profile)
        }
    }

    private init(
        bitmap: Bitmap, info: ImageInfo, animation: AnimatedImage? = nil, scale: Double, colorProfile: Data?
    ) {
        self.init(bitmap: bitmap, info: info, animation: animation)
        self.scale = scale
        self.colorProfile = colorProfile
    }
}
