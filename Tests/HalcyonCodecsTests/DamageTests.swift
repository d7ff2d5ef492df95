import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Broken files: an error that names the fault, or the whole image; never half of one, never a trap.
@Suite struct DamageTests {
    let registry = CoderRegistry.standard()
    /// `HALCYON_SOAK` runs the full counts.
    private static let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil
    private static let damageable = [
        "jpeg", "png", "webp", "gif", "avif", "heic", "tiff", "raw", "bmp", "ico", "qoi", "jxl", "svg",
    ]

    @Test(arguments: [
        ("bad/truncated.jpg", "damagedImage"), ("bad/truncated.png", "damagedImage"),
        ("bad/truncated.webp", "damagedImage"), ("bad/truncated.gif", "damagedImage"),
        ("bad/zero-bytes.jpg", "notAnImage"), ("bad/page.html", "notAnImage"),
        ("bad/text.txt", "notAnImage"), ("bad/movie.mp4", "notAnImage"), ("bad/heic-header.heic", "damagedImage"),
    ])
    func hasItsOwnError(_ file: String, _ code: String) throws {
        let data = try Fixture.read(file)
        let error = #expect(throws: CodecError.self) { try registry.decode(data) }
        #expect(error?.code == code)
    }

    @Test func errorsSayWhatTheDataIs() throws {
        #expect(throws: CodecError.notAnImage("an HTML page")) { try registry.decode(Fixture.read("bad/page.html")) }
        #expect(throws: CodecError.notAnImage("empty")) { try registry.decode(Data()) }
        #expect("\(CodecError.notAnImage("an MP4 movie"))" == "not an image: the data is an MP4 movie")
        #expect("\(CodecError.damaged(.png, reason: "cut off"))" == "damaged png: cut off")
    }

    @Test func garbledBlocksAreTolerated() throws {
        let data = try Fixture.read("bad/flipped.jpg")
        do {
            _ = try registry.decode(data)
        } catch let error as CodecError {
            #expect(error.code == "damagedImage")
        }
    }

    @Test(arguments: Fixture.all)
    func truncatedIsWholeOrDamaged(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let whole = try registry.decode(data).bitmap.bytes
        // Two thousand for a format, over all its files.
        let files = Fixture.all.filter { $0.format == fixture.format }.count
        let parts = Self.isSoak ? max(50, (2000 + files - 1) / files) : 20
        for part in 0..<parts {
            let cut = data.prefix(data.count * part / parts)
            do {
                // Only what stands behind the pixels may be missing: end marks, later frames, metadata, what fills a
                // BMP's rows up, the sensor's values.
                let image = try registry.decode(cut)
                #expect(image.bitmap.bytes == whole, "\(part)/\(parts)")
                let hasMore = fixture.frames > 1 || fixture.file.contains("-behind")
                #expect(
                    ["gif", "webp", "tiff", "raw", "bmp", "ico", "qoi", "png", "jpeg"].contains(fixture.format)
                        || hasMore,
                    "\(part)/\(parts)")
                tryFrames(of: image)
            } catch let error as CodecError {
                #expect(["damagedImage", "notAnImage"].contains(error.code))
            }
        }
    }

    @Test(arguments: damageable)
    func flippedBitsAreSafe(_ format: String) throws {
        var random = FixedGenerator(state: 42)
        let files = try Fixture.all.filter { $0.format == format }.map { try $0.data() }
        for round in 0..<(Self.isSoak ? 2000 : 200) {
            var data = files[round % files.count]
            for _ in 0..<(1 + round % 4) {
                let position = Int.random(in: 0..<data.count, using: &random)
                data[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            tryDecoding(data, target: round % 2 == 0 ? nil : TargetSize(PixelSize(7, 7), mode: .fill))
        }
    }

    @Test(arguments: damageable)
    func noiseBehindASignatureIsSafe(_ format: String) throws {
        var random = FixedGenerator(state: 7)
        let file = try #require(Fixture.all.first { $0.format == format })
        for length in stride(from: 1, to: 64, by: 1) {
            let noise = (0..<400).map { _ in UInt8.random(in: 0...255, using: &random) }
            tryDecoding(try file.data().prefix(length) + noise, target: nil)
        }
    }

    /// Either way is fine, but only with the errors that are promised.
    private func tryDecoding(_ data: Data, target: TargetSize?) {
        let limits = DecodeLimits(maximumPixels: 1 << 22)
        do {
            tryFrames(of: try registry.decode(data, options: DecodeOptions(target: target, limits: limits)))
        } catch is CodecError {
        } catch is BitmapError {
        } catch {
            Issue.record("unexpected \(error)")
        }
    }

    private func tryFrames(of image: Image) {
        for index in 0..<min(image.animation?.frameCount ?? 0, 20) {
            do {
                let frame = try image.animation?.frame(at: index)
                #expect(frame?.size == image.size)
            } catch is CodecError {
            } catch is BitmapError {
            } catch {
                Issue.record("unexpected \(error)")
            }
        }
    }

    @Test func laterFramesMayBeMissing() throws {
        for file in ["gif/animated.gif", "webp/animated.webp"] {
            let data = try Fixture.read(file)
            let whole = try registry.decode(data).bitmap.bytes
            #expect(try registry.decode(data.prefix(data.count * 9 / 10)).bitmap.bytes == whole)
        }
    }

    @Test func bytesBehindTheEndAreTolerated() throws {
        // With control characters behind it a text is not recognized.
        for fixture in Fixture.all where fixture.format != "svg" {
            let data = try fixture.data()
            #expect(try registry.decode(data + [1, 2, 3, 4]).bitmap.bytes == registry.decode(data).bitmap.bytes)
        }
    }
}
