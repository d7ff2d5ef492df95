import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The facts about a drawing that decide how long it may take.
struct SVGWork {
    let size: PixelSize
    /// The number of elements and letters that are drawn.
    let elements: Int
    /// The number of fonts of the letters; 0 without any.
    var fonts = 0
    var hasFilters = false
    /// Whether a filter looks at an area around each pixel that grows with the drawing.
    var hasMorphology = false
    /// Whether elements may be drawn on surfaces of the size of the drawing.
    var hasLayers = false
    /// The number of points of the round ends of dashes, which small copies have few of: there, a dash is a point.
    var dashPoints = 0.0

    /// The most that an element takes for each pixel in seconds: a group that is blended, a primitive of a filter, or the
    /// fifth of a letter (measured with 2.54).
    private static let secondsOfPixel = 25e-9
    private static let secondsOfFilteredPixel = 10e-6
    private static let secondsOfLetterPixel = 0.4e-9

    init(size: PixelSize, elements: Int) { (self.size, self.elements) = (size, elements) }

    init(_ document: SVGDocument, _ cost: SVGCost, size: PixelSize) {
        self.init(size: size, elements: cost.drawn)
        fonts = cost.fonts
        hasMorphology = document.hasMorphology
        hasFilters = document.hasFilters || SVGStyleText.mayName(SVGStyleText.filters, in: document.styles)
        hasLayers = document.hasLayers || SVGStyleText.mayName(SVGStyleText.layers, in: document.styles)
    }

    /// The time in seconds if each element covered the whole drawing in the slowest way.
    var longest: Double { covered * (hasFilters ? Self.secondsOfFilteredPixel : Self.secondsOfPixel) }

    /// The time in seconds if each letter covered the whole drawing.
    var longestText: Double { fonts > 0 ? covered * Self.secondsOfLetterPixel : 0 }

    var secondsOfDashes: Double { dashPoints * SVGDashes.secondsOfPoint }

    private var covered: Double { Double(size.width) * Double(size.height) * Double(elements) }

    /// The power of the number of pixels by which the time may grow. The area that `feMorphology` looks at grows like the
    /// drawing, and a side of the one that a small blur looks at.
    var power: Double { hasMorphology ? 2 : hasFilters ? 1.5 : 1 }

    /// The factor by which the drawing may take longer than small copies tell. The C library gives surfaces of more than 32
    /// MiB back to the system at once, which clears each of their pages anew. Filters take their time elsewhere.
    var growth: Double { hasLayers && !hasFilters && size.area ?? .max > 8 << 20 ? 2.5 : 1 }

    /// Returns the part of the time that a copy takes.
    func share(of copy: PixelSize) -> Double {
        pow(Double(copy.width) / Double(size.width) * Double(copy.height) / Double(size.height), power)
    }
}

/// The time that a drawing and those inside of it may take together.
///
/// librsvg cannot be stopped while it draws, and only the geometry tells whether an element covers a pixel or all of
/// them. So a drawing that could take long is first drawn small: the time of small copies tells that of the whole,
/// since everything that `SVGCost` does not limit grows with the number of pixels. The copies have no text, whose fonts
/// take more time the smaller they are; if letters alone could take long, further copies have it.
final class SVGTime {
    /// The maximum time in seconds: less than workers have by default, more than any drawing takes that is made to be
    /// looked at.
    static let limit = 20.0
    /// Drawings that take less than this in any case, in seconds, are not tried.
    private static let longestUntried = 5.0
    /// The numbers by which the sides of small copies are divided.
    private static let divisors = [128, 64, 32, 16, 8, 4]
    /// The same for copies with text, and the seconds that they may take without any letter that covers much.
    private static let textCopies = [(divisor: 64, others: 1.0), (divisor: 16, others: 0.0)]
    /// The time in seconds that any copy may take.
    private static let longestCopy = 5.0
    /// The divisor of copies in which letters have hardly any pixels, and the fewest pixels of a side.
    private static let fontCopy = (divisor: 256, side: 4)
    /// The factor by which fonts may take longer in a copy than in a smaller one.
    private static let fontNoise = 1.6
    /// The maximum number of times that a copy with text is drawn, since noise may be the cause of a refusal.
    private static let attempts = 2

    private var left = limit
    private let measure: Measure

    /// Calls `body` and returns the seconds that it took.
    typealias Measure = (_ usesThreads: Bool, _ body: () throws -> Void) throws -> Double

    init(measure: @escaping Measure = SVGTime.measured) { self.measure = measure }

