import Testing

@testable import HalcyonCodecs

/// How often an incomplete header is tried.
@Suite struct HeaderPacingTests {
    @Test func eachPartUpTo64KiBIsTried() {
        var pacing = HeaderPacing()
        let counts = [0, 1, 1, 2, 65_534, 65_535, 65_535]
        #expect(counts.filter { pacing.isDue($0) } == counts)
    }

    /// Behind that, each time that it has grown by an eighth.
    @Test func aLongHeaderIsTriedSeldom() {
        var pacing = HeaderPacing()
        var tried: [Int] = []
        for count in [65_536, 65_537, 73_727, 73_728, 73_729, 82_943, 82_944] where pacing.isDue(count) {
            tried.append(count)
        }
        #expect(tried == [65_536, 73_728, 82_944])
    }
}
