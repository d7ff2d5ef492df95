import Halcyon
import ImageURLs

/// The geometry of a job for a source of known size: the part that is used, the size that it is scaled to, the part that remains of
/// that, and the room around it. All of it is whole pixels, and follows from sizes alone.
///
/// The rules are those that imgproxy's documentation states: crop before the resize, a picture that is not enlarged keeps its size
/// and reduces the ratio of device pixels instead, fractions of an offset count against the side of the picture that is cut.
struct JobGeometry: Hashable {
    /// The part of the upright source; nil is all of it.
    private(set) var part: PixelRect?
    /// The size to scale to, before turns.
    private(set) var scaled: PixelSize
    /// The part that remains after the turns; nil is all of it.
    private(set) var cut: PixelRect?
    /// The size after the cut.
    private(set) var size: PixelSize
    /// The ratio of device pixels that was reached.
    private(set) var ratio: Double
    /// The sides that were asked for, with their factors; nil for one that follows.
    private(set) var boxWidth: Int?
    private(set) var boxHeight: Int?

    /// - Parameters:
    ///   - source: the size of the upright source.
    ///   - trimmed: the part of it without its border; nil is all of it.
    ///   - isVector: whether the source has pixels of any size, so that it may always be enlarged.
    init(_ job: ImageJob, source: PixelSize, trimmed: PixelRect? = nil, isVector: Bool) {
        part = Self.part(job, of: source, trimmed: trimmed)
        let used = part?.size ?? source
        let turns = job.quarterTurns % 2 != 0
        let upright = turns ? used.transposed : used
        let scale = Scale(job.resize, source: upright, extends: job.extend != nil, isVector: isVector)
        let turned = scale.size(of: upright)
        scaled = turns ? turned.transposed : turned
        (size, ratio) = (turned, scale.ratio)
        (boxWidth, boxHeight) = (scale.boxWidth, scale.boxHeight)
        guard let target = scale.cut(of: turned), target != turned else { return }
        cut = Self.place(job.gravity, target, in: turned, ratio: ratio, part: part, source: source, job: job)
        size = target
    }

    // MARK: - Parts

    private static func part(_ job: ImageJob, of source: PixelSize, trimmed: PixelRect?) -> PixelRect? {
        switch job.crop {
        case nil: return trimmed
        case .box(let box):
            let whole = trimmed ?? PixelRect(x: 0, y: 0, width: source.width, height: source.height)
            let left = max(min(box.left, box.right), whole.x), top = max(min(box.top, box.bottom), whole.y)
            let right = min(max(box.left, box.right), whole.x + whole.size.width)
            let bottom = min(max(box.top, box.bottom), whole.y + whole.size.height)
            guard left < right, top < bottom else { return trimmed }
            return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
        case .area(let width, let height, let gravity):
            let whole = trimmed?.size ?? source
            let target = PixelSize(side(width, of: whole.width), side(height, of: whole.height))
            if target == whole { return trimmed }
            var rect = place(gravity ?? job.gravity, target, in: whole, ratio: 1, part: trimmed, source: source)
            rect.x += trimmed?.x ?? 0
            rect.y += trimmed?.y ?? 0
            return rect
        }
    }

    /// The pixels of a side; 0 is all of them.
    private static func side(_ length: ImageJob.Length, of whole: Int) -> Int {
        let pixels: Double
        switch length {
        case .pixels(let count): pixels = count
        case .fraction(let fraction): pixels = fraction * Double(whole)
        }
        return pixels <= 0 ? whole : min(whole, max(1, Int(min(pixels, 1e9).rounded())))
    }

    /// Returns the place of a cut of a size in a larger picture.
    static func place(
        _ gravity: ImageJob.Gravity, _ target: PixelSize, in whole: PixelSize, ratio: Double, part: PixelRect? = nil,
        source: PixelSize? = nil, job: ImageJob? = nil
    ) -> PixelRect {
        let roomX = Double(whole.width - target.width)
        let roomY = Double(whole.height - target.height)
        var (x, y) = (((roomX + 1) / 2).rounded(.down), ((roomY + 1) / 2).rounded(.down))
        switch gravity {
        case .compass(let compass, let offsetX, let offsetY):
            let (dx, dy) = (
                offset(offsetX, of: whole.width, ratio), offset(offsetY, of: whole.height, ratio)
            )
            (x, y) = (
                place(compass.horizontal, middle: x, room: roomX, offset: dx),
                place(compass.vertical, middle: y, room: roomY, offset: dy)
            )
        case .focus(let focusX, let focusY):
            x = (focusX * Double(whole.width) - Double(target.width) / 2).rounded()
            y = (focusY * Double(whole.height) - Double(target.height) / 2).rounded()
        case .regions(let boxes):
            let source = source ?? whole
            let used = part ?? PixelRect(x: 0, y: 0, width: source.width, height: source.height)
            if let (focusX, focusY) = focus(boxes, part: used, job: job) {
                x = (focusX * Double(whole.width) - Double(target.width) / 2).rounded()
                y = (focusY * Double(whole.height) - Double(target.height) / 2).rounded()
            }
        // The plan refuses it before.
        case .smart: break
        }
        return PixelRect(
            x: Int(min(max(x, 0), roomX)), y: Int(min(max(y, 0), roomY)), width: target.width, height: target.height)
    }

    private static func place(_ edge: Edge, middle: Double, room: Double, offset: Double) -> Double {
        switch edge {
        case .near: offset
        case .middle: middle + offset
        case .far: room - offset
        }
    }

    private static func offset(_ length: ImageJob.Length, of side: Int, _ ratio: Double) -> Double {
        switch length {
        case .pixels(let count): (count * ratio).rounded()
        case .fraction(let fraction): (fraction * Double(side)).rounded()
        }
    }

    /// The mean of the middles of some boxes, weighted by their areas, as parts of the upright picture's sides.
    private static func focus(
        _ boxes: [ImageJob.Box], part: PixelRect, job: ImageJob?
    ) -> (x: Double, y: Double)? {
        var (sumX, sumY, weights) = (0.0, 0.0, 0.0)
        for box in boxes {
            let left = max(box.left, part.x), right = min(box.right, part.x + part.size.width)
            let top = max(box.top, part.y), bottom = min(box.bottom, part.y + part.size.height)
            guard left < right, top < bottom else { continue }
            let weight = Double(right - left) * Double(bottom - top)
            sumX += weight * (Double(left + right) / 2 - Double(part.x)) / Double(part.size.width)
            sumY += weight * (Double(top + bottom) / 2 - Double(part.y)) / Double(part.size.height)
            weights += weight
        }
        guard weights > 0 else { return nil }
        var (x, y) = (sumX / weights, sumY / weights)
        for _ in 0..<(job?.quarterTurns ?? 0) { (x, y) = (1 - y, x) }
        if job?.flip.horizontal == true { x = 1 - x }
        if job?.flip.vertical == true { y = 1 - y }
        return (x, y)
    }
}

extension JobGeometry {
    /// The edge of one axis that a place is counted from.
    enum Edge {
        case near, middle, far
    }
}

extension ImageJob.Compass {
    var horizontal: JobGeometry.Edge {
        switch self {
        case .left, .topLeft, .bottomLeft: .near
        case .right, .topRight, .bottomRight: .far
        case .center, .top, .bottom: .middle
        }
    }

    var vertical: JobGeometry.Edge {
        switch self {
        case .top, .topLeft, .topRight: .near
        case .bottom, .bottomLeft, .bottomRight: .far
        case .center, .left, .right: .middle
        }
    }
}
