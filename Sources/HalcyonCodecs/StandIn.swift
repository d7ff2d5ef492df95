import HalcyonImage
import HalcyonSystem

// Stands in for HalcyonImage's own resampling and turning until they are merged; slow.
extension Bitmap {
    func standInResampled(_ geometry: ResizeGeometry, context: WorkContext) throws -> Bitmap {
        try Bitmap(size: geometry.size, isOpaque: isOpaque) { out in
            let (scaleX, scaleY) = (
                geometry.sourceWidth / Double(geometry.size.width), geometry.sourceHeight / Double(geometry.size.height)
            )
            withPixels { source in
                for y in 0..<geometry.size.height {
                    for x in 0..<geometry.size.width {
                        let x0 = geometry.sourceX + Double(x) * scaleX
                        let y0 = geometry.sourceY + Double(y) * scaleY
                        Self.average(source, size, (x0, y0, x0 + scaleX, y0 + scaleY)) { channel, value in
                            out[(y * geometry.size.width + x) * 4 + channel] = value
                        }
                    }
                }
            }
        }
    }

    private static func average(
        _ source: UnsafeRawBufferPointer, _ size: PixelSize, _ box: (Double, Double, Double, Double),
        _ store: (Int, UInt8) -> Void
    ) {
        var sums = (0..<4).map { _ in 0.0 }
        var weights = 0.0
        for row in max(0, Int(box.1))..<max(max(0, Int(box.1)) + 1, min(size.height, Int(box.3.rounded(.up)))) {
            let weightY = max(1e-6, min(box.3, Double(row + 1)) - max(box.1, Double(row)))
            for column in max(0, Int(box.0))..<max(max(0, Int(box.0)) + 1, min(size.width, Int(box.2.rounded(.up)))) {
                let weight = weightY * max(1e-6, min(box.2, Double(column + 1)) - max(box.0, Double(column)))
                let offset = (min(row, size.height - 1) * size.width + min(column, size.width - 1)) * 4
                for channel in 0..<4 { sums[channel] += weight * Double(source[offset + channel]) }
                weights += weight
            }
        }
        for channel in 0..<4 { store(channel, UInt8(max(0, min(255, (sums[channel] / weights).rounded())))) }
    }

    func standInOriented(_ orientation: Orientation) throws -> Bitmap {
        let target = orientation.applied(to: size)
        let (width, height) = (size.width, size.height)
        return try Bitmap(size: target, isOpaque: isOpaque) { out in
            withPixels { source in
                for y in 0..<target.height {
                    for x in 0..<target.width {
                        let (sx, sy) =
                            switch orientation {
                            case .up: (x, y)
                            case .upMirrored: (width - 1 - x, y)
                            case .down: (width - 1 - x, height - 1 - y)
                            case .downMirrored: (x, height - 1 - y)
                            case .leftMirrored: (y, x)
                            case .right: (y, height - 1 - x)
                            case .rightMirrored: (width - 1 - y, height - 1 - x)
                            case .left: (width - 1 - y, x)
                            }
                        for channel in 0..<4 {
                            out[(y * target.width + x) * 4 + channel] = source[(sy * width + sx) * 4 + channel]
                        }
                    }
                }
            }
        }
    }
}
