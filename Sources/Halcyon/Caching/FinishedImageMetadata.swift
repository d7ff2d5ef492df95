import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// The metadata of a finished image on disk: the facts about its source, which its own encoding does not contain.
struct FinishedImageMetadata {
    let info: ImageInfo
    let http: HTTPCacheMetadata?

    private struct Stored: Codable {
        var format: [String]
        var size: [Int]
        var frames: Int
        var loops: Int?
        var alpha: Bool
        var bits: Int
        var orientation: Int
        var colorModel: String
        var profile: String?
        /// Nil in entries written before vector images were supported.
        var vector: Bool?
        var http: Data?
    }

    init(info: ImageInfo, http: HTTPCacheMetadata?) {
        self.info = info
        self.http = http
    }

    /// Decodes an entry's metadata; nil if another version wrote the entry.
    init?(_ entry: DiskEntry) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: entry.metadata), stored.format.count == 3,
            stored.size.count == 2, let orientation = Orientation(rawValue: stored.orientation)
        else { return nil }
        let colorSpace: ColorSpace =
            switch stored.colorModel {
            case "gray": .gray
            case "cmyk": .cmyk
            case "icc": .icc(stored.profile ?? "")
            default: .sRGB
            }
        info = ImageInfo(
            format: ImageFormat(stored.format[0], fileExtension: stored.format[1], mimeType: stored.format[2]),
            size: PixelSize(stored.size[0], stored.size[1]), frameCount: stored.frames, loopCount: stored.loops,
            hasAlpha: stored.alpha, bitsPerChannel: stored.bits, orientation: orientation, colorSpace: colorSpace,
            isVector: stored.vector ?? false)
        http = stored.http.flatMap { HTTPCacheMetadata(decoding: $0) }
        // Unreadable HTTP metadata may have forbidden the use of this entry.
        if stored.http != nil, http == nil { return nil }
    }

    /// Returns the image of decoded pixels with its source's facts.
    func image(_ pixels: Image) -> Image {
        var image = Image(bitmap: pixels.bitmap, info: info, animation: pixels.animation)
        image.colorProfile = pixels.colorProfile
        return image
    }

    var encoded: Data {
        var stored = Stored(
            format: [info.format.name, info.format.fileExtension, info.format.mimeType],
            size: [info.size.width, info.size.height], frames: info.frameCount, loops: info.loopCount,
            alpha: info.hasAlpha, bits: info.bitsPerChannel, orientation: info.orientation.rawValue,
            colorModel: "sRGB", profile: nil, vector: info.isVector, http: http?.encoded())
        switch info.colorSpace {
        case .sRGB: break
        case .gray: stored.colorModel = "gray"
        case .cmyk: stored.colorModel = "cmyk"
        case .icc(let name):
            stored.colorModel = "icc"
            stored.profile = name
        }
        return (try? JSONEncoder().encode(stored)) ?? Data()
    }
}
