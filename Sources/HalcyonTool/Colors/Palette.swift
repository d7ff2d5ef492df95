import Foundation
import Halcyon

/// The dominant colours of a picture, by k-means in OKLab over a histogram of its colours.
///
/// Equal pictures have equal palettes: the first centre is the most frequent colour, each further one the colour that adds most to
/// the squared distances, and no number is drawn at random. There are fewer colours than asked for if the picture has no more that
/// can be told apart. A pixel counts as much as it is opaque.
struct Palette: Sendable {
    struct Entry: Encodable, Sendable {
        /// `#rrggbb`.
        let color: String
        /// The share in percent, with two digits after the point.
        let percent: Double
    }

    /// The colours, the largest share first.
    let entries: [Entry]

    init(_ image: Image, count: Int) {
        let colors = Self.histogram(image)
        var centers = Self.firstCenters(colors, count: count)
        var groups = Self.groups(colors, centers)
        for _ in 0..<50 {
            let moved = groups.map(\.mean)
            if moved == centers { break }
            centers = moved
            groups = Self.groups(colors, centers)
        }
        let total = groups.reduce(0) { $0 + $1.weight }
        entries = groups.enumerated()
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
            .map { group in
                let percent = (group.element.weight / total * 10_000).rounded() / 100
                return Entry(color: group.element.mean.color.description, percent: percent)
            }
    }

    /// A sum of colours. Also a step of the histogram, whose colour is the average of its pixels.
    private struct Group {
        var weight = 0.0
        var lightness = 0.0
        var a = 0.0
        var b = 0.0

        var mean: OKLab { OKLab(lightness: lightness / weight, a: a / weight, b: b / weight) }

        mutating func add(_ color: OKLab, weight: Double) {
            self.weight += weight
            lightness += color.lightness * weight
            a += color.a * weight
            b += color.b * weight
        }
    }

    /// Two colours that are nearer than this look the same.
    private static let smallestDistance = 0.02

    /// The colours of the pixels in 32 steps a channel, each with the sum of the alphas of its pixels, in a fixed order.
    private static func histogram(_ image: Image) -> [(color: OKLab, weight: Double)] {
        var steps = [Group](repeating: Group(), count: 1 << 15)
        image.withPixels { bytes in
            var known: (bytes: UInt32, color: OKLab)?
            for offset in stride(from: 0, to: bytes.count, by: 4) where bytes[offset + 3] > 0 {
                let pixel = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let (alpha, color) = (Int(bytes[offset + 3]), Color(bytes, at: offset))
                func step(_ channel: Double) -> Int { Int(channel * 255 + 0.5) >> 3 }
                let index = step(color.red) << 10 | step(color.green) << 5 | step(color.blue)
                // Neighbours are often equal, and a conversion takes three cube roots.
                let lab = known.flatMap { $0.bytes == pixel ? $0.color : nil } ?? OKLab(color)
                known = (pixel, lab)
                steps[index].add(lab, weight: Double(alpha) / 255)
            }
        }
        return steps.filter { $0.weight > 0 }.map { ($0.mean, $0.weight) }
    }

    private static func firstCenters(_ colors: [(color: OKLab, weight: Double)], count: Int) -> [OKLab] {
        var distances = colors.map { _ in Double.infinity }
        var centers: [OKLab] = []
        // The first of equal ones.
        var next = colors.indices.max { colors[$0].weight < colors[$1].weight }
        while centers.count < count, let index = next {
            centers.append(colors[index].color)
            for (index, color) in colors.enumerated() {
                distances[index] = min(distances[index], color.color.distance(squaredTo: centers[centers.count - 1]))
            }
            let limit = smallestDistance * smallestDistance
            next = colors.indices.filter { distances[$0] > limit }.max {
                colors[$0].weight * distances[$0] < colors[$1].weight * distances[$1]
            }
        }
        return centers
    }

    /// Returns the colours by their nearest centres, without centres that have none.
    private static func groups(_ colors: [(color: OKLab, weight: Double)], _ centers: [OKLab]) -> [Group] {
        var groups = centers.map { _ in Group() }
        for (color, weight) in colors {
            var (nearest, least) = (0, Double.infinity)
            for (index, center) in centers.enumerated() {
                let distance = color.distance(squaredTo: center)
                if distance < least { (nearest, least) = (index, distance) }
            }
            groups[nearest].add(color, weight: weight)
        }
        return groups.filter { $0.weight > 0 }
    }
}

extension Color {
    /// The opaque colour of the premultiplied pixel at an offset.
    fileprivate init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let alpha = Double(bytes[offset + 3])
        func channel(_ index: Int) -> Double { min(1, Double(bytes[offset + index]) / alpha) }
        self.init(red: channel(2), green: channel(1), blue: channel(0))
    }
}
