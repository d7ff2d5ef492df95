import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Animations that declare more than they should.
@Suite struct AnimationLimitTests {
    private let coders = CoderRegistry.standard()

    /// A canvas of 2x2, a first frame that fills it, and others of `size` at `place`, all with the data of four pixels.
    private func gif(frames: Int, place: UInt16 = 0, size: UInt16 = 2) -> Data {
        func frame(place: UInt16, size: UInt16) -> [UInt8] {
            let numbers: [UInt8] = [place, place, size, size].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
            return [0x2C] + numbers + [0, 2, 2, 0x8C, 0x53, 0]
        }
        var data = Data("GIF89a".utf8)
        data += [2, 0, 2, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255] as [UInt8]
        data += frame(place: 0, size: 2)
        let other = frame(place: place, size: size)
        for _ in 1..<frames { data += other }
        data += [0x3B] as [UInt8]
        return data
    }

    @Test func tooManyFramesAreRefused() throws {
        let data = gif(frames: 100_000)
        #expect(throws: CodecError.limitExceeded("frames", value: 100_000, limit: 10_000)) { try coders.decode(data) }
        #expect(try coders.probe(data).frameCount == 100_000)
        let options = DecodeOptions(limits: DecodeLimits(maximumFrames: 100_000))
        #expect(try coders.decode(data, options: options).animation?.frameCount == 100_000)
    }

    @Test func aHugeFrameIsOnlyWhatTheCanvasShowsOfIt() throws {
        let animation = try #require(try coders.decode(gif(frames: 3, size: 65_535)).animation)
        // Its pixels are not all there, which is found out without room for them.
        #expect(throws: CodecError.self) { try animation.frame(at: 1) }
        #expect(try animation.frame(at: 0).size == PixelSize(2, 2))
    }

    @Test func aFrameOutsideTheCanvasShowsNothing() throws {
        let animation = try #require(try coders.decode(gif(frames: 2, place: 900)).animation)
        #expect(try animation.frame(at: 1).bytes == animation.frame(at: 0).bytes)
    }

    @Test func framesThatWereCutOffAreLeftOut() throws {
        for file in ["animation/mixed.gif", "animation/mixed-both.webp", "animation/mixed-both.png"] {
            let data = try Fixture.read(file)
            let whole = try #require(try coders.decode(data).animation)
            var counts = Set<Int>()
            for part in 1..<40 {
                guard let image = try? coders.decode(data.prefix(data.count * part / 40)) else { continue }
                let frames = image.animation
                counts.insert(frames?.frameCount ?? 1)
                for index in 0..<(frames?.frameCount ?? 0) {
                    #expect(try frames?.frame(at: index).bytes == whole.frame(at: index).bytes, "\(file) \(part)")
                }
            }
            // An APNG needs its end, as every PNG does.
            #expect(counts.count > 4 || file.hasSuffix("png"), "\(file): \(counts)")
        }
    }

    @Test func aFrameOfAnAPNGMustLieOnItsCanvas() throws {
        let data = try Fixture.read("animation/mixed-both.png")
        let whole = try #require(try coders.decode(data).animation)
        let second = try #require(data.ranges(of: Data("fcTL".utf8)).dropFirst().first)
        for offset in [4, 8, 12, 16] {
            var broken = data
            // Of its width, height and place the highest byte.
            broken[second.upperBound + offset] = 0x7F
            #expect(try coders.decode(broken).animation == nil)
        }
        // A number out of its order ends the animation as well.
        var broken = data
        broken[second.upperBound + 3] ^= 1
        #expect(try coders.decode(broken).animation == nil)
        #expect(whole.frameCount == 9)
    }
}
