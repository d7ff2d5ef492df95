import Halcyon
import ImageURLs

/// A picture that is laid on others, known by the hash of its bytes.
struct WatermarkPicture: Sendable {
    let hash: String
    let image: Image
}

/// A watermark at its place, or at many: the size and the places follow from the size of the picture below, which the plan knows.
struct PlacedWatermark: ImageProcessor {
    let picture: WatermarkPicture
    let size: PixelSize
    /// The near edges on both axes; the watermark is at each pair of them.
    let lefts: [Int]
    let tops: [Int]
    let opacity: Double

    /// - Parameters:
    ///   - whole: the size of the picture below.
    ///   - ratio: device pixels in a pixel.
    init(
        _ watermark: ImageJob.Watermark, _ picture: WatermarkPicture, on whole: PixelSize, ratio: Double
    ) {
        (self.picture, opacity) = (picture, watermark.opacity)
        size = Self.size(watermark.size, of: picture.image.size, on: whole, ratio: ratio)
        switch watermark.position {
        case .compass(let compass, let x, let y):
            let place = JobGeometry.place(.compass(compass, x: x, y: y), size, in: whole, ratio: ratio)
            (lefts, tops) = ([place.x], [place.y])
        case .axes(let x, let y):
            lefts = Self.places(x, size.width, in: whole.width)
            tops = Self.places(y, size.height, in: whole.height)
        case .tiled(let x, let y):
            lefts = Self.tiles(size.width, gap: x, in: whole.width, ratio)
            tops = Self.tiles(size.height, gap: y, in: whole.height, ratio)
        }
    }

    /// The pixels that are drawn, those that lie on each other included.
    var drawnPixels: Int {
        let places = lefts.count.multipliedReportingOverflow(by: tops.count)
        let pixels = places.partialValue.multipliedReportingOverflow(by: size.area ?? .max)
        return places.overflow || pixels.overflow ? .max : pixels.partialValue
    }

    private static func tiles(_ length: Int, gap: ImageJob.Length, in whole: Int, _ ratio: Double) -> [Int] {
        let room =
            switch gap {
            case .pixels(let count): count * ratio
            case .fraction(let fraction): fraction * Double(whole)
            }
        let step = max(1, length + Int(min(max(room.rounded(), Double(-length)), 1e9)))
        return Array(stride(from: 0, to: whole, by: step))
    }

    /// The size of a watermark, which is never larger than the picture below.
    private static func size(
        _ size: ImageJob.Watermark.Size, of own: PixelSize, on whole: PixelSize, ratio: Double
    ) -> PixelSize {
        let (wide, high) = (Double(whole.width) / Double(own.width), Double(whole.height) / Double(own.height))
        var factor: Double
        switch size {
        case .own: factor = ratio
        case .scale(let scale): factor = scale * min(wide, high)
        case .percent(let width, let height):
            let factors = [width.map { wide * Double($0) / 100 }, height.map { high * Double($0) / 100 }]
            factor = factors.compactMap { $0 }.min() ?? 1
        }
        factor = min(factor, wide, high)
        func side(_ length: Int) -> Int { max(1, Int((Double(length) * factor).rounded())) }
        return PixelSize(min(side(own.width), whole.width), min(side(own.height), whole.height))
    }

    private static func places(_ axis: ImageJob.Watermark.Axis, _ length: Int, in whole: Int) -> [Int] {
        let room = whole - length
        let place: Int
        switch axis {
        case .fromStart(let pixels): place = pixels
        case .fromEnd(let pixels): place = room - pixels
        case .percentFromStart(let percent): place = whole * percent / 100
        case .percentFromEnd(let percent): place = room - whole * percent / 100
        case .center: place = room / 2
        case .tiled:
            // As often as it fits, with equal gaps.
            let count = whole / length
            let gap = (whole - count * length) / (count + 1)
            return (0..<count).map { gap + $0 * (length + gap) }
        }
        return [min(max(place, 0), room)]
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.watermark", version: 1)
        key.encode(picture.hash)
        key.encode(size)
        for places in [lefts, tops] {
            key.encode(places.count)
            for place in places { key.encode(place) }
        }
        key.encode(opacity)
    }

    static func == (left: PlacedWatermark, right: PlacedWatermark) -> Bool {
        left.picture.hash == right.picture.hash && left.size == right.size && left.lefts == right.lefts
            && left.tops == right.tops && left.opacity == right.opacity
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(picture.hash)
        hasher.combine(size)
        hasher.combine(lefts.first)
        hasher.combine(tops.first)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        let mark =
            picture.image.size == size
            ? picture.image
            : try picture.image.processed(by: [.resize(to: size, mode: .stretch, upscale: true)])
        if lefts.count == 1, tops.count == 1 { return try laid(mark, x: lefts[0], y: tops[0], on: image, context) }
        let layer = try layer(of: mark.bitmap, size: image.size)
        return try laid(picture.image.replacing(layer), x: 0, y: 0, on: image, context)
    }

    private func laid(
        _ mark: Image, x: Int, y: Int, on image: Image, _ context: WorkContext
    ) throws -> Image {
        func anchor(_ place: Int, _ room: Int) -> Double { room > 0 ? Double(place) / Double(room) : 0 }
        let processor: any ImageProcessor = .watermark(
            mark, anchorX: anchor(x, image.width - mark.width), anchorY: anchor(y, image.height - mark.height),
            opacity: opacity)
        return try processor.process(image, context: context)
    }

    /// Returns a clear picture with the mark at all of its places, cut off at the edges.
    private func layer(of mark: Bitmap, size: PixelSize) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: false) { pixels in
            pixels.initializeMemory(as: UInt8.self, repeating: 0)
            mark.withPixels { source in
                for top in tops {
                    for row in 0..<min(mark.height, size.height - top) {
                        for left in lefts {
                            let count = min(mark.width, size.width - left) * 4
                            let start = ((top + row) * size.width + left) * 4
                            let from = row * mark.bytesPerRow
                            UnsafeMutableRawBufferPointer(rebasing: pixels[start..<start + count])
                                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[from..<from + count]))
                        }
                    }
                }
            }
        }
    }
}
