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
    private(set) var size: PixelSize { didSet { sizes.append(size) } }
    /// All sizes that the picture has on the way, each of which is a bitmap.
    private(set) var sizes: [PixelSize] = []
    /// The pixels that the steps go through, each as often as the step's work is that of a copy.
    private(set) var cost = 0

    /// The passes of a blur, of the steps that begin with one, and of those that take as long.
    static let blurPasses = 4
    private static let waveletPasses = 3 * blurPasses

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
        guard watermark.opacity > 0, watermark.fade < 1 else { return }
        if watermark.fade > 0 { charge(picture.image.size.area ?? .max) }
        let placed = PlacedWatermark(watermark, picture, on: size, ratio: geometry.ratio)
        guard !placed.window.size.isEmpty else { throw ImageURLError.unsupported("watermark of tiles without a pixel") }
        // Only what is inside is drawn, but all of it is scaled.
        let limit = max(1 << 23, (size.area ?? 0).multipliedReportingOverflow(by: 16).partialValue)
        guard placed.size.area ?? .max <= limit, max(placed.size.width, placed.size.height) <= 65_535
        else { throw ImageURLError.unsupported("watermark of \(placed.size) pixels on \(size)") }
        processors.append(placed)
        charge(placed.size.area ?? .max)
        charge(min(placed.drawnPixels, size.area ?? .max))
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
    private mutating func canvas(_ asked: PixelSize, _ gravity: ImageJob.Gravity) {
        let whole = PixelSize(max(asked.width, size.width), max(asked.height, size.height))
        guard whole != size else { return }
        let place = JobGeometry.Place(gravity, ratio: geometry.ratio).rect(of: size, in: whole)
        processors.append(
            .pad(
                top: place.y, left: place.x, bottom: whole.height - place.y - size.height,
                right: whole.width - place.x - size.width, background: clear))
        size = whole
        chargeSize()
    }

    private mutating func extendRatio(_ gravity: ImageJob.Gravity) throws {
        if gravity == .smart { throw ImageURLError.unsupported("extend_aspect_ratio:sm") }
        guard let width = geometry.boxWidth, let height = geometry.boxHeight else { return }
        canvas(JobGeometry.Scale.canvas(around: size, ratioOf: PixelSize(width, height)), gravity)
    }

    private mutating func addPadding() {
        let room = job.padding.scaled(by: geometry.ratio)
        let (top, left, bottom, right) = (room.top, room.left, room.bottom, room.right)
        guard max(top, left, bottom, right) > 0 else { return }
        processors.append(.pad(top: top, left: left, bottom: bottom, right: right, background: clear))
        size = PixelSize(size.width + left + right, size.height + top + bottom)
        chargeSize()
    }

    // MARK: - Effects

    private mutating func add(_ effect: ImageJob.Effect) throws {
        switch effect {
        case .blur, .sharpen, .saturation: chargeSize(passes: Self.blurPasses)
        case .wavelet: chargeSize(passes: Self.waveletPasses)
        case .watermark, .fill, .scale: break
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
            processors.append(.blur(radius: radius.map { GaussCut.deviation(of: sigma, endingAt: $0) } ?? sigma))
        case .sharpen(let sigma): processors.append(.sharpen(amount: 1, radius: sigma))
        case .wavelet(let amount, let radius, let luminanceOnly):
            processors.append(WaveletSharpening(amount: amount, radius: radius, luminanceOnly: luminanceOnly))
        case .pixelate(let side): processors.append(.pixelate(side: side))
        case .brightness, .contrast, .saturation, .channels, .grayscale: processors.append(Self.colors(effect))
        case .roundedCorners(let x, let y, let color, let transparent):
            processors.append(EllipticCorners(x: x, y: y, color: transparent ? nil : color))
        case .watermark(let watermark): try add(watermark)
        case .fill(let fill, let behind):
            let canvas = PixelSize(geometry.boxWidth ?? size.width, geometry.boxHeight ?? size.height)
            if fill == .blurred { chargeSize(passes: Self.blurPasses) }
            processors.append(FilledCanvas(fill: fill, size: canvas, isBehind: behind))
            size = canvas
            chargeSize()
        case .background(let color): processors.append(.blend(.over, background: Self.color(color)))
        case .scale(let factor): scale(by: factor)
        }
    }

    private mutating func scale(by factor: Double) {
        let scaled = PixelSize(Int(Double(size.width) * factor), Int(Double(size.height) * factor))
        guard !scaled.isEmpty else { return }
        chargeSize(passes: 2)
        processors.append(.resize(to: scaled, mode: .stretch))
        size = scaled
    }

    /// ITU-R BT.601.
    private static let luminance = ColorMatrix.Row(0.299, 0.587, 0.114)

    private static func colors(_ effect: ImageJob.Effect) -> any ImageProcessor {
        switch effect {
        case .brightness(let percent): .colorControls(brightness: Double(percent) / 100)
        // thumbor's curve: the square of the factor that the percents are.
        case .contrast(let percent): .colorControls(contrast: pow(Double(percent + 100) / 100, 2))
        case .saturation(let factor): PerceivedSaturation(factor: factor)
        case .channels(let red, let green, let blue):
            .colorMatrix(
                ColorMatrix(
                    red: .init(1, 0, 0, bias: Double(red) / 100), green: .init(0, 1, 0, bias: Double(green) / 100),
                    blue: .init(0, 0, 1, bias: Double(blue) / 100)))
        default: .colorMatrix(ColorMatrix(red: luminance, green: luminance, blue: luminance))
        }
    }
}
