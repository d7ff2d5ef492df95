import Halcyon
import ImageURLs

/// A picture that is laid on others, known by the hash of its bytes.
struct WatermarkPicture: Sendable {
    let hash: String
    let image: Image
}

/// A watermark at its place, or at many: the size and the places follow from the size of the picture below, which the plan knows.
/// Parts of it may be outside of the picture.
struct PlacedWatermark: ImageProcessor {
    let picture: WatermarkPicture
    /// The size that it is scaled to.
    let size: PixelSize
    /// The part of the scaled one that is drawn.
    let window: PixelRect
    /// The near edges on both axes; the window is at each pair of them.
    let lefts: [Int]
    let tops: [Int]
    let opacity: Double
    let fade: Double

    /// - Parameters:
    ///   - whole: the size of the picture below.
    ///   - ratio: device pixels in a pixel, a factor of the offsets.
    init(
        _ watermark: ImageJob.Watermark, _ picture: WatermarkPicture, on whole: PixelSize, ratio: Double
    ) {
        (self.picture, opacity, fade) = (picture, watermark.opacity, watermark.fade)
        let size = Self.size(watermark.size, of: picture.image.size, on: whole)
        var window = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        switch watermark.position {
        case .compass(let compass, let x, let y):
            let place = JobGeometry.Place(.compass(compass, x: x, y: y), ratio: ratio)
                .rect(of: size, in: whole, overflows: true)
            (lefts, tops) = ([place.x], [place.y])
        case .axes(let x, let y):
            let (across, down) = (
                Self.tiles(size.width, in: whole.width), Self.tiles(size.height, in: whole.height)
            )
            // thumbor draws 36 instead of more than 100.
            let isMany = x == .tiled && y == .tiled && across.count * down.count > 100
            lefts =
                x == .tiled
                ? Self.places(size.width, in: whole.width, isMany ? (min(6, across.count), nil) : across)
                : Self.place(x, size.width, in: whole.width)
            tops =
                y == .tiled
                ? Self.places(size.height, in: whole.height, isMany ? (min(6, down.count), nil) : down)
                : Self.place(y, size.height, in: whole.height)
        case .tiled(let x, let y):
            let columns = Self.tiles(
                size.width, gap: JobGeometry.Place.offset(x, of: whole.width, ratio), in: whole.width)
            let rows = Self.tiles(
                size.height, gap: JobGeometry.Place.offset(y, of: whole.height, ratio), in: whole.height)
            window = PixelRect(x: columns.start, y: rows.start, width: columns.length, height: rows.length)
            (lefts, tops) = (columns.places, rows.places)
        }
        (self.size, self.window) = (size, window)
    }

    /// The pixels that are drawn.
    var drawnPixels: Int {
        let places = lefts.count.multipliedReportingOverflow(by: tops.count)
        let pixels = places.partialValue.multipliedReportingOverflow(by: window.size.area ?? .max)
        return places.overflow || pixels.overflow ? .max : pixels.partialValue
    }

    // MARK: - Places

    /// imgproxy's tiles on one axis: the watermark with half of the gap on either side, one tile in the middle of the picture. With a
    /// gap below zero, as much of the watermark is cut off. Without any pixel left there is no place.
    private static func tiles(
        _ length: Int, gap: Double, in whole: Int
    ) -> (start: Int, length: Int, places: [Int]) {
        let gap = Int(min(max(gap, -1e9), 1e9))
        let (period, before) = (length + gap, gap / 2)
        guard period > 0 else { return (0, 0, []) }
        var count = (whole + period - 1) / period
        if count % 2 == 0 { count += 1 }
        let first = -((count * period - whole) / 2) + max(0, before)
        return (max(0, -before), min(length, period), (0..<count).map { first + $0 * period })
    }

    /// thumbor's number of tiles on one axis, and the pixels that they leave.
    private static func tiles(_ length: Int, in whole: Int) -> (count: Int, rest: Int?) {
        whole < 2 * length ? ((whole + length - 1) / length, 10) : (whole / length, nil)
    }

    private static func places(_ length: Int, in whole: Int, _ tiles: (count: Int, rest: Int?)) -> [Int] {
        let gap = (tiles.rest ?? whole - tiles.count * length) / (max(tiles.count, 2) - 1)
        return (0..<tiles.count).map { $0 * (length + gap) }
    }

    private static func place(_ axis: ImageJob.Watermark.Axis, _ length: Int, in whole: Int) -> [Int] {
        let room = whole - length
        func part(_ percent: Int) -> Int {
            Int((Double(whole) * Double(percent) / 100 + 1e-5).rounded(.toNearestOrEven))
        }
        switch axis {
        case .fromStart(let pixels): return [pixels]
        case .fromEnd(let pixels): return [room - pixels]
        case .percentFromStart(let percent): return [part(percent)]
        case .percentFromEnd(let percent): return [room - part(percent)]
        case .center, .tiled: return [room / 2]
        }
    }

