import Halcyon
import ImageURLs

extension JobGeometry {
    /// The factors of a resize, and the size that is cut out of the result.
    struct Scale {
        private let mode: ImageJob.Resize.Mode
        /// Source pixels for each pixel of the result, on each axis.
        private var shrinkX = 1.0
        private var shrinkY = 1.0
        private(set) var ratio: Double
        /// The sides that were asked for, with their factors; nil for one that follows.
        let boxWidth: Int?
        let boxHeight: Int?

        init(_ resize: ImageJob.Resize, source: PixelSize, extends: Bool, isVector: Bool) {
            var (wide, high) = (
                Self.pixels(resize.width, of: source.width), Self.pixels(resize.height, of: source.height)
            )
            if resize.adaptive, let width = wide, let height = high,
                (width > height) != (source.width > source.height), width != height
            {
                (wide, high) = (high, wide)
            }
            let (width, height) = (Double(source.width), Double(source.height))
            let mode = Self.mode(
                resize.mode, source: source, width: wide ?? source.width, height: high ?? source.height)
            self.mode = mode
            var (x, y) = (wide.map { width / Double($0) } ?? 1, high.map { height / Double($0) } ?? 1)
            if mode != .force {
                switch (wide, high) {
                case (nil, nil): break
                case (nil, _): x = y
                case (_, nil): y = x
                case (_, _):
                    let both = mode == .fit ? max(x, y) : min(x, y)
                    (x, y) = (both, both)
                }
            }
            (x, y) = (x / resize.zoomX, y / resize.zoomY)
            var ratio = resize.dpr ?? 1
            if !resize.enlarge, !isVector {
                let least = min(x, y)
                if least < 1 { (x, y) = (x / least, y / least) }
                // A picture that is too small for the ratio has fewer device pixels, so that offsets and room fit to it.
                if !extends { ratio = min(ratio, max(min(x, y), 1)) }
                let reached = min(resize.dpr ?? 1, min(x, y))
                (x, y) = (x / reached, y / reached)
            } else {
                (x, y) = (x / ratio, y / ratio)
            }
            for (least, side, axis) in [(resize.minWidth, width, true), (resize.minHeight, height, false)]
            where least > 0 {
                let limit = side / (Double(least) * (axis ? resize.zoomX : resize.zoomY) * ratio)
                let now = axis ? x : y
                if limit < now { (x, y) = (x * limit / now, y * limit / now) }
            }
            (shrinkX, shrinkY, self.ratio) = (x, y, ratio)
            boxWidth = wide.map { Self.side(Double($0) * ratio * resize.zoomX) }
            boxHeight = high.map { Self.side(Double($0) * ratio * resize.zoomY) }
        }

        /// The size of the whole picture after the resize.
        func size(of source: PixelSize) -> PixelSize {
            PixelSize(
                Self.side(Double(source.width) / shrinkX), Self.side(Double(source.height) / shrinkY))
        }

        /// The size that remains of a picture after the resize; nil if nothing is cut off.
        func cut(of whole: PixelSize) -> PixelSize? {
            guard mode != .cover else { return nil }
            var target = PixelSize(boxWidth ?? whole.width, boxHeight ?? whole.height)
            if mode == .fillDown {
                let across = Double(target.width) / Double(whole.width)
                let down = Double(target.height) / Double(whole.height)
                if across > down, across > 1 {
                    target = PixelSize(whole.width, Self.side(Double(target.height) / across))
                } else if down > across, down > 1 {
                    target = PixelSize(Self.side(Double(target.width) / down), whole.height)
                }
            }
            return PixelSize(min(target.width, whole.width), min(target.height, whole.height))
        }

        private static func pixels(_ side: ImageJob.Resize.Side, of source: Int) -> Int? {
            switch side {
            case .unset, .follows, .pixels(...0): nil
            case .pixels(let count): count
            case .original: source
            }
        }

        private static func mode(
            _ mode: ImageJob.Resize.Mode, source: PixelSize, width: Int, height: Int
        ) -> ImageJob.Resize.Mode {
            guard mode == .auto else { return mode }
            let (isWide, wantsWide) = (source.width >= source.height, width >= height)
            return isWide == wantsWide ? .fill : .fit
        }

        private static func side(_ length: Double) -> Int {
            Int(min(max(1, length.rounded()), 1e9))
        }
    }
}
