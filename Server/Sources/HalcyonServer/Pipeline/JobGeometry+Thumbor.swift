import Halcyon
import ImageURLs

/// The rules of thumbor's URLs: the source is cut to the ratio of the size first, and what remains is stretched to whole pixels. A
/// ratio that differs by less than about 0.01 is not cut at all. Python rounds half to even.
extension JobGeometry {
    static func thumbor(_ job: ImageJob, source: PixelSize, trimmed: PixelRect?) -> JobGeometry {
        ThumborGeometry(job, source: source, trimmed: trimmed).result
    }
}

private struct ThumborGeometry {
    private let resize: ImageJob.Resize
    /// The part that trim and crop leave.
    private var part: PixelRect
    private let isCropped: Bool
    /// The corner of the part in what the trim leaves, where points of `focal` are counted.
    private let corner: (x: Int, y: Int)
    private var width: Int?
    private var height: Int?
    private(set) var result: JobGeometry

    init(_ job: ImageJob, source: PixelSize, trimmed: PixelRect?) {
        let left = trimmed ?? PixelRect(x: 0, y: 0, width: source.width, height: source.height)
        let crop = Self.crop(job, in: left)
        (resize, part, isCropped) = (job.resize, crop ?? left, crop != nil)
        corner = (part.x - left.x, part.y - left.y)
        result = JobGeometry(scaled: part.size)
        width = pixels(resize.width, of: source.width, original: part.size.width)
        height = pixels(resize.height, of: source.height, original: part.size.height)
        switch resize.mode {
        case .fit, .cover: fit()
        case .force: result.scaled = target
        default:
            let size = target
            cut(to: size, gravity: job.gravity)
            result.scaled = size
        }
        if resize.mode == .fit, resize.enlarge { upscale() }
        if part.size != source { result.part = part }
        (result.size, result.boxWidth, result.boxHeight) = (result.scaled, width, height)
    }

    private static func crop(_ job: ImageJob, in left: PixelRect) -> PixelRect? {
        guard case .box(let box)? = job.crop else { return nil }
        let (right, bottom) = (left.x + left.size.width, left.y + left.size.height)
        let (x, y) = (max(box.left, left.x), max(box.top, left.y))
        let (farX, farY) = (min(box.right, right), min(box.bottom, bottom))
        guard x < farX, y < farY else { return nil }
        return PixelRect(x: x, y: y, width: farX - x, height: farY - y)
    }

    /// The pixels of a side that was asked for; nil for one that follows.
    private func pixels(_ side: ImageJob.Resize.Side, of whole: Int, original: Int) -> Int? {
        switch side {
        case .unset, .follows, .pixels(...0): nil
        case .pixels(let count): resize.staysWithinSource ? min(count, whole) : count
        case .original: original
        }
    }

    /// The size that was asked for, with the side that follows.
    private var target: PixelSize {
        let (wide, high) = (Double(part.size.width), Double(part.size.height))
        switch (width, height) {
        case (nil, nil): return part.size
        case (nil, let height?): return PixelSize(Self.rounded(Double(height) * wide / high), height)
        case (let width?, nil): return PixelSize(width, Self.rounded(Double(width) * high / wide))
        case (let width?, let height?): return PixelSize(width, height)
        }
    }

    // MARK: - Modes

    /// Within the size, or around it.
    private mutating func fit() {
        let (wide, high) = (Double(part.size.width), Double(part.size.height))
        var box = target
        if resize.adaptive, (wide < high && box.width > box.height) || (wide > high && box.width < box.height) {
            box = box.transposed
            (width, height) = (height, width)
            // `orig` goes along, and is the side of its new axis for a canvas.
            if resize.height == .original { width = part.size.width }
            if resize.width == .original { height = part.size.height }
        }
        if resize.mode == .fit, box.width >= part.size.width, box.height >= part.size.height { return }
        let (across, down) = (wide / Double(box.width), high / Double(box.height))
        if resize.mode == .fit ? across >= down : across <= down {
            result.scaled = PixelSize(box.width, Self.rounded(high * Double(box.width) / wide + 1e-5))
        } else {
            result.scaled = PixelSize(Self.rounded(wide * Double(box.height) / high + 1e-5), box.height)
        }
        width = max(width ?? 0, result.scaled.width)
        height = max(height ?? 0, result.scaled.height)
    }

