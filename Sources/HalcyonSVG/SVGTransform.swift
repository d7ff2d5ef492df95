import Foundation

/// The functions of a `transform`, whose order does not matter to how much they enlarge.
struct SVGTransform {
    private let functions: [(name: String, numbers: [Double])]

    init(_ text: some Collection<UInt8>) {
        functions = text.split(separator: UInt8(ascii: ")")).map { function in
            var (scanner, numbers) = (SVGScanner(function), [Double]())
            while let number = scanner.number() { numbers.append(number) }
            // With all that a comment may hide.
            return (String(decoding: function, as: UTF8.self).lowercased(), numbers)
        }
    }

    /// The factor by which it enlarges the longer side of a square.
    var enlargement: Double {
        functions.reduce(1) { scale, function in
            let numbers = function.numbers
            if function.name.contains("matrix"), numbers.count == 6 {
                return scale * max(hypot(numbers[0], numbers[1]), hypot(numbers[2], numbers[3]))
            }
            return function.name.contains("scale") ? scale * (numbers.map(abs).max() ?? 1) : scale
        }
    }

    /// The most by which it makes outlines longer; 1 if it makes them shorter.
    var lengthening: Double {
        functions.reduce(1) { scale, function in
            let numbers = function.numbers.map(abs)
            if function.name.contains("matrix") { return scale * max(1, numbers.prefix(4).reduce(0, +)) }
            if function.name.contains("skew") { return scale * (1 + abs(tan((numbers.first ?? 0) * .pi / 180))) }
            return function.name.contains("scale") ? scale * max(1, numbers.max() ?? 1) : scale
        }
    }

    /// The square root of the factor by which areas grow, in ten thousandths; nil for one. Moving and turning need no other size of
    /// a font, and sizes that differ by less share most of the work.
    var fontScale: Int? {
        let area = functions.reduce(1) { area, function in
            let numbers = function.numbers
            if function.name.contains("matrix"), numbers.count > 3 {
                return area * (numbers[0] * numbers[3] - numbers[1] * numbers[2])
            }
            guard function.name.contains("scale"), let first = numbers.first else { return area }
            return area * first * (numbers.count > 1 ? numbers[1] : first)
        }
        let scale = abs(area).squareRoot() * 10_000
        let rounded = scale.isFinite ? Int(min(scale, 1e12).rounded()) : .max
        return rounded == 10_000 ? nil : rounded
    }

    /// Whether it does more than to move.
    var turns: Bool {
        functions.contains { function in
            let name = function.name.drop { !$0.isLetter }.prefix { $0.isLetter }
            return !name.isEmpty && name != "translate"
        }
    }
}
