import Foundation
import HalcyonImage
import HalcyonSystem

/// The thumbnail that a file has of its own picture, as far as its header proves that it is one.
///
/// Refused are a thumbnail of another aspect ratio than the picture's, one that is larger than the picture, one of more
/// than 512 pixels a side, and any of a picture with alpha, which thumbnails do not have. Many cameras write 160x120
/// pixels with black bars whatever the picture's shape is: the bars are not recorded anywhere, and a crop by the ratio
/// alone would cut into thumbnails of an earlier, uncropped picture.
struct EmbeddedThumbnail {
    /// The maximum of both sides. The standard has 160x120; a segment of 64 KiB could declare 65,535 a side.
    private static let maximumSide = 512

    let data: Data
    let decoder: any ImageDecoder
    /// The facts in the thumbnail's header, turned as the picture: the orientation in a thumbnail of its own does not count.
    let info: ImageInfo
    private let picture: ImageInfo

    /// Finds the thumbnail of a still picture; nil if there is none or it is refused.
    init?(
        of picture: ImageInfo, in data: Data, decoder: any ImageDecoder, coders: CoderRegistry, limits: DecodeLimits
    ) {
        guard !picture.isAnimated, !picture.isVector, !picture.hasAlpha,
            let thumbnail = decoder.embeddedThumbnail(in: data),
            let own = coders.embeddedDecoder(for: thumbnail),
            var info = try? own.probe(thumbnail, within: limits, fileBytes: thumbnail.count),
            info.format == .jpeg || info.format == picture.format, !info.isAnimated, !info.hasAlpha,
            Self.shows(info.storedSize, picture.storedSize)
        else { return nil }
        info.size = picture.orientation.applied(to: info.storedSize)
        info.orientation = picture.orientation
        (self.data, self.decoder, self.info, self.picture) = (thumbnail, own, info, picture)
    }

    /// Whether a thumbnail of this size has the picture's aspect ratio: one of its sides may be a pixel more or less than
    /// the other one demands, since writers round in different ways.
    private static func shows(_ size: PixelSize, _ picture: PixelSize) -> Bool {
        guard !size.isEmpty, !picture.isEmpty, max(size.width, size.height) <= maximumSide,
            size.width <= picture.width, size.height <= picture.height
        else { return false }
        let height = Double(size.width) * Double(picture.height) / Double(picture.width)
        let width = Double(size.height) * Double(picture.width) / Double(picture.height)
        return abs(height - Double(size.height)) <= 1 || abs(width - Double(size.width)) <= 1
    }

    /// Returns the plan of decoding it to the size that the picture would have.
    ///
    /// - Parameter upscales: whether the result may be larger than the thumbnail.
    /// - Returns: nil if it cannot take the picture's place.
    func plan(by options: DecodeOptions, of decoder: any ImageDecoder, upscales: Bool) -> DecodePlan? {
        guard options.region == nil, options.color == .sRGB,
            let size = try? DecodePlan(info: picture, options: options, decoder: decoder).finalSize,
            upscales || (size.width <= info.size.width && size.height <= info.size.height)
        else { return nil }
        // The whole of it has exactly the picture's size, and of a filled box the part of the same shape.
        let mode: ResizeMode = options.target?.mode == .fill ? .fill : .stretch
        let own = DecodeOptions(
            target: TargetSize(size, mode: mode, upscale: upscales), firstFrameOnly: true, limits: options.limits)
        guard var plan = try? DecodePlan(info: info, options: own, decoder: self.decoder) else { return nil }
        plan.measure(data, decoder: self.decoder)
        guard (try? plan.check(options.limits)) != nil, plan.finalSize == size else { return nil }
        return plan
    }
}

extension CoderRegistry {
    /// Returns the decoder for a picture inside of another one's file, which is decoded where that one is; nil if there is none, or
    /// if it decodes in workers only and this process is none.
    func embeddedDecoder(for data: Data) -> (any ImageDecoder)? {
        decoder(for: data).flatMap { DecodeIsolation.isRequired(by: $0) ? nil : $0 }
    }

    /// Returns the plan of decoding a file's thumbnail in place of its picture; nil if the picture is to be decoded.
    ///
    /// It decodes the thumbnail, so that one with damaged pixels is known before anything depends on it. Memory: at most 6
    /// MiB, outside of the budget.
    func thumbnailPlan(
        _ data: Data, _ info: ImageInfo, decoder: any ImageDecoder, options: DecodeOptions
    ) -> DecodePlan? {
        // Nobody knows in which light a camera averages.
        guard options.changesSize, options.target?.light != .linear, options.depth == nil,
            let thumbnail = EmbeddedThumbnail(
                of: info, in: data, decoder: decoder, coders: self, limits: options.limits),
            var plan = thumbnail.plan(by: options, of: decoder, upscales: false),
            (try? thumbnail.decoder.decode(thumbnail.data, plan: plan, context: .uncancellable)) != nil
        else { return nil }
        plan.stand(for: info)
        return plan
    }

    /// Decodes the thumbnail of a file by a plan that stands for its picture.
    func thumbnail(
        of data: Data, _ picture: ImageInfo, decoder: any ImageDecoder, plan: DecodePlan, context: WorkContext
    ) throws -> Image {
        guard let bytes = decoder.embeddedThumbnail(in: data), let own = embeddedDecoder(for: bytes) else {
            throw CodecError.damaged(picture.format, reason: "its thumbnail is not there any more")
        }
        let image = try decodePixels(bytes, decoder: own, plan: plan, context: context)
        return Image(bitmap: image.bitmap, info: picture)
    }
}
