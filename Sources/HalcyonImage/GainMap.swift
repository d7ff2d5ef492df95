import Foundation

/// A gain map: by how much a display of a high dynamic range shows each part of an image brighter than others do (ISO 21496-1).
///
/// It belongs to the pixels of one image, in their colour space, and covers all of that image, as a rule with fewer pixels. With `g` as
/// the value of a channel in the map, from 0 to 1, and `c` as that of the image in linear light, such a display shows
///
///     (c + baseOffset) * 2 ^ (w * (minimum + (maximum - minimum) * g ^ (1 / gamma))) - alternateOffset
///
/// where `w` goes from 0 to 1 while the display's headroom goes from `baseHeadroom` to `alternateHeadroom`, and from 0 to -1 if the
/// image itself is the brighter one (`baseHeadroom` is the larger). Cost: four bytes a pixel of the map.
public struct GainMap: Sendable {
    /// The values of the map, opaque; its channels are alike if it has only one.
    public let bitmap: Bitmap
    /// Whether all channels have the same values.
    public let isMonochrome: Bool
    /// The meaning of the values.
    public let metadata: Metadata
    /// The ICC profile of the brighter picture that the map was made from, in whose colours readers show it; nil for those of the image.
    public let colorProfile: Data?

    /// Creates a gain map from its values and their meaning.
    public init(bitmap: Bitmap, isMonochrome: Bool, metadata: Metadata, colorProfile: Data? = nil) {
        (self.bitmap, self.isMonochrome, self.metadata) = (bitmap, isMonochrome, metadata)
        self.colorProfile = colorProfile
    }

    /// Returns a map with other values, of the same meaning.
    package func replacing(_ bitmap: Bitmap) -> GainMap {
        GainMap(bitmap: bitmap, isMonochrome: isMonochrome, metadata: metadata, colorProfile: colorProfile)
    }

    /// The bytes that the map keeps in memory.
    var cost: Int { bitmap.byteCount + (colorProfile?.count ?? 0) }

    /// The size of the map in pixels.
    public var size: PixelSize { bitmap.size }
}

extension GainMap {
    /// The meaning of the values of a gain map. Gains and headrooms are logarithms to the base of 2, in stops.
    public struct Metadata: Hashable, Sendable {
        /// The meaning of the red values.
        public let red: Channel
        /// The meaning of the green values.
        public let green: Channel
        /// The meaning of the blue values.
        public let blue: Channel
        /// The headroom of a display that shows the image as it is; 0 for an image of the usual range.
        public let baseHeadroom: Double
        /// The headroom of a display that applies the map fully.
        public let alternateHeadroom: Double
        /// Whether the gains apply to the image's own red, green and blue. Otherwise they apply to those of the brighter picture that the
        /// map was made from (`GainMap.colorProfile`).
        public let usesBaseColorSpace: Bool

        /// Creates the meaning of values; nil if the numbers have none: headrooms are at least 0 and differ by a thousandth,
        /// gammas are at least 1/64, minima are not above maxima, and nothing is beyond 64.
        public init?(
            red: Channel, green: Channel, blue: Channel, baseHeadroom: Double = 0, alternateHeadroom: Double,
            usesBaseColorSpace: Bool = true
        ) {
            let headrooms = 0...Channel.limit
            guard [red, green, blue].allSatisfy(\.isValid), headrooms.contains(baseHeadroom),
                headrooms.contains(alternateHeadroom), abs(baseHeadroom - alternateHeadroom) >= 0.001
            else { return nil }
            (self.red, self.green, self.blue) = (red, green, blue)
            (self.baseHeadroom, self.alternateHeadroom) = (baseHeadroom, alternateHeadroom)
            self.usesBaseColorSpace = usesBaseColorSpace
        }

        /// Whether the values of all channels mean the same.
        package var isMonochrome: Bool { red == green && green == blue }
        package var channels: [Channel] { [red, green, blue] }
    }

    /// The meaning of the values of one channel.
    public struct Channel: Hashable, Sendable {
        /// No number of a real map is larger.
        package static let limit = 64.0

        /// The gain of the value 0, in stops.
        public var minimum: Double
        /// The gain of the value 1, in stops.
        public var maximum: Double
        /// The exponent by which the map was encoded. 1 by default.
        public var gamma: Double
        /// The amount that is added to the image's linear light. 1/64 by default.
        public var baseOffset: Double
        /// The amount that is subtracted from the result. 1/64 by default.
        public var alternateOffset: Double

        /// Creates the meaning of values; omitted arguments take the defaults that the properties state.
        public init(
            minimum: Double = 0, maximum: Double, gamma: Double = 1, baseOffset: Double = 1 / 64,
            alternateOffset: Double = 1 / 64
        ) {
            (self.minimum, self.maximum, self.gamma) = (minimum, maximum, gamma)
            (self.baseOffset, self.alternateOffset) = (baseOffset, alternateOffset)
        }

        fileprivate var isValid: Bool {
            let range = -Self.limit...Self.limit
            // Comparisons with NaN are false.
            return [minimum, maximum, baseOffset, alternateOffset].allSatisfy(range.contains) && minimum <= maximum
                && gamma >= 1 / Self.limit && gamma <= Self.limit
        }
    }
}
