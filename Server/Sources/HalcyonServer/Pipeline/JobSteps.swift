import Foundation
import Halcyon
import ImageURLs

/// The processors of a job behind its cut, with the size that the picture has after each.
struct JobSteps {
    let job: ImageJob
    let geometry: JobGeometry
    /// The pictures that the job lays on others.
    let watermarks: [ImageJob.Watermark.Picture: WatermarkPicture]
    private(set) var processors: [any ImageProcessor] = []
    private(set) var size: PixelSize
    /// The pixels that the steps go through, each as often as the step's work is that of a copy.
    private(set) var cost = 0

    /// The passes of a blur, and of the steps that begin with one.
    private static let blurPasses = 4

    init(
        job: ImageJob, geometry: JobGeometry, watermarks: [ImageJob.Watermark.Picture: WatermarkPicture] = [:]
    ) {
        (self.job, self.geometry, self.watermarks, size) = (job, geometry, watermarks, geometry.size)
    }

    /// - Throws: `ImageURLError.unsupported` with the option's name.
    mutating func addAll() throws {
        for effect in job.effects { try add(effect) }
        if let gravity = job.extend, gravity != .smart {
            canvas(PixelSize(geometry.boxWidth ?? 0, geometry.boxHeight ?? 0), gravity)
        } else if job.extend != nil {
            throw ImageURLError.unsupported("extend:sm")
        }
        if let gravity = job.extendAspectRatio { try extendRatio(gravity) }
        addPadding()
        if let color = job.background {
            processors.append(.blend(.over, background: Self.color(color)))
            chargeSize()
        }
        if let watermark = job.watermark { try add(watermark) }
    }

    private mutating func add(_ watermark: ImageJob.Watermark) throws {
        guard let picture = watermarks[watermark.picture] else { throw ImageURLError.unsupported("watermark") }
        guard watermark.opacity > 0 else { return }
        let placed = PlacedWatermark(watermark, picture, on: size, ratio: geometry.ratio)
        // Tiles with a gap below zero lie on each other, and their number is that of the pixels in the end.
        guard placed.drawnPixels / 16 <= size.area ?? .max else {
            throw ImageURLError.unsupported("watermark with tiles on each other")
        }
        processors.append(placed)
        charge(placed.drawnPixels)
        chargeSize()
    }

    /// Counts passes over the picture as it is now.
    private mutating func chargeSize(passes: Int = 1) {
        let (pixels, overflows) = (size.area ?? .max).multipliedReportingOverflow(by: passes)
        charge(overflows ? .max : pixels)
    }

    private mutating func charge(_ pixels: Int) {
        let (sum, overflows) = cost.addingReportingOverflow(pixels)
        cost = overflows ? .max : sum
    }

    private var clear: Color { job.background.map(Self.color) ?? .clear }

    private static func color(_ color: ImageJob.Color) -> Color {
        Color(red: Double(color.red) / 255, green: Double(color.green) / 255, blue: Double(color.blue) / 255)
    }

    // MARK: - Canvas

    /// Places the picture on a canvas; a side that is not longer than the picture's stays.
    private mutating func canvas(_ asked: PixelSize, _ gravity: ImageJob.Gravity, background: Color? = nil) {
        let whole = PixelSize(max(asked.width, size.width), max(asked.height, size.height))
        guard whole != size else { return }
        let place = JobGeometry.place(gravity, size, in: whole, ratio: geometry.ratio)
        processors.append(
            .pad(
                top: place.y, left: place.x, bottom: whole.height - place.y - size.height,
                right: whole.width - place.x - size.width, background: background ?? clear))
        size = whole
        chargeSize()
    }

    private mutating func extendRatio(_ gravity: ImageJob.Gravity) throws {
        if gravity == .smart { throw ImageURLError.unsupported("extend_aspect_ratio:sm") }
        guard let width = geometry.boxWidth, let height = geometry.boxHeight else { return }
        let ratio = Double(width) / Double(height)
        let (wide, high) = (Double(size.width), Double(size.height))
        let asked =
            ratio > wide / high
            ? PixelSize(Int((high * ratio).rounded()), size.height)
            : PixelSize(size.width, Int((wide / ratio).rounded()))
        canvas(asked, gravity)
    }

