import Halcyon
import ImageURLs

/// A picture that is laid on others, known by the hash of its bytes.
struct WatermarkPicture: Sendable {
    let hash: String
    let image: Image
}

/// A watermark at its place: the size and the place follow from the size of the picture below, which the plan knows.
struct PlacedWatermark: ImageProcessor {
    let picture: WatermarkPicture
    let place: PixelRect
    let opacity: Double

    /// - Parameters:
    ///   - whole: the size of the picture below.
    ///   - ratio: device pixels in a pixel.
    /// - Throws: `ImageURLError.unsupported` for watermarks that fill the picture.
    init(
        _ watermark: ImageJob.Watermark, _ picture: WatermarkPicture, on whole: PixelSize, ratio: Double
    ) throws {
        (self.picture, opacity) = (picture, watermark.opacity)
        let size = Self.size(watermark.size, of: picture.image.size, on: whole, ratio: ratio)
        switch watermark.position {
        case .compass(let compass, let x, let y):
            place = JobGeometry.place(.compass(compass, x: x, y: y), size, in: whole, ratio: ratio)
        case .axes(let x, let y):
            place = PixelRect(
                x: try Self.place(x, size.width, in: whole.width), y: try Self.place(y, size.height, in: whole.height),
                width: size.width, height: size.height)
        case .tiled: throw ImageURLError.unsupported("watermark:re")
        }
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

    private static func place(_ axis: ImageJob.Watermark.Axis, _ length: Int, in whole: Int) throws -> Int {
        let room = whole - length
        let place: Int
        switch axis {
        case .fromStart(let pixels): place = pixels
        case .fromEnd(let pixels): place = room - pixels
        case .percentFromStart(let percent): place = whole * percent / 100
        case .percentFromEnd(let percent): place = room - whole * percent / 100
        case .center: place = room / 2
        case .tiled: throw ImageURLError.unsupported("watermark(repeat)")
        }
        return min(max(place, 0), room)
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.watermark", version: 1)
        key.encode(picture.hash)
        key.encode(place.size)
        key.encode(place.x)
        key.encode(place.y)
        key.encode(opacity)
    }

    static func == (left: PlacedWatermark, right: PlacedWatermark) -> Bool {
        left.picture.hash == right.picture.hash && left.place == right.place && left.opacity == right.opacity
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(picture.hash)
        hasher.combine(place)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        let mark =
            picture.image.size == place.size
            ? picture.image
            : try picture.image.processed(by: [.resize(to: place.size, mode: .stretch, upscale: true)])
        func anchor(_ place: Int, _ room: Int) -> Double { room > 0 ? Double(place) / Double(room) : 0 }
        let processor: any ImageProcessor = .watermark(
            mark, anchorX: anchor(place.x, image.width - mark.width),
            anchorY: anchor(place.y, image.height - mark.height),
            opacity: opacity)
        return try processor.process(image, context: context)
    }
}
