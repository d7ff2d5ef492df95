import CGTK
import Foundation
import Halcyon

@testable import HalcyonGTK

extension ImageView {
    /// The size of the drawn picture, in units.
    var pictureSize: PixelSize {
        PixelSize(
            Int(gdk_paintable_get_intrinsic_width(paintable.pointer)),
            Int(gdk_paintable_get_intrinsic_height(paintable.pointer)))
    }
}

extension ImageRequest {
    /// With a size of its own, larger than any image here.
    static func wide(_ url: URL) -> ImageRequest {
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(1000, 1000))
        return request
    }
}

/// An animation of frames of one grey each, the brighter the later.
enum Greys {
    static func image(_ side: Int, frames: Int, each: Duration, loops: Int = 0) throws -> Image {
        let frames = try (0..<frames).map { index in
            (try Colors.image([UInt8](repeating: UInt8(index * 20), count: 3) + [255], side, side), each)
        }
        let animation = try AnimatedImage(frames: frames, loopCount: loops)
        return Image(
            bitmap: frames[0].0.bitmap,
            info: ImageInfo(format: .gif, size: PixelSize(side, side), frameCount: frames.count), animation: animation)
    }

    static func gif(_ side: Int, frames: Int, each: Duration, loops: Int = 0) throws -> Data {
        try image(side, frames: frames, each: each, loops: loops).data(as: .gif)
    }
}