    /// Takes the time for a drawing from what is left.
    ///
    /// - Parameter draw: draws a copy of this size, with text or without.
    /// - Throws: `CodecError.limitExceeded` if the drawing would take longer than what is left; the errors of `draw`.
    func reserve(_ work: SVGWork, draw: (PixelSize, _ drawsText: Bool) throws -> Void) throws {
        var needed = max(work.longest, work.secondsOfDashes)
        if needed > min(left, Self.longestUntried) {
            needed = work.secondsOfDashes
            if needed <= left { needed += try forecast(work) { try draw($0, false) } * work.growth }
            let isTextLong = work.longestText > min(left, Self.longestUntried)
            if needed <= left, isTextLong { needed += try forecastText(work, draw) }
        }
        guard needed <= left else {
            throw CodecError.limitExceeded("seconds of drawing", value: Int(min(needed, 1e9)), limit: Int(Self.limit))
        }
        left -= needed
    }

    /// Returns the time that a drawing will take; from the largest copy that can be afforded if it is too long.
    private func forecast(_ work: SVGWork, _ draw: (PixelSize) throws -> Void) throws -> Double {
        var trials = SVGTrials()
        var copies = (Self.divisors + (work.hasFilters ? [2] : [])).map { Self.copy(of: work, divisor: $0) }[...]
        while let copy = copies.popFirst() {
            let share = work.share(of: copy)
            // A canvas of few pixels has no smaller copies.
            guard share > trials.share else { continue }
            trials.add(share: share, time: try measure(work.hasFilters) { try draw(copy) })
            if trials.forecast(1) * work.growth <= left { break }
            // Two copies tell the time of the elements from that of the pixels; a larger one is less influenced by chance.
            guard trials.count > 1 else { continue }
            let longest = max(2 * trials.time, Self.longestCopy)
            copies = copies[(copies.lastIndex { trials.forecast(work.share(of: $0)) <= longest } ?? copies.endIndex)...]
        }
        return trials.forecast(1)
    }

    /// Returns the time that letters take by their pixels.
    private func forecastText(_ work: SVGWork, _ draw: (PixelSize, Bool) throws -> Void) throws -> Double {
        func secondsOfText(_ copy: PixelSize) throws -> Double {
            let whole = try measure(work.hasFilters) { try draw(copy, true) }
            return try whole - measure(work.hasFilters) { try draw(copy, false) }
        }
        let smallest = Self.copy(of: work, divisor: Self.fontCopy.divisor, side: Self.fontCopy.side)
        var fonts = Double(work.fonts + 1) * SVGFonts.secondsInCopy + Double(work.elements) * 2e-6
        var forecast = 0.0
        for (divisor, unknown) in Self.textCopies {
            let copy = Self.copy(of: work, divisor: divisor)
            var text = Double.infinity
            func judge() { forecast = max(0, text - fonts - unknown) / work.share(of: copy) }
            for _ in 0..<Self.attempts {
                text = min(text, try secondsOfText(copy))
                judge()
                // A copy of nearly as many pixels would also tell of letters that cover much.
                guard forecast > left, work.share(of: smallest) * 4 <= work.share(of: copy) else { break }
                // Fonts take longer on a small machine, beside other threads, and in builds that check themselves.
                fonts = max(fonts, try secondsOfText(smallest) * Self.fontNoise)
                judge()
                if forecast <= left || text > Self.longestCopy { break }
            }
            if forecast > left { break }
        }
        return forecast
    }

    private static func copy(of work: SVGWork, divisor: Int, side: Int = 1) -> PixelSize {
        PixelSize(max(side, work.size.width / divisor), max(side, work.size.height / divisor))
    }

    /// Measures the processor time of this thread, which depends least on others. librsvg filters with threads of its own:
    /// the processor time of the process counts then, or the time that has passed if other work of the process exceeds it.
    static func measured(_ usesThreads: Bool, _ body: () throws -> Void) throws -> Double {
        func now() -> Duration { usesThreads ? ProcessorTime.ofProcess : ProcessorTime.ofThread }
        let (start, watch) = (now(), Stopwatch())
        try body()
        return min((now() - start).inSeconds, watch.elapsed.inSeconds)
    }
}

/// The times of small copies, the smallest first.
private struct SVGTrials {
    /// The part of the whole that the last copy is, and its time in seconds.
    private(set) var share = 0.0
    private(set) var time = 0.0
    private(set) var count = 0
    private var grown = (share: 0.0, time: 0.0)
    /// The part of a time by which it may be wrong.
    private static let error = 0.1

    mutating func add(share: Double, time: Double) {
        grown = (share - self.share, time - self.time)
        (self.share, self.time) = (share, time)
        count += 1
    }

    /// Returns the time of a copy that is this part of the whole.
    func forecast(_ share: Double) -> Double {
        guard grown.share > 0 else { return time }
        return time + max(grown.time, time * Self.error) / grown.share * (share - self.share)
    }
}
