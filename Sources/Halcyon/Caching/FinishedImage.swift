import Foundation
import HalcyonCache
import HalcyonImage

/// What the disk keeps beside a finished image: its source's facts, which its own encoding does not have.
struct FinishedImage {
    let info: ImageInfo
    let freshUntil: Date?

    private struct Stored: Codable {
        var format: String
        var width: Int
        var height: Int
        var frames: Int
        var loops: Int?
        var alpha: Bool
        var bits: Int
        var orientation: Int
        var profile: String?
        var colorModel: String
        var freshUntil: Double?
    }

    init(info: ImageInfo, freshUntil: Date?) {
        self.info = info
        self.freshUntil = freshUntil
    }

    /// Nil where the entry was written by another version.
    init?(_ entry: DiskEntry) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: entry.metadata),
            let format = ImageFormat(name: stored.format), let orientation = Orientation(rawValue: stored.orientation)
        else { return nil }
        let colorSpace: ColorSpace =
            switch stored.colorModel {
            case "gray": .gray
            case "cmyk": .cmyk
            case "icc": .icc(stored.profile ?? "")
            default: .sRGB
            }
        info = ImageInfo(
            format: format, size: PixelSize(stored.width, stored.height), frameCount: stored.frames,
            loopCount: stored.loops, hasAlpha: stored.alpha, bitsPerChannel: stored.bits, orientation: orientation,
            colorSpace: colorSpace)
        freshUntil = stored.freshUntil.map { Date(timeIntervalSince1970: $0) }
    }

    var encoded: Data {
        var stored = Stored(
            format: info.format.name, width: info.size.width, height: info.size.height, frames: info.frameCount,
            loops: info.loopCount, alpha: info.hasAlpha, bits: info.bitsPerChannel,
            orientation: info.orientation.rawValue, profile: nil, colorModel: "sRGB",
            freshUntil: freshUntil?.timeIntervalSince1970)
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
