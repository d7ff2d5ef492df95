import Halcyon
import ImageURLs

/// The geometry of a job for a source of known size: the part that is used, the size that it is scaled to, the part that remains of
/// that, and the room around it. All of it is whole pixels, and follows from sizes alone.
///
/// The rules are imgproxy's: a crop before the resize, in the picture as it is turned and mirrored; a picture that is
/// not enlarged keeps its size and reduces the ratio of device pixels instead; fractions of an offset count against the
/// side of the picture that is cut; sides are rounded half up, places half to even. Those of thumbor's URLs are in
/// `JobGeometry+Thumbor.swift`.
struct JobGeometry: Hashable {
    /// The part of the upright source; nil is all of it.
    var part: PixelRect?
    /// The size of the part of that which its pixels choose; nil if sizes and places say all.
    var chosen: PixelSize?
    /// The size to scale to, before turns.
    var scaled: PixelSize
    /// The part that remains after the turns; nil is all of it.
    var cut: PixelRect?
    /// The size after the cut.
    var size: PixelSize
    /// The ratio of device pixels that was reached.
    var ratio: Double
    /// The sides that were asked for, with their factors; nil for one that follows.
    var boxWidth: Int?
    var boxHeight: Int?

    /// - Parameters:
    ///   - source: the size of the upright source.
    ///   - trimmed: the part of it without its border; nil is all of it.
    ///   - orientation: the orientation that was applied to the pixels of the file.
    ///   - isVector: whether the source has pixels of any size, so that it may always be enlarged.
    init(
        _ job: ImageJob, source: PixelSize, trimmed: PixelRect? = nil, orientation: Orientation = .up, isVector: Bool
    ) {
        if job.resize.rules == .thumbor {
            self = Self.thumbor(job, source: source, trimmed: trimmed)
            return
        }
        let (part, chosen) = Self.part(job, of: source, trimmed: trimmed, orientation)
        let used = chosen ?? part?.size ?? source
        let turns = job.quarterTurns % 2 != 0
        let upright = turns ? used.transposed : used
        let scale = Scale(job, source: upright, isVector: isVector)
        let whole = scale.scaled
        (self.part, scaled, size, ratio) = (part, turns ? whole.transposed : whole, whole, scale.ratio)
        (self.chosen, boxWidth, boxHeight) = (chosen, scale.boxWidth, scale.boxHeight)
        let target = scale.cut
        guard target != whole else { return }
        cut = Place(job.gravity, ratio: ratio).rect(of: target, in: whole)
        size = target
    }

    /// The geometry of a picture that is scaled to a size and no more.
    init(scaled: PixelSize) {
        (self.scaled, size, ratio) = (scaled, scaled, 1)
    }

    // MARK: - Parts

    /// Returns the part of the upright source that a crop leaves of what a trim left.
    private static func part(
        _ job: ImageJob, of source: PixelSize, trimmed: PixelRect?, _ orientation: Orientation
    ) -> (part: PixelRect?, chosen: PixelSize?) {
        guard case .area(let width, let height, let gravity)? = job.crop else { return (trimmed, nil) }
        let upright = trimmed?.size ?? source
        let whole = job.quarterTurns % 2 == 0 ? upright : upright.transposed
        let target = PixelSize(side(width, of: whole.width), side(height, of: whole.height))
        if target == whole { return (trimmed, nil) }
        if (gravity ?? job.gravity) == .smart {
            return (trimmed, job.quarterTurns % 2 == 0 ? target : target.transposed)
        }
        // Places are counted in the pixels of the file, where an axis may run the other way.
        let mirrors = orientation.mirrors(turnedBy: job.quarterTurns)
        let place = Place(
            gravity ?? job.gravity, ratio: 1, isMirroredX: mirrors.x != job.flip.horizontal,
            isMirroredY: mirrors.y != job.flip.vertical)
        var rect = place.rect(of: target, in: whole)
        if job.flip.horizontal { rect.x = whole.width - rect.x - target.width }
        if job.flip.vertical { rect.y = whole.height - rect.y - target.height }
        rect = rect.turned(back: job.quarterTurns, in: whole)
        rect.x += trimmed?.x ?? 0
        rect.y += trimmed?.y ?? 0
        return (rect, nil)
    }

    /// The pixels of a side; 0 is all of them.
    private static func side(_ length: ImageJob.Length, of whole: Int) -> Int {
        switch length {
        case .pixels(...0), .fraction(...0): whole
        case .pixels(let count): min(whole, max(1, Int(min(count, 1e9))))
        case .fraction(let fraction): min(whole, max(1, Int((min(fraction, 1) * Double(whole)).rounded())))
        }
    }
}

