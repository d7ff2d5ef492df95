import CCairo
import HalcyonImage
import HalcyonSystem

/// Cuts the corners of an image to circular arcs, with smooth edges; what is cut away becomes transparent.
public struct RoundCornersProcessor: ImageProcessor {
    /// Which corners.
    public struct Corners: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let topLeft = Corners(rawValue: 1)
        public static let topRight = Corners(rawValue: 2)
        public static let bottomRight = Corners(rawValue: 4)
        public static let bottomLeft = Corners(rawValue: 8)
        public static let all: Corners = [.topLeft, .topRight, .bottomRight, .bottomLeft]
    }

    /// Pixels; more than half of the shorter side is taken as half.
    public var radius: Double
    public var corners: Corners

    public init(radius: Double, corners: Corners = .all) {
        self.radius = radius
        self.corners = corners
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.round-corners", version: 2)
        key.encode(radius)
        key.encode(corners.rawValue)
    }

    /// - Throws: `ProcessingError.invalidArgument` where the radius is negative or no number, `.notApplicable` for an
    ///   image with a side above 32,766 pixels, which is where drawing with Cairo ends.
    public func process(_ image: Image, context: WorkContext) throws -> Image {
        guard radius.isFinite, radius >= 0 else {
            throw ProcessingError.invalidArgument(processor: "round", reason: "a radius of \(radius) pixels")
        }
        guard radius > 0, !corners.isEmpty else { return image }
        try context.checkCancellation()
        let radius = min(radius, Double(min(image.width, image.height)) / 2)
        let bitmap = try Bitmap(size: image.size, isOpaque: false) { output in
            output.initializeMemory(as: UInt8.self, repeating: 0)
            try image.bitmap.withPixels { input in
                let source = try CairoSurface(UnsafeMutableRawBufferPointer(mutating: input), size: image.size)
                let target = try CairoSurface(output, size: image.size)
                try target.draw { cairo in
                    // How far the lines that stand for an arc may lie from it: the default of 0.1 pixels shows as 10 % of
                    // an edge's coverage.
                    cairo_set_tolerance(cairo, 0.01)
                    trace(cairo, PixelSize(image.width, image.height), radius)
                    cairo_set_source_surface(cairo, source.pointer, 0, 0)
                    cairo_fill(cairo)
                }
            }
        }
        return image.replacing(bitmap)
    }

    private func trace(_ cairo: OpaquePointer, _ size: PixelSize, _ radius: Double) {
        let (width, height) = (Double(size.width), Double(size.height))
        // Clockwise from the top right; each corner is an arc about its centre, or the sharp point.
        let turns: [(Corners, x: Double, y: Double, start: Double)] = [
            (.topRight, width, 0, -Double.pi / 2), (.bottomRight, width, height, 0),
            (.bottomLeft, 0, height, Double.pi / 2), (.topLeft, 0, 0, Double.pi),
        ]
        cairo_new_path(cairo)
        for (corner, x, y, start) in turns {
            if corners.contains(corner) {
                let centreX = x == 0 ? radius : x - radius
                let centreY = y == 0 ? radius : y - radius
                cairo_arc(cairo, centreX, centreY, radius, start, start + .pi / 2)
            } else {
                cairo_line_to(cairo, x, y)
            }
        }
        cairo_close_path(cairo)
    }
}

extension ImageProcessor where Self == RoundCornersProcessor {
    /// Rounds the corners with a radius in pixels.
    public static func roundCorners(radius: Double, corners: RoundCornersProcessor.Corners = .all) -> Self {
        RoundCornersProcessor(radius: radius, corners: corners)
    }
}
