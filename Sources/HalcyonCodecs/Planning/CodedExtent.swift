import Foundation
import HalcyonImage

/// The pixels that a file's data unpacks to. A container may declare fewer than its pictures, tiles and frames have.
public struct CodedExtent: Hashable, Sendable {
    /// The largest picture, tile or frame that is unpacked as a whole.
    public var largest: PixelSize
    /// The pixels of all frames together, those of a canvas where a frame is drawn onto it. `Int.max` where they are
    /// more.
    public var totalPixels: Int

    public init(largest: PixelSize, totalPixels: Int) {
        self.largest = largest
        self.totalPixels = totalPixels
    }

    /// As much as the header says: every frame as large as the image.
    public init(_ info: ImageInfo) {
        self.init(
            largest: info.storedSize, totalPixels: 0.adding(max(1, info.frameCount), times: info.size.area ?? .max))
    }

    /// Counts a picture that is unpacked beside the others.
    mutating func add(_ size: PixelSize, pixels: Int? = nil) {
        let area = size.area ?? .max
        if area > largest.area ?? .max { largest = size }
        totalPixels = totalPixels.adding(1, times: pixels ?? area)
    }
}

extension ImageDecoder {
    /// Reads the header and holds what it says, and what the data unpacks to, against the limits.
    ///
    /// - Parameter fileBytes: nil while the file is not whole, and what its bytes may unpack to is not known.
    /// - Throws: `CodecError`.
    func probe(_ data: Data, within limits: DecodeLimits, fileBytes: Int?) throws -> ImageInfo {
        let info = try probe(data)
        try limits.check(info, metadataBytes: metadataByteCount(data))
        // A drawing has no pixels of its own.
        guard !info.isVector else { return info }
        try limits.check(codedExtent(of: data, info: info), fileBytes: fileBytes ?? .max)
        return info
    }
}
