import HalcyonCodecs
import Foundation

/// The maximum length of the outline of a path, in its own units.
///
/// A curve is no longer than the lines that connect its control points, and an arc no longer than its ellipse
/// allows.
struct SVGOutline {
    private(set) var length = 0.0
    private var point = (x: 0.0, y: 0.0)
    private var start = (x: 0.0, y: 0.0)
    private var control = (x: 0.0, y: 0.0)

    /// Measures a path. The data ends where it cannot be read, as in librsvg.
    ///
    /// - Parameter data: the value of a `d` attribute.
    init(path data: some Collection<UInt8>) {
        var scanner = SVGScanner(data)
        while let letter = scanner.letter() {
            guard letter & 0xDF != UInt8(ascii: "Z") else {
                line(to: start)
                continue
            }
            var command = letter
            while add(command, &scanner) {
                // More points behind a move are lines.
                if command & 0xDF == UInt8(ascii: "M") { command -= 1 }
            }
        }
    }

    /// Measures a polygon.
    ///
    /// - Parameter data: the value of a `points` attribute.
    init(points data: some Collection<UInt8>) {
        var scanner = SVGScanner(data)
        if let x = scanner.number(), let y = scanner.number() { (point, start) = ((x, y), (x, y)) }
        while let x = scanner.number(), let y = scanner.number() { line(to: (x, y)) }
        line(to: start)
    }

    /// Reads the operands of a command once; returns false if they are missing.
    private mutating func add(_ command: UInt8, _ scanner: inout SVGScanner) -> Bool {
        let origin = command & 0x20 == 0 ? (x: 0.0, y: 0.0) : point
        func number() -> Double? { scanner.number(stopsAtLetters: true) }
        func pair() -> (x: Double, y: Double)? {
            guard let x = number(), let y = number() else { return nil }
            return (origin.x + x, origin.y + y)
        }
        switch command & 0xDF {
        case UInt8(ascii: "M"), UInt8(ascii: "L"):
            guard let end = pair() else { return false }
            if command & 0xDF == UInt8(ascii: "L") { line(to: end) } else { (point, start) = (end, end) }
            control = point
        case UInt8(ascii: "H"):
            guard let x = number() else { return false }
            line(to: (origin.x + x, point.y))
        case UInt8(ascii: "V"):
            guard let y = number() else { return false }
            line(to: (point.x, origin.y + y))
        case UInt8(ascii: "C"):
            guard let first = pair(), let second = pair(), let end = pair() else { return false }
            curve(first, second, end)
        case UInt8(ascii: "S"), UInt8(ascii: "Q"):
            guard let second = pair(), let end = pair() else { return false }
            curve(command & 0xDF == UInt8(ascii: "S") ? reflected : second, second, end)
        case UInt8(ascii: "T"):
            guard let end = pair() else { return false }
            curve(reflected, reflected, end)
        case UInt8(ascii: "A"):
            guard let rx = number(), let ry = number(), number() != nil, let isLarge = scanner.flag(),
                scanner.flag() != nil, let end = pair()
            else { return false }
            arc(abs(rx), abs(ry), isLarge: isLarge > 0, to: end)
        default: return false
        }
        return true
    }

    private var reflected: (x: Double, y: Double) { (2 * point.x - control.x, 2 * point.y - control.y) }

    private mutating func line(to end: (x: Double, y: Double)) {
        length += hypot(end.x - point.x, end.y - point.y)
        (point, control) = (end, end)
    }

    private mutating func curve(
        _ first: (x: Double, y: Double), _ second: (x: Double, y: Double), _ end: (x: Double, y: Double)
    ) {
        line(to: first)
        line(to: second)
        line(to: end)
        control = second
    }

    private mutating func arc(_ rx: Double, _ ry: Double, isLarge: Bool, to end: (x: Double, y: Double)) {
        let chord = hypot(end.x - point.x, end.y - point.y)
        line(to: end)
        guard rx > 0, ry > 0, chord > 0 else { return }
        // Radii that are too small are enlarged until the ellipse reaches both ends.
        let scale = max(1, chord / 2 * hypot(1 / rx, 1 / ry))
        let whole = 2 * .pi * scale * max(rx, ry)
        // A small arc of a circle is at most half of it.
        length += isLarge ? whole : min(whole, chord * .pi / 2 * max(rx / ry, ry / rx))
    }
}
