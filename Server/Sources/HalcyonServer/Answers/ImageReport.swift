import Halcyon

/// The facts about a picture that `/info` answers with, as JSON.
struct ImageReport: Codable, Hashable, Sendable {
    /// The name of the format, and its media type.
    let format: String
    let mediaType: String
    /// The size of the upright picture in pixels; that which a vector names.
    let width: Int
    let height: Int
    /// The orientation in the file, from 1 to 8 as in Exif.
    let orientation: Int
    let frames: Int
    let hasAlpha: Bool
    let bitsPerChannel: Int
    let colorSpace: String
    let isVector: Bool
    let hasGainMap: Bool
    /// A placeholder of 4 x 3 components; nil if it cannot be made.
    let blurHash: String?
    /// The colour of the largest group of similar pixels, and the mean one, in hexadecimal.
    let dominantColor: String?
    let averageColor: String?

    /// - Parameter thumbnail: the picture, at any size: colours and hash come from it.
    init(_ info: ImageInfo, thumbnail: Image) {
        (format, mediaType) = (info.format.name, info.format.mimeType)
        (width, height, orientation) = (info.size.width, info.size.height, info.orientation.rawValue)
        (frames, hasAlpha, bitsPerChannel) = (info.frameCount, info.hasAlpha, info.bitsPerChannel)
        (colorSpace, isVector, hasGainMap) = ("\(info.colorSpace)", info.isVector, info.hasGainMap)
        blurHash = (try? BlurHash(encoding: thumbnail))?.text
        dominantColor = thumbnail.dominantColor().map(Self.hex)
        averageColor = thumbnail.averageColor().map(Self.hex)
    }

    private static func hex(_ color: Color) -> String {
        let digits = Array("0123456789abcdef")
        return [color.red, color.green, color.blue].reduce(into: "#") { text, channel in
            let byte = Int((min(max(channel, 0), 1) * 255).rounded())
            text.append(digits[byte >> 4])
            text.append(digits[byte & 15])
        }
    }
}
