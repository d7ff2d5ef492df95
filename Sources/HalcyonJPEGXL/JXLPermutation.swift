/// The order of the parts of a frame (ISO/IEC 18181-1, annexes C and F).
enum JXLPermutation {
    /// Reads the place of each of `count` parts.
    ///
    /// - Throws: `JXLEntropyReader.Invalid`.
    static func read(_ count: Int, _ reader: inout JXLBitReader) throws -> [Int] {
        func context(_ value: Int) -> Int { value == 0 ? 0 : min(7, Int.bitWidth - value.leadingZeroBitCount) }
        var numbers = try JXLEntropyReader(&reader, contexts: 8)
        let end = try numbers.next(context(count), &reader)
        guard end <= count else { throw JXLEntropyReader.Invalid() }
        var code: [Int] = []
        for index in 0..<end {
            let next = try numbers.next(context(code.last ?? 0), &reader)
            guard next + index < count else { throw JXLEntropyReader.Invalid() }
            code.append(next)
        }
        guard numbers.isAtEnd else { throw JXLEntropyReader.Invalid() }
        return order(of: code, count: count)
    }

    /// Returns the numbers below `count` in the order of a Lehmer code, each number of which says how many of those that are left are
    /// passed over; behind its end none. The code must be valid. Costs the logarithm for each number.
    static func order(of code: [Int], count: Int) -> [Int] {
        var size = 1
        while size < count { size *= 2 }
        // How many numbers are left in a range that ends at each place (a Fenwick tree).
        var left = (0...size).map { max(0, min($0, count) - ($0 - ($0 & -$0))) }
        return (0..<count).map { index in
            var (place, skipped, step) = (0, index < code.count ? code[index] : 0, size)
            while step > 0 {
                if place + step <= size, left[place + step] <= skipped {
                    place += step
                    skipped -= left[place]
                }
                step /= 2
            }
            var next = place + 1
            while next <= size {
                left[next] -= 1
                next += next & -next
            }
            return place
        }
    }
}
