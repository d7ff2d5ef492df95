import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// The metadata of a finished image's entry on disk, as JSON: the facts about its source, which its own encoding does not
/// contain.
private struct FinishedImageMetadata: Codable {
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
    /// Nil in entries written before gain maps were recognized.
    var gainMap: Bool?
    /// Whether the image was stored with its gain map; nil in entries written before there were any.
    var map: Bool?
    var http: Data?

    init(_ image: Image, http: HTTPCacheMetadata?) {
        let info = image.info
        map = image.gainMap != nil
        format = [info.format.name, info.format.fileExtension, info.format.mimeType]
        size = [info.size.width, info.size.height]
        (frames, loops) = (info.frameCount, info.loopCount)
        (alpha, bits) = (info.hasAlpha, info.bitsPerChannel)
        orientation = info.orientation.rawValue
        switch info.colorSpace {
        case .sRGB: colorModel = "sRGB"
        case .gray: colorModel = "gray"
        case .cmyk: colorModel = "cmyk"
        case .icc(let name): (colorModel, profile) = ("icc", name)
        }
        (vector, gainMap) = (info.isVector, info.hasGainMap)
        self.http = http?.encoded()
    }

    /// The facts; nil if another version wrote the entry.
    var info: ImageInfo? {
        guard format.count == 3, size.count == 2, let orientation = Orientation(rawValue: orientation) else {
            return nil
        }
        let colorSpace: ColorSpace =
            switch colorModel {
            case "gray": .gray
            case "cmyk": .cmyk
            case "icc": .icc(profile ?? "")
            default: .sRGB
            }
        var info = ImageInfo(
            format: ImageFormat(format[0], fileExtension: format[1], mimeType: format[2]),
            size: PixelSize(size[0], size[1]), frameCount: frames, loopCount: loops, hasAlpha: alpha,
            bitsPerChannel: bits, orientation: orientation, colorSpace: colorSpace, isVector: vector ?? false)
        info.hasGainMap = gainMap ?? false
        return info
    }
}

/// The facts about a finished image's source.
struct FinishedImageFacts {
    let info: ImageInfo
    let http: HTTPCacheMetadata?
    let hadGainMap: Bool

    /// Returns the image of the pixels that its entry holds; nil if they have lost a gain map that the key asks for: not every
    /// format holds one.
    func cachedImage(_ pixels: Image, for key: ImageKey, encodedBytes: Int) -> CachedImage? {
        guard !key.decode.decodesGainMap || !hadGainMap || pixels.gainMap != nil else { return nil }
        return CachedImage(image: pixels.withInfo(info), encodedBytes: encodedBytes, http: http)
    }
}

extension CacheEntry {
    /// The facts about a finished image's source; nil if another version wrote the entry.
    var finishedImage: FinishedImageFacts? {
        guard let stored = try? JSONDecoder().decode(FinishedImageMetadata.self, from: metadata), let info = stored.info
        else { return nil }
        let http = stored.http.flatMap { HTTPCacheMetadata(decoding: $0) }
        // Unreadable HTTP metadata may have forbidden the use of this entry.
        guard stored.http == nil || http != nil else { return nil }
        return FinishedImageFacts(info: info, http: http, hadGainMap: stored.map ?? false)
    }
}

extension Image {
    /// Returns the metadata of the image's entry on disk.
    func finishedMetadata(_ http: HTTPCacheMetadata?) -> Data {
        (try? JSONEncoder().encode(FinishedImageMetadata(self, http: http))) ?? Data()
    }

    /// Returns the image with the facts about its source, of which its own encoding told less.
    func withInfo(_ info: ImageInfo) -> Image {
        var image = Image(bitmap: bitmap, info: info, animation: animation)
        (image.colorProfile, image.gainMap) = (colorProfile, gainMap)
        return image
    }
}
