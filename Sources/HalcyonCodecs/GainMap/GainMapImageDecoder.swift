import Foundation
import HalcyonImage

/// A decoder of files that may have a gain map beside their picture.
package protocol GainMapImageDecoder: ImageDecoder {
    /// Returns the gain map as it is stored; nil if there is none, or none that can be read. The bytes are not trusted. Costs reading the
    /// headers of the picture and of the map.
    func gainMap(in data: Data) -> StoredGainMap?
}

/// A gain map as a file has it.
package struct StoredGainMap {
    /// The map as a file of its own, stored as the picture is, so that it has to be turned as that.
    package let picture: Data
    package let metadata: GainMap.Metadata
    /// Whether the file of the map has one channel.
    package let isGray: Bool
    /// The ICC profile of the brighter picture.
    package let colorProfile: Data?

    package init(picture: Data, metadata: GainMap.Metadata, isGray: Bool, colorProfile: Data?) {
        (self.picture, self.metadata, self.isGray, self.colorProfile) = (picture, metadata, isGray, colorProfile)
    }
}

extension ImageInfo {
    /// Whether the file has a gain map in a form that is decoded. Those of HEIC, AVIF and JPEG XL are only recognized.
    package var hasReadableGainMap: Bool { hasGainMap && format == .jpeg }
}