extension JobGeometry {
    /// The place of a picture in a larger one, or of a larger one behind a window.
    struct Place {
        private let gravity: ImageJob.Gravity
        private let ratio: Double
        private let isMirroredX: Bool
        private let isMirroredY: Bool

        /// - Parameters:
        ///   - ratio: device pixels in a pixel of an offset.
        ///   - isMirroredX: whether the middle is found from the far edge.
        init(_ gravity: ImageJob.Gravity, ratio: Double, isMirroredX: Bool = false, isMirroredY: Bool = false) {
            (self.gravity, self.ratio) = (gravity, ratio)
            (self.isMirroredX, self.isMirroredY) = (isMirroredX, isMirroredY)
        }

        /// Returns the place.
        ///
        /// - Parameter overflows: whether all but one pixel may lie outside.
        func rect(of target: PixelSize, in whole: PixelSize, overflows: Bool = false) -> PixelRect {
            var (x, y): (Double, Double)
            switch gravity {
            case .compass(let compass, let offsetX, let offsetY):
                x = place(compass.horizontal, target.width, in: whole.width, offsetX, isMirroredX)
                y = place(compass.vertical, target.height, in: whole.height, offsetY, isMirroredY)
            case .focus(let focusX, let focusY):
                x = place(focusX, target.width, in: whole.width, isMirroredX)
                y = place(focusY, target.height, in: whole.height, isMirroredY)
            // The pixels choose the place of the first, and the other is thumbor's.
            case .smart, .regions:
                x = place(.middle, target.width, in: whole.width, .zero, isMirroredX)
                y = place(.middle, target.height, in: whole.height, .zero, isMirroredY)
            }
            func limited(_ place: Double, _ length: Int, _ whole: Int) -> Int {
                let (least, most) = overflows ? (1 - length, whole - 1) : (0, max(0, whole - length))
                return Int(max(Double(least), min(place, Double(most))))
            }
            return PixelRect(
                x: limited(x, target.width, whole.width), y: limited(y, target.height, whole.height),
                width: target.width, height: target.height)
        }

        private func place(
            _ edge: Edge, _ length: Int, in whole: Int, _ offset: ImageJob.Length, _ isMirrored: Bool
        ) -> Double {
            let room = Double(whole - length)
            let distance = Self.offset(offset, of: whole, ratio)
            switch edge {
            case .near: return distance
            case .far: return room - distance
            case .middle:
                let middle = ((room + 1) / 2).rounded(.toNearestOrEven)
                return (isMirrored ? room - middle : middle) + distance
            }
        }

        private func place(_ focus: Double, _ length: Int, in whole: Int, _ isMirrored: Bool) -> Double {
            let point = (Double(whole) * (isMirrored ? 1 - focus : focus)).rounded(.toNearestOrEven)
            let place = point - Double(length / 2)
            return isMirrored ? Double(whole - length) - place : place
        }

        /// Returns an offset in device pixels.
        static func offset(_ length: ImageJob.Length, of side: Int, _ ratio: Double) -> Double {
            switch length {
            case .pixels(let count): (count * ratio).rounded(.toNearestOrEven)
            case .fraction(let fraction): (fraction * Double(side)).rounded(.toNearestOrEven)
            }
        }
    }

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

extension Orientation {
    /// Whether the axes of a picture that is turned behind this orientation run against those of the file's pixels.
    fileprivate func mirrors(turnedBy quarterTurns: Int) -> (x: Bool, y: Bool) {
        var (x, y) =
            switch self {
            case .up, .leftMirrored: (false, false)
            case .upMirrored, .right: (true, false)
            case .down, .rightMirrored: (true, true)
            case .downMirrored, .left: (false, true)
            }
        for _ in 0..<quarterTurns { (x, y) = (!y, x) }
        return (x, y)
    }
}

extension PixelRect {
    /// Returns the rectangle in a picture before its quarter turns clockwise.
    ///
    /// - Parameter whole: the size of the picture behind the turns.
    fileprivate func turned(back quarterTurns: Int, in whole: PixelSize) -> PixelRect {
        var (rect, whole) = (self, whole)
        for _ in 0..<quarterTurns {
            rect = PixelRect(
                x: rect.y, y: whole.width - rect.x - rect.size.width, width: rect.size.height, height: rect.size.width)
            whole = whole.transposed
        }
        return rect
    }
}
