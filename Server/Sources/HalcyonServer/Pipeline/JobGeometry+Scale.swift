import Halcyon
import ImageURLs

extension JobGeometry {
    /// The factors of a resize by imgproxy's rules, and the sizes that follow from them.
    struct Scale {
        private let resize: ImageJob.Resize
        private let source: PixelSize
        private var factorX = 1.0
        private var factorY = 1.0
        private(set) var ratio: Double

        /// - Parameter source: the size of the part that is used, as it is turned.
        init(_ job: ImageJob, source: PixelSize, isVector: Bool) {
            (resize, self.source, ratio) = (job.resize, source, job.resize.dpr ?? 1)
            setFactors(extends: job.extend != nil, mayEnlarge: resize.enlarge || isVector)
            limit(job)
        }

        // MARK: - Factors

        private mutating func setFactors(extends: Bool, mayEnlarge: Bool) {
            let (width, height) = (Double(source.width), Double(source.height))
            var (x, y) = shrinks()
            if !mayEnlarge {
                let least = min(x, y)
                if least < 1 {
                    (x, y) = (x / least, y / least)
                    // The picture stays smaller than was asked for, so a ratio below 1 need not reduce it as much; the canvas of
                    // `extend` looks the same for each ratio.
                    if !extends { ratio /= least }
                }
                // A picture that is too small for the ratio has fewer device pixels, so that offsets and room fit to it.
                ratio = min(ratio, x, y)
            }
            if resize.minWidth > 0, width / Double(resize.minWidth) < x {
                (x, y) = (width / Double(resize.minWidth), y / (x / (width / Double(resize.minWidth))))
            }
            if resize.minHeight > 0, height / Double(resize.minHeight) < y {
                (x, y) = (x / (y / (height / Double(resize.minHeight))), height / Double(resize.minHeight))
            }
            (factorX, factorY) = (1 / min(x / ratio, width), 1 / min(y / ratio, height))
        }

        /// Pixels of the source for each pixel of the result, on each axis, before the ratio of device pixels.
        private func shrinks() -> (Double, Double) {
            let (wide, high) = (Self.pixels(resize.width), Self.pixels(resize.height))
            var x = wide.map { Double(source.width) / Double($0) } ?? 1
            var y = high.map { Double(source.height) / Double($0) } ?? 1
            let mode = mode(width: wide ?? source.width, height: high ?? source.height)
            switch (wide, high) {
            case _ where mode == .force, (nil, nil): break
            case (nil, _): x = y
            case (_, nil): y = x
            case (_, _):
                x = mode == .fit ? max(x, y) : min(x, y)
                y = x
            }
            return (x / resize.zoomX, y / resize.zoomY)
        }

        private func mode(width: Int, height: Int) -> ImageJob.Resize.Mode {
            guard resize.mode == .auto else { return resize.mode }
            return (source.width >= source.height) == (width >= height) ? .fill : .fit
        }

        /// Reduces all of it if the result would be longer than the job's limit.
        private mutating func limit(_ job: ImageJob) {
            guard let limit = job.limits.maxResultSide, limit > 0 else { return }
            var (wide, high) = (cut.width, cut.height)
            if job.extend != nil {
                (wide, high) = (max(wide, boxWidth ?? 0), max(high, boxHeight ?? 0))
            } else if job.extendAspectRatio != nil, let canvas = canvas(around: cut) {
                (wide, high) = (canvas.width, canvas.height)
            }
            let room = job.padding.scaled(by: ratio)
            let longest = max(wide + room.left + room.right, high + room.top + room.bottom)
            guard longest > limit else { return }
            let factor = Double(limit) / Double(longest)
            factorX = max(factorX * factor, 1 / Double(source.width))
            factorY = max(factorY * factor, 1 / Double(source.height))
            ratio *= factor
        }

        // MARK: - Sizes

        /// The sides that were asked for, with their factors; nil for one that follows.
        var boxWidth: Int? {
            Self.pixels(resize.width).map { Self.side(Double($0) * (ratio * resize.zoomX)) }
        }

        var boxHeight: Int? {
            Self.pixels(resize.height).map { Self.side(Double($0) * (ratio * resize.zoomY)) }
        }

        /// The size of the whole picture after the resize.
        var scaled: PixelSize {
            PixelSize(Self.side(Double(source.width) * factorX), Self.side(Double(source.height) * factorY))
        }

        /// The size that remains of the picture after the resize.
        var cut: PixelSize {
            let whole = scaled
            var (width, height) = (boxWidth ?? whole.width, boxHeight ?? whole.height)
            if resize.mode == .fillDown, !resize.enlarge, let boxWidth, let boxHeight {
                let across = Double(boxWidth) / Double(whole.width), down = Double(boxHeight) / Double(whole.height)
                if across > down, across > 1 {
                    (width, height) = (
                        whole.width, Self.side(Double(whole.width) * (Double(boxHeight) / Double(boxWidth)))
                    )
                } else if down > across, down > 1 {
                    (width, height) = (
                        Self.side(Double(whole.height) * (Double(boxWidth) / Double(boxHeight))), whole.height
                    )
                }
            }
            return PixelSize(min(width, whole.width), min(height, whole.height))
        }

        /// The canvas of the asked ratio around a picture; nil if a side follows.
        private func canvas(around size: PixelSize) -> PixelSize? {
            guard let boxWidth, let boxHeight else { return nil }
            return Self.canvas(around: size, ratioOf: PixelSize(boxWidth, boxHeight))
        }

        /// Returns the smallest canvas of the ratio of a box around a picture.
        static func canvas(around size: PixelSize, ratioOf box: PixelSize) -> PixelSize {
            let (wide, high) = (Double(box.width), Double(box.height))
            let across = wide / Double(size.width), down = high / Double(size.height)
            if down > across { return PixelSize(size.width, side(Double(size.width) * (high / wide))) }
            return across > down ? PixelSize(side(Double(size.height) * (wide / high)), size.height) : size
        }

        private static func pixels(_ side: ImageJob.Resize.Side) -> Int? {
            if case .pixels(let count) = side, count > 0 { count } else { nil }
        }

        /// A side in whole pixels, of which there is at least one.
        private static func side(_ length: Double) -> Int {
            Int(min(max(1, length.rounded()), 1e9))
        }
    }
}

extension ImageJob.Padding {
    /// The room in device pixels.
    func scaled(by ratio: Double) -> ImageJob.Padding {
        func pixels(_ count: Int) -> Int { Int((Double(count) * ratio).rounded(.toNearestOrEven)) }
        return ImageJob.Padding(top: pixels(top), right: pixels(right), bottom: pixels(bottom), left: pixels(left))
    }
}