    private mutating func addPadding() {
        func scaled(_ pixels: Int) -> Int { Int((Double(pixels) * geometry.ratio).rounded()) }
        let padding = job.padding
        let (top, left) = (scaled(padding.top), scaled(padding.left))
        let (bottom, right) = (scaled(padding.bottom), scaled(padding.right))
        guard max(top, left, bottom, right) > 0 else { return }
        processors.append(.pad(top: top, left: left, bottom: bottom, right: right, background: clear))
        size = PixelSize(size.width + left + right, size.height + top + bottom)
        chargeSize()
    }

    // MARK: - Effects

    private mutating func add(_ effect: ImageJob.Effect) throws {
        switch effect {
        case .blur, .sharpen, .unsharp: chargeSize(passes: Self.blurPasses)
        case .watermark, .fill: break
        default: chargeSize()
        }
        switch effect {
        case .flip(let flip):
            if flip.horizontal { processors.append(.flip(.horizontal)) }
            if flip.vertical { processors.append(.flip(.vertical)) }
        case .rotate(let turns):
            processors.append(.rotate(degrees: Double(turns * 90)))
            if turns % 2 != 0 { size = size.transposed }
        case .blur(let sigma, let radius):
            processors.append(.blur(radius: radius.map { Self.deviation(of: sigma, endingAt: $0) } ?? sigma))
        case .sharpen(let sigma): processors.append(.sharpen(amount: 1, radius: sigma))
        case .unsharp(let amount, let radius, luminanceOnly: true):
            processors.append(LuminanceSharpening(amount: amount, radius: radius))
        case .unsharp(let amount, let radius, luminanceOnly: false):
            processors.append(.sharpen(amount: amount, radius: radius))
        case .pixelate(let side): processors.append(.pixelate(side: side))
        case .brightness, .contrast, .saturation, .channels, .grayscale: processors.append(Self.colors(effect))
        case .roundedCorners(let x, let y, let color, let transparent):
            guard x == y else { throw ImageURLError.unsupported("round_corner of an ellipse") }
            let background = transparent ? Color.clear : Self.color(color)
            processors.append(.roundCorners(.pixels(Double(x)), background: background))
        case .watermark(let watermark): try add(watermark)
        case .fill(let fill, let behind): try add(fill, behindTransparency: behind)
        }
    }

    private mutating func add(_ fill: ImageJob.Fill, behindTransparency: Bool) throws {
        let color: Color
        switch fill {
        case .color(let asked): color = Self.color(asked)
        case .transparent: color = .clear
        case .median: throw ImageURLError.unsupported("fill(auto)")
        case .blurred: throw ImageURLError.unsupported("fill(blur)")
        }
        canvas(PixelSize(geometry.boxWidth ?? 0, geometry.boxHeight ?? 0), .center, background: color)
        if behindTransparency { processors.append(.blend(.over, background: color)) }
    }

    private static func colors(_ effect: ImageJob.Effect) -> any ImageProcessor {
        switch effect {
        case .brightness(let percent): .colorControls(brightness: Double(percent) / 100)
        // thumbor's curve: the square of the factor that the percents are.
        case .contrast(let percent): .colorControls(contrast: pow(Double(percent + 100) / 100, 2))
        case .saturation(let factor): .colorControls(saturation: factor)
        case .channels(let red, let green, let blue):
            .colorMatrix(
                ColorMatrix(
                    red: .init(1, 0, 0, bias: Double(red) / 100), green: .init(0, 1, 0, bias: Double(green) / 100),
                    blue: .init(0, 0, 1, bias: Double(blue) / 100)))
        default: .colorControls(saturation: 0)
        }
    }

    /// The standard deviation of Gauss's curve that is cut off at a distance: a whole curve with the same one looks the same.
    private static func deviation(of sigma: Double, endingAt radius: Int) -> Double {
        guard sigma > 0, radius > 0 else { return 0 }
        let radius = min(radius, 1000)
        var (sum, weights) = (0.0, 0.0)
        for distance in -radius...radius {
            let weight = exp(-Double(distance * distance) / (2 * sigma * sigma))
            sum += weight * Double(distance * distance)
            weights += weight
        }
        return (sum / weights).squareRoot()
    }
}
