import Glibc
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The facts about a drawing that decide how long it may take.
struct SVGWork {
    let size: PixelSize
    /// The number of elements and letters that are drawn.
    let elements: Int
    let hasFilters: Bool
    /// Whether a filter looks at an area around each pixel that grows with the drawing.
    let hasMorphology: Bool

    /// The most that an element takes for each pixel in seconds: a group that is blended, or a primitive of a filter
    /// (measured with 2.54).
    private static let secondsOfPixel = 25e-9
    private static let secondsOfFilteredPixel = 10e-6

    init(size: PixelSize, elements: Int, hasFilters: Bool = false, hasMorphology: Bool = false) {
        (self.size, self.elements) = (size, elements)
        (self.hasFilters, self.hasMorphology) = (hasFilters, hasMorphology)
    }

    init(_ document: SVGDocument, size: PixelSize, elements: Int) {
        let hasFilters = document.hasFilters || SVGStyleText.mayFilter(document.styles)
        self.init(size: size, elements: elements, hasFilters: hasFilters, hasMorphology: document.hasMorphology)
    }

    /// Returns the part of all pixels that a copy has.
    func share(of copy: PixelSize) -> Double {
        Double(copy.width) / Double(size.width) * Double(copy.height) / Double(size.height)
    }

    /// The time in seconds if each element covered the whole drawing in the slowest way.
    var longest: Double {
        let pixels = Double(size.width) * Double(size.height)
        return pixels * Double(elements) * (hasFilters ? Self.secondsOfFilteredPixel : Self.secondsOfPixel)
    }
}

/// The time that a drawing and those inside of it may take together.
///
/// librsvg cannot be stopped while it draws, and only the geometry tells whether an element covers a pixel or all of
/// them. So a drawing that could take long is first drawn small: the time of small copies tells that of the whole,
/// since everything that `SVGCost` does not limit grows with the number of pixels.
final class SVGTime {
    /// The maximum time in seconds: less than workers have by default, more than any drawing takes that is made to be
    /// looked at.
    static let limit = 20.0
    /// Drawings that take less than this in any case, in seconds, are not tried.
    private static let longestUntried = 5.0
    /// The numbers by which the sides of small copies are divided.
    private static let divisors = [128, 64, 32, 16, 8, 4]
    /// The time in seconds by which a copy may take longer than the one before it, if that took less.
    private static let longestStep = 1.0
    /// The time in seconds from which the first copy tells enough.
    private static let longestFirst = 4.0

    private var left = limit
    private let measure: Measure

    /// Calls `body` and returns the seconds that it took.
    typealias Measure = (_ usesThreads: Bool, _ body: () throws -> Void) throws -> Double

    init(measure: @escaping Measure = SVGTime.measured) { self.measure = measure }

    /// Takes the time for a drawing from what is left.
    ///
    /// - Parameter draw: draws a copy of this size.
    /// - Throws: `CodecError.limitExceeded` if the drawing would take longer than what is left; the errors of `draw`.
    func reserve(_ work: SVGWork, draw: (PixelSize) throws -> Void) throws {
        var needed = work.longest
        if needed > min(left, Self.longestUntried) { needed = try forecast(work, draw) }
        guard needed <= left else {
            throw CodecError.limitExceeded("seconds of drawing", value: Int(min(needed, 1e9)), limit: Int(Self.limit))
        }
        left -= needed
    }

    /// Returns the time that a drawing will take; from the largest copy that can be afforded if it is too long.
    private func forecast(_ work: SVGWork, _ draw: (PixelSize) throws -> Void) throws -> Double {
        var trials = SVGTrials(power: work.hasMorphology ? 1...2 : 1...1)
        var copies = Self.divisors.map { divisor in
            PixelSize(max(1, work.size.width / divisor), max(1, work.size.height / divisor))
        }[...]
        while let copy = copies.popFirst() {
            let share = work.share(of: copy)
            // A canvas of few pixels has no smaller copies.
            guard share > trials.share else { continue }
            trials.add(share: share, time: try measure(work.hasFilters) { try draw(copy) })
            if trials.forecast(1) <= left || trials.time > Self.longestFirst { break }
            // Two copies tell the time of the elements from that of the pixels; a larger one is less influenced by chance.
            let longest = trials.time + max(trials.time, Self.longestStep)
            guard trials.count > 1 else { continue }
            copies = copies[(copies.lastIndex { trials.forecast(work.share(of: $0)) <= longest } ?? copies.endIndex)...]
        }
        return trials.forecast(1)
    }

    /// Measures the processor time of this thread, which depends least on others. librsvg filters with threads of its own:
    /// the processor time of the process counts then, or the time that has passed if other work of the process exceeds it.
    static func measured(_ usesThreads: Bool, _ body: () throws -> Void) throws -> Double {
        let clock = usesThreads ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID
        let (start, watch) = (seconds(of: clock), Stopwatch())
        try body()
        return min(seconds(of: clock) - start, watch.elapsed.inSeconds)
    }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// The times of small copies, the smallest first.
private struct SVGTrials {
    /// The powers of the number of pixels by which the time may grow. One is assumed to be the largest as long as no
    /// copies tell which it is.
    let power: ClosedRange<Double>
    /// The part of all pixels that the last copy has, and its time in seconds.
    private(set) var share = 0.0
    private(set) var time = 0.0
    private(set) var count = 0
    private var grown = (share: 0.0, time: 0.0)
    private var fitted: Double
    /// The part of a time by which it may be wrong.
    private static let error = 0.1

    init(power: ClosedRange<Double>) {
        (self.power, fitted) = (power, power.upperBound)
    }

    mutating func add(share: Double, time: Double) {
        let before = grown
        grown = (share - self.share, time - self.time)
        if count > 1, before.time > 0, grown.time > 0 {
            let exponent = log(grown.time / before.time) / log(grown.share / before.share)
            fitted = min(max(exponent, power.lowerBound), power.upperBound)
        }
        (self.share, self.time) = (share, time)
        count += 1
    }

    /// Returns the time of a copy that has this part of all pixels.
    func forecast(_ share: Double) -> Double {
        let last = pow(self.share, fitted)
        let step = last - pow(self.share - grown.share, fitted)
        guard step > 0 else { return time }
        return time + max(grown.time, time * Self.error) / step * (pow(share, fitted) - last)
    }
}
