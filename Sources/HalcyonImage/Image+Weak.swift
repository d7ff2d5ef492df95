import Foundation

extension Image {
    /// A closure that makes this image, as a still, from its bitmap. The closure does not keep the bitmap alive.
    package var makeOfPixels: @Sendable (Bitmap) -> Image {
        let (info, scale, profile) = (info, scale, colorProfile)
        return { Image(bitmap: $0, info: info, scale: scale, colorProfile: profile) }
    }

    /// A closure that returns the image for as long as its bitmap, and the source of its frames, are kept alive elsewhere;
    /// nil if that source is not an object and therefore cannot be referenced weakly.
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