    private static func size(
        _ size: ImageJob.Watermark.Size, of own: PixelSize, on whole: PixelSize
    ) -> PixelSize {
        let (width, height) = (Double(own.width), Double(own.height))
        func side(_ length: Double, _ rule: FloatingPointRoundingRule = .toNearestOrEven) -> Int {
            Int(min(max(1, length.rounded(rule)), 1e6))
        }
        switch size {
        case .own: return own
        case .scale(let scale):
            // Within a box of whole pixels.
            let (boxWidth, boxHeight) = (side(Double(whole.width) * scale), side(Double(whole.height) * scale))
            let factor = 1 / max(width / Double(boxWidth), height / Double(boxHeight))
            return PixelSize(
                side(width * factor, .toNearestOrAwayFromZero), side(height * factor, .toNearestOrAwayFromZero))
        case .percent(let across, let down):
            let wide = across.map { Double(whole.width) * Double($0) / 100 }
            let high = down.map { Double(whole.height) * Double($0) / 100 }
            let box = (wide ?? width * (high ?? height) / height, high ?? height * (wide ?? width) / width)
            if width * box.1 >= height * box.0 { return PixelSize(side(box.0), side(height * box.0 / width)) }
            return PixelSize(side(width * box.1 / height), side(box.1))
        }
    }

    // MARK: - Processor

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.watermark", version: 3)
        key.encode(picture.hash)
        key.encode(size)
        for value in [window.x, window.y] { key.encode(value) }
        key.encode(window.size)
        for places in [lefts, tops] {
            key.encode(places.count)
            for place in places { key.encode(place) }
        }
        key.encode(opacity)
        key.encode(fade)
    }

    static func == (left: PlacedWatermark, right: PlacedWatermark) -> Bool {
        left.picture.hash == right.picture.hash && left.size == right.size && left.window == right.window
            && left.lefts == right.lefts && left.tops == right.tops && left.opacity == right.opacity
            && left.fade == right.fade
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(picture.hash)
        hasher.combine(size)
        hasher.combine(lefts.first)
        hasher.combine(tops.first)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        var steps: [any ImageProcessor] = []
        if picture.image.size != size { steps.append(.resize(to: size, mode: .stretch, upscale: true)) }
        if window.size != size { steps.append(.crop(window)) }
        let own = fade > 0 ? picture.image.replacing(try faded(picture.image.bitmap)) : picture.image
        let mark = steps.isEmpty ? own : try own.processed(by: steps)
        let layer = try layer(of: mark.bitmap, on: image.size)
        guard let layer else { return image }
        let laid: any ImageProcessor = .watermark(
            picture.image.replacing(layer.bitmap), anchorX: layer.anchorX, anchorY: layer.anchorY, opacity: opacity)
        return try laid.process(image, context: context)
    }

    /// Returns a picture whose pixels have lost alpha.
    private func faded(_ bitmap: Bitmap) throws -> Bitmap {
        let loss = Int(fade * 255)
        // The share of a colour that remains with each alpha, in parts of 2 to the power of 16.
        let shares = (0...255).map { $0 > loss ? (($0 - loss) << 16) / $0 : 0 }
        return try Bitmap(size: bitmap.size, isOpaque: false) { output in
            bitmap.withPixels { pixels in
                for row in 0..<bitmap.height {
                    for x in 0..<bitmap.width {
                        let (source, target) = (row * bitmap.bytesPerRow + x * 4, (row * bitmap.width + x) * 4)
                        let alpha = Int(pixels[source + 3])
                        for channel in 0..<3 {
                            output[target + channel] = UInt8((Int(pixels[source + channel]) * shares[alpha]) >> 16)
                        }
                        output[target + 3] = UInt8(max(0, alpha - loss))
                    }
                }
            }
        }
    }

    /// The watermark at all of its places, cut off at the edges, and its own place; nil if nothing of it is inside.
    private func layer(
        of mark: Bitmap, on whole: PixelSize
    ) throws -> (bitmap: Bitmap, anchorX: Double, anchorY: Double)? {
        guard let firstX = lefts.first, let firstY = tops.first else { return nil }
        let isOne = lefts.count == 1 && tops.count == 1
        let (left, top) = isOne ? (max(0, firstX), max(0, firstY)) : (0, 0)
        let size = PixelSize(
            min(whole.width, isOne ? firstX + mark.width : whole.width) - left,
            min(whole.height, isOne ? firstY + mark.height : whole.height) - top)
        guard size.width > 0, size.height > 0 else { return nil }
        let bitmap = try Bitmap(size: size, isOpaque: false) { pixels in
            pixels.initializeMemory(as: UInt8.self, repeating: 0)
            for y in tops {
                for x in lefts { Self.copy(mark, to: pixels, of: size, x: x - left, y: y - top) }
            }
        }
        func anchor(_ place: Int, _ room: Int) -> Double { room > 0 ? Double(place) / Double(room) : 0 }
        return (bitmap, anchor(left, whole.width - size.width), anchor(top, whole.height - size.height))
    }

    /// Copies what is inside of a layer.
    private static func copy(
        _ mark: Bitmap, to pixels: UnsafeMutableRawBufferPointer, of size: PixelSize, x: Int, y: Int
    ) {
        let columns = max(0, -x)..<max(max(0, -x), min(mark.width, size.width - x))
        let rows = max(0, -y)..<max(max(0, -y), min(mark.height, size.height - y))
        guard !columns.isEmpty else { return }
        mark.withPixels { source in
            for row in rows {
                let start = ((y + row) * size.width + x + columns.lowerBound) * 4
                let from = row * mark.bytesPerRow + columns.lowerBound * 4
                UnsafeMutableRawBufferPointer(rebasing: pixels[start..<start + columns.count * 4])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[from..<from + columns.count * 4]))
            }
        }
    }
}
