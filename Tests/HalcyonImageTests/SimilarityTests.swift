import HalcyonImage
import HalcyonSystem
import Testing

/// The score of two pictures.
@Suite struct SimilarityTests {
    typealias Colour = (red: Int, green: Int, blue: Int)

    private func picture(_ size: PixelSize, _ color: (Int, Int) -> Colour) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: true) { output in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (red, green, blue) = color(x, y)
                    for (index, value) in [blue, green, red, 255].enumerated() {
                        output[(y * size.width + x) * 4 + index] = UInt8(min(255, max(0, value)))
                    }
                }
            }
        }
    }

    private func plain(_ x: Int, _ y: Int) -> Colour {
        ((x * x / 37 + y * 3) % 256, (x * y / 11) % 256, (x * 5 + y * y / 29) % 256)
    }

    private func noisy(_ x: Int, _ y: Int) -> Colour {
        let (red, green, blue) = plain(x, y)
        let noise = (x * 31 + y * 17) % 13 - 6
        return (red + noise, green + noise, blue - noise)
    }

    private func tinted(_ x: Int, _ y: Int) -> Colour {
        let (red, green, blue) = plain(x, y)
        return (red, (green + red) / 2, blue)
    }

    /// The values are those of the same formulas in NumPy, with double precision.
    @Test(arguments: [
        (PixelSize(1, 1), 18.3534, 100.0), (PixelSize(5, 3), 48.9153, 40.416), (PixelSize(13, 16), 37.4122, 33.9271),
        (PixelSize(33, 17), 70.281, 55.5313), (PixelSize(130, 97), 91.566, 9.2726),
        (PixelSize(257, 190), 94.3668, 0.8271),
    ])
    func theScoreIsThatOfAnotherImplementation(_ size: PixelSize, _ noise: Double, _ tint: Double) throws {
        let source = try picture(size, plain)
        for (copy, expected) in [(try picture(size, noisy), noise), (try picture(size, tinted), tint)] {
            let score = try #require(try source.similarity(to: copy))
            #expect(abs(score - expected) < 0.01, "\(score), and not \(expected)")
            #expect(try copy.similarity(to: source) == score)
            #expect(try copy.similarity(to: copy) == 100)
        }
    }

    @Test func picturesOfTwoSizesHaveNoScore() throws {
        let source = try picture(PixelSize(20, 10), plain)
        #expect(try source.similarity(to: try picture(PixelSize(10, 20), plain)) == nil)
        #expect(try source.similarity(to: try picture(PixelSize(20, 11), plain)) == nil)
    }

    @Test func moreNoiseScoresLess() throws {
        let size = PixelSize(90, 70)
        let source = try picture(size, plain)
        var last = 100.0
        for strength in 1...12 {
            let copy = try picture(size) { x, y in
                let (red, green, blue) = plain(x, y)
                let noise = ((x * 31 + y * 17) % 13 - 6) * strength
                return (red + noise, green + noise, blue + noise)
            }
            let score = try #require(try source.similarity(to: copy))
            #expect(score < last, "\(strength)")
            last = score
        }
        #expect(last < 60)
    }

    @Test func theWorstIsZero() throws {
        let checks = try picture(PixelSize(64, 64)) { x, y in (x + y) % 2 == 0 ? (255, 255, 255) : (0, 0, 0) }
        let opposite = try picture(PixelSize(64, 64)) { x, y in (x + y) % 2 == 1 ? (255, 255, 255) : (0, 0, 0) }
        #expect(try checks.similarity(to: opposite) == 0)
    }

    /// White dots on nothing, which no one sees over white, and black ones, which no one sees over black.
    @Test(arguments: [0, 255]) func whatIsSeenOverOneGroundOnlyCounts(_ shade: UInt8) throws {
        func dots(_ isDotted: Bool) throws -> Bitmap {
            try Bitmap(size: PixelSize(32, 32), isOpaque: false) { output in
                for index in 0..<32 * 32 {
                    let isDot = isDotted && index % 5 == 0
                    for channel in 0..<3 { output[index * 4 + channel] = isDot ? shade : 0 }
                    output[index * 4 + 3] = isDot ? 255 : 0
                }
            }
        }
        let score = try #require(try dots(true).similarity(to: try dots(false)))
        #expect(score < 50)
        #expect(try dots(true).similarity(to: try dots(true)) == 100)
    }

    @Test(arguments: [PixelSize(3000, 1), PixelSize(1, 3000), PixelSize(9, 700)]) func longPictures(_ size: PixelSize)
        throws
    {
        let source = try picture(size, plain)
        #expect(try source.similarity(to: source) == 100)
        let score = try #require(try source.similarity(to: try picture(size, noisy)))
        #expect(score > 0 && score < 100)
    }

    @Test func aCancelledComparisonEnds() throws {
        let source = try picture(PixelSize(64, 400), plain)
        let checks = Lock(0)
        _ = try source.similarity(
            to: source,
            context: WorkContext {
                checks.withLock { $0 += 1 }
                return false
            })
        let count = checks.withLock { $0 }
        // Each sixteen rows: of either picture, and of the comparison.
        #expect(count >= 75 && count < 400)
        for last in [1, 30, count] {
            let left = Lock(last)
            let context = WorkContext {
                left.withLock {
                    $0 -= 1
                    return $0 <= 0
                }
            }
            #expect(throws: CancellationError.self) { try source.similarity(to: source, context: context) }
        }
    }
}
