import Foundation
import HalcyonImage
import HalcyonSystem

/// The plan of decoding a file's gain map beside its picture.
struct GainMapPlan: Hashable, Sendable {
    /// The size of the upright map, cut and scaled as its picture.
    let size: PixelSize
    /// The plan of the map's own file; none if a worker has it. A list, since a plan cannot hold another one.
    private let plans: [DecodePlan]
    private let profileBytes: Int

    /// Creates the plan of a map that a worker decodes.
    init(size: PixelSize) {
        (self.size, plans, profileBytes) = (size, [], 0)
    }

    /// Creates the plan of a map.
    ///
    /// - Parameters:
    ///   - map: the facts in the header of the map, with the picture's orientation.
    ///   - picture: the plan of the picture.
    /// - Throws: `CodecError.limitExceeded`.
    init(
        _ map: ImageInfo, _ stored: StoredGainMap, decoder: any ImageDecoder, beside picture: DecodePlan,
        limits: DecodeLimits
    ) throws {
        let geometry = picture.geometry.followed(by: map.size, of: picture.info.size)
        // Its values are no colours.
        let options = DecodeOptions(color: .asStored, firstFrameOnly: true, limits: limits)
        var plan = try DecodePlan(map, geometry, options, decoder)
        plan.decodeGains()
        plan.measure(stored.picture, decoder: decoder)
        try plan.check(limits)
        (size, plans, profileBytes) = (geometry.size, [plan], stored.colorProfile?.count ?? 0)
    }

    var plan: DecodePlan? { plans.first }

    /// The memory of the decode.
    var workingBytes: Int { profileBytes.adding(1, times: plan?.workingBytes ?? 0) }
}

extension CoderRegistry {
    /// Returns the plan of a file's gain map; nil if there is none, or none that can be used.
    func gainMapPlan(
        _ data: Data, _ decoder: any ImageDecoder, _ plan: DecodePlan, _ limits: DecodeLimits
    ) -> GainMapPlan? {
        guard plan.info.hasGainMap, !plan.info.isAnimated,
            let map = (decoder as? any GainMapImageDecoder)?.gainMap(in: data),
            let own = embeddedDecoder(for: map.picture),
            var info = try? own.probe(map.picture, within: limits, fileBytes: map.picture.count),
            !info.hasAlpha, !info.isAnimated, info.storedSize.width <= plan.storedSize.width,
            info.storedSize.height <= plan.storedSize.height
        else { return nil }
        info.size = plan.info.orientation.applied(to: info.storedSize)
        info.orientation = plan.info.orientation
        return try? GainMapPlan(info, map, decoder: own, beside: plan, limits: limits)
    }

    /// Decodes the gain map of an image; nil if it is damaged.
    ///
    /// - Throws: `BitmapError`, `CancellationError`.
    func gainMap(
        of data: Data, _ decoder: any ImageDecoder, plan: GainMapPlan, context: WorkContext
    ) throws -> GainMap? {
        guard let plan = plan.plan, let stored = (decoder as? any GainMapImageDecoder)?.gainMap(in: data),
            let own = embeddedDecoder(for: stored.picture)
        else { return nil }
        do {
            let values = try decodePixels(stored.picture, decoder: own, plan: plan, context: context)
            return GainMap(
                bitmap: values.bitmap, isMonochrome: stored.isGray && stored.metadata.isMonochrome,
                metadata: stored.metadata, colorProfile: stored.colorProfile)
        } catch is CodecError {
            return nil
        }
    }
}