    /// Enlarges a picture that is smaller than both sides.
    private mutating func upscale() {
        let size = result.scaled
        guard let width, let height, size.width < width, size.height < height else { return }
        if Double(size.width) / Double(width) >= Double(size.height) / Double(height) {
            result.scaled = PixelSize(width, max(1, size.height * width / size.width))
        } else {
            result.scaled = PixelSize(max(1, size.width * height / size.height), height)
        }
    }

    /// Cuts the part to the ratio of a size.
    private mutating func cut(to size: PixelSize, gravity: ImageJob.Gravity) {
        let (wide, high) = (Double(part.size.width), Double(part.size.height))
        let (width, height) = (Double(size.width), Double(size.height))
        func ratio(_ width: Double, _ height: Double) -> Double { (width / height * 100).rounded(.toNearestOrEven) }
        guard ratio(wide, high) != ratio(width, height) else { return }
        var remaining = part.size
        if width / wide > height / high {
            remaining.height = min(Self.rounded(wide * height / width), part.size.height)
        } else {
            remaining.width = min(max(1, Int((width * high / height).rounded(.up))), part.size.width)
        }
        if gravity == .smart {
            result.chosen = remaining
            return
        }
        let focus = focus(gravity)
        func place(_ focus: Double, _ length: Int, _ whole: Int) -> Int {
            let place = min(max(focus - Double(length) / 2, 0), Double(whole - length))
            return Int(place.rounded(.toNearestOrEven))
        }
        part = PixelRect(
            x: part.x + place(focus.x, remaining.width, part.size.width),
            y: part.y + place(focus.y, remaining.height, part.size.height), width: remaining.width,
            height: remaining.height)
    }

    /// Returns the point that is to be in the middle, in pixels of the part.
    private func focus(_ gravity: ImageJob.Gravity) -> (x: Double, y: Double) {
        let (wide, high) = (Double(part.size.width), Double(part.size.height))
        switch gravity {
        case .compass(let compass, _, _):
            func place(_ edge: JobGeometry.Edge, _ side: Double) -> Double {
                edge == .near ? 0 : edge == .far ? side : (side / 2).rounded(.down)
            }
            return (place(compass.horizontal, wide), place(compass.vertical, high))
        case .focus(let x, let y): return ((x * wide).rounded(.down), (y * high).rounded(.down))
        case .regions(let boxes): return mean(of: boxes) ?? ((wide / 2).rounded(.down), (high / 2).rounded(.down))
        case .smart: return ((wide / 2).rounded(.down), (high / 2).rounded(.down))
        }
    }

    /// Returns the mean of the middles of boxes, weighted by their areas; those outside of a crop do not count.
    private func mean(of boxes: [ImageJob.Box]) -> (x: Double, y: Double)? {
        var (sumX, sumY, weights) = (0.0, 0.0, 0.0)
        for box in boxes {
            var (x, y) = (box.left + (box.right - box.left) / 2, box.top + (box.bottom - box.top) / 2)
            if isCropped {
                (x, y) = (x - corner.x, y - corner.y)
                guard (0...part.size.width).contains(x), (0...part.size.height).contains(y) else { continue }
            }
            let weight = Double(box.right - box.left) * Double(box.bottom - box.top)
            (sumX, sumY, weights) = (sumX + Double(x) * weight, sumY + Double(y) * weight, weights + weight)
        }
        guard weights > 0 else { return nil }
        return ((sumX / weights).rounded(.down), (sumY / weights).rounded(.down))
    }

    /// As Python rounds, at least one pixel.
    private static func rounded(_ length: Double) -> Int {
        Int(min(max(1, length.rounded(.toNearestOrEven)), 1e9))
    }
}
