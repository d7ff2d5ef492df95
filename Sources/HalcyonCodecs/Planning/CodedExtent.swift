import Foundation
import HalcyonImage

/// The extent of the pixels that a file's data unpacks to. A container may declare fewer pixels than its pictures,
/// tiles and frames have.
public struct CodedExtent: Hashable, Sendable {
    /// The size of the largest picture, tile or frame that is unpacked as a whole.
    public var largest: PixelSize
    /// The number of pixels of all frames together, where a frame that is drawn onto a canvas counts as the canvas.
    /// `Int.max` if the number does not fit.
    public var totalPixels: Int

    public init(largest: PixelSize, totalPixels: Int) {
        self.largest = largest
        self.totalPixels = totalPixels
    }

    /// Creates the extent that the header declares: every frame has the size of the image.
    public init(_ info: ImageInfo) {
        self.init(
            largest: info.storedSize, totalPixels: 0.adding(max(1, info.frameCount), times: info.size.area ?? .max))
    }

    /// Adds a picture that is unpacked in addition to the others.
    ///
    /// - Parameter pixels: the number of pixels that it adds to `totalPixels`; its area by default.
    mutating func add(_ size: PixelSize, pixels: Int? = nil) {
        let area = size.area ?? .max
        if area > largest.area ?? .max { largest = size }
        totalPixels = totalPixels.adding(1, times: pixels ?? area)
    }
}

extension ImageDecoder {
    /// Reads the header and checks it, and the extent that the data unpacks to, against the limits.
    ///
    /// - Parameter fileBytes: the size of the file; nil while the file is incomplete and its ratio of pixels to bytes
    ///   is unknown.
    /// - Throws: `CodecError`.
    func probe(_ data: Data, within limits: DecodeLimits, fileBytes: Int?) throws -> ImageInfo {
        let info = try probe(data)
        try limits.check(info, metadataBytes: metadataByteCount(data))
        // A vector image has no pixels of its own.
        guard !info.isVector else { return info }
        try limits.check(codedExtent(of: data, info: info), fileBytes: fileBytes ?? .max)
        return info
    }
}
