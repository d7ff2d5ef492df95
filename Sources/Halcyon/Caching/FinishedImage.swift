import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// What the disk keeps beside a finished image: its source's facts, which its own encoding does not have.
struct FinishedImage {
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
        /// Nil in entries of before there were drawings.
        var vector: Bool?
        var http: Data?
    }

    init(info: ImageInfo, http: HTTPCacheMetadata?) {
        self.info = info
        self.http = http
    }

    /// Nil where the entry was written by another version.
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
        // Metadata that cannot be read may have forbidden this answer.
        if stored.http != nil, http == nil { return nil }
    }

    /// The image whose pixels were kept, with its source's facts.
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
