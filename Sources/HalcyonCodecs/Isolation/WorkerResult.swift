import Foundation
import HalcyonImage

/// The result of a request, as a program takes it from the windows of a worker: the pixels, and the bytes behind them.
///
/// Each byte is copied once, and the copy is looked at, never the window: the worker may change that at any time.
struct WorkerResult {
    /// The most bytes behind the pixels, whatever the limits are: durations and a profile.
    static let mostExtraBytes = 64 << 20

    private let arena: WorkerArena
    /// The memory for the pixels, if parts may come before the answer.
    private let pixels: UnsafeMutableRawBufferPointer?
    /// The memory for the deep pixels, which come behind them; empty if there are none.
    private let deep: UnsafeMutableRawBufferPointer
    /// The most bytes behind the pixels that this question can have.
    private let mostExtras: Int
    /// Whether the bitmap is made in any case.
    private let isSure: Bool
    private var extras = Data()
    /// The bytes of `pixels` whose pages are mapped.
    private var preparedBytes = 0
    /// The number of parts that were taken.
    private(set) var parts = 0

    init(
        _ arena: WorkerArena, _ pixels: UnsafeMutableRawBufferPointer?, deep: UnsafeMutableRawBufferPointer?,
        of question: WorkerQuestion
    ) {
        (self.arena, self.pixels, self.deep) = (arena, pixels, deep ?? .init(start: nil, count: 0))
        (mostExtras, isSure) = (question.mostExtraBytes, question.work != .preview)
    }

    /// Whether parts may come before the answer.
    var isStreamed: Bool { pixels != nil }

    /// Whether there is a large bitmap with pages that are not mapped yet.
    var hasMoreToPrepare: Bool {
        guard let pixels else { return false }
        return isSure && pixels.count >= WorkerArena.windowBytes && preparedBytes < pixels.count
    }

    /// Has the system map some pages of a large bitmap, while the worker decodes.
    mutating func prepareMore() {
        guard let pixels, let base = pixels.baseAddress, preparedBytes < pixels.count else { return }
        let count = min(2 * WorkerArena.windowBytes, pixels.count - preparedBytes)
        // Bitmaps of this size begin at a page. A kernel before 5.14 refuses, which does no harm.
        madvise(base + preparedBytes, count, MADV_POPULATE_WRITE)
        preparedBytes += count
    }

    /// Takes a part, which fills its window.
    ///
    /// - Throws: `WireError` for another part than the next one, and for more bytes than there may be.
    mutating func take(_ part: Int) throws {
        guard let pixels, part == parts,
            (part + 1) * WorkerArena.windowBytes <= pixels.count + deep.count + mostExtras
        else { throw WireError.invalid("another part") }
        take(part * WorkerArena.windowBytes..<(part + 1) * WorkerArena.windowBytes, pixels, deep)
        parts += 1
    }

    /// Takes the rest, and returns the bytes behind the pixels.
    ///
    /// - Parameter deep: the memory for the deep pixels; nil if there are none.
    /// - Throws: `WireError` if the windows cannot hold it.
    mutating func finish(
        _ pixels: UnsafeMutableRawBufferPointer, deep: UnsafeMutableRawBufferPointer? = nil, extraBytes: Int
    ) throws -> Data {
        let deep = deep ?? UnsafeMutableRawBufferPointer(start: nil, count: 0)
        let start = parts * WorkerArena.windowBytes
        let end = pixels.count.adding(1, times: deep.count).adding(1, times: extraBytes)
        guard start <= end, end - start <= 2 * WorkerArena.windowBytes else {
            throw WireError.invalid("a result of another size")
        }
        while parts * WorkerArena.windowBytes < end {
            let part = parts * WorkerArena.windowBytes
            take(part..<min(part + WorkerArena.windowBytes, end), pixels, deep)
            parts += 1
        }
        return extras
    }

    /// Copies pixels of a result that is in the windows as a whole.
    ///
    /// - Throws: `WireError` if the windows cannot hold them.
    func copy(_ range: Range<Int>, to pixels: UnsafeMutableRawBufferPointer) throws {
        guard parts == 0, range.upperBound <= 2 * WorkerArena.windowBytes, range.count == pixels.count else {
            throw WireError.invalid("a result of another size")
        }
        // The second window follows the first one.
        pixels.copyMemory(from: UnsafeRawBufferPointer(start: arena.window(0) + range.lowerBound, count: range.count))
    }

    /// Copies the bytes of one window: those of the pixels to their places, the others behind the former ones.
    private mutating func take(
        _ range: Range<Int>, _ pixels: UnsafeMutableRawBufferPointer, _ deep: UnsafeMutableRawBufferPointer
    ) {
        let window = UnsafeRawBufferPointer(
            start: arena.window(range.lowerBound / WorkerArena.windowBytes), count: range.count)
        var (start, taken) = (0, 0)
        for target in [pixels, deep] {
            let own = range.clamped(to: start..<start + target.count)
            if !own.isEmpty {
                UnsafeMutableRawBufferPointer(rebasing: target[own.lowerBound - start..<own.upperBound - start])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: window[taken..<taken + own.count]))
            }
            taken += own.count
            start += target.count
        }
        if taken < range.count { extras.append(contentsOf: window[taken...]) }
    }
}
