import Foundation
import HalcyonImage
import HalcyonSystem
import Testing

@testable import HalcyonCodecs

/// Damaged files in parts of any size end as a decode of the whole does: by the same pixels, or the same kind of error.
@Suite struct ArrivingDamageTests {
    private let registry = CoderRegistry.standard()
    private let limits = DecodeLimits(maximumPixels: 1 << 20, maximumFrames: 64)

    /// The visible properties of an image, or the kind of the error.
    private enum Outcome: Equatable {
        case image([UInt8], ImageInfo, Data?)
        case failure(String)

        init(_ body: () throws -> Image) {
            do {
                let image = try body()
                self = .image(image.bitmap.bytes, image.info, image.colorProfile)
            } catch let error as CodecError {
                self = .failure(error.code)
            } catch {
                self = .failure("\(type(of: error))")
            }
        }
    }

    private func arrived(_ data: Data, partSize: Int, options: DecodeOptions) -> Outcome {
        Outcome {
            let decoding = try #require(registry.makeProgressive(for: data, options: options))
            for start in stride(from: 0, to: data.count, by: partSize) {
                try decoding.append(data.dropFirst(start).prefix(partSize))
            }
            return try decoding.finish(context: .uncancellable)
        }
    }

    private func expectOneEnd(_ data: Data, partSizes: some Sequence<Int>, _ note: String, target: TargetSize? = nil) {
        let options = DecodeOptions(target: target, limits: limits)
        let whole = Outcome { try registry.decode(data, options: options) }
        for partSize in partSizes where arrived(data, partSize: partSize, options: options) != whole {
            Issue.record("\(note) in parts of \(partSize)")
        }
    }

    @Test func theBitReadersFirstBytes() throws {
        let data = try Fixture.read("hostile/bits-beyond-range.webp")
        #expect(try registry.decode(data).size == PixelSize(17, 9))
        expectOneEnd(data, partSizes: 1...data.count, "the file")
    }

    /// A first byte of 255 is more than the range that libwebp's bit reader begins with; no encoder writes it.
    @Test(arguments: ["webp/lossy.webp", "webp/lossy-alpha.webp"])
    func bitsBeyondTheRange(file: String) throws {
        var data = try Fixture.read(file)
        let chunk = try #require(data.firstRange(of: Data("VP8 ".utf8))).upperBound + 4
        let tag = Int(data[chunk]) | Int(data[chunk + 1]) << 8 | Int(data[chunk + 2]) << 16
        let tokens = chunk + 10 + tag >> 5
        data[tokens] = 0xFF
        for target in [nil, TargetSize(PixelSize(9, 9))] {
            expectOneEnd(data, partSizes: (tokens + 1)...(tokens + 9), file, target: target)
        }
    }

    /// Lossless data that runs into the bytes behind its chunk, which may not have come when its last pixels are read.
    @Test(arguments: ["webp/lossless.webp", "webp/lossless-alpha.webp"])
    func dataBeyondItsChunk(file: String) throws {
        let original = try Fixture.read(file)
        let chunk = try #require(original.firstRange(of: Data("VP8L".utf8))).upperBound
        for missing in [2, 8, 40] {
            var data = original
            let length = (0..<4).reduce(0) { $0 | Int(data[chunk + $1]) << ($1 * 8) } - missing
            for index in 0..<4 { data[chunk + index] = UInt8(truncatingIfNeeded: length >> (index * 8)) }
            let end = chunk + 4 + length
            expectOneEnd(data, partSizes: [1, end - 1, end, end + 1, end + 3], "\(file) without \(missing)")
        }
    }

    /// Bits that flip, bytes of 0 and 255, runs that are lost, bytes that follow.
    @Test(arguments: ["webp/lossy.webp", "webp/lossy-alpha.webp", "webp/lossless.webp", "webp/lossless-alpha.webp"])
    func anyDamage(file: String) throws {
        var random = FixedGenerator(state: 12)
        let original = try Fixture.read(file)
        for round in 0..<60 {
            var data = original
            for _ in 0...(round % 3) { damage(&data, &random) }
            let partSizes = [7, 97, data.count / 7 + 1, Int.random(in: 1...data.count, using: &random)]
            expectOneEnd(
                data, partSizes: partSizes, "\(file), round \(round)",
                target: round % 4 == 0 ? TargetSize(PixelSize(9, 9)) : nil)
        }
    }

    private func damage(_ data: inout Data, _ random: inout FixedGenerator) {
        let position = Int.random(in: 12..<data.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: data[position] = 0
        case 1: data[position] = 0xFF
        case 2: data.removeSubrange(position..<min(data.count, position + 5))
        case 3: data.append(contentsOf: data.suffix(9))
        default: data[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        data = Data(data)
    }

    /// A region may lie on the image only as what stands behind the pixels turns it.
    @Test func aRegionOfAnImageThatIsTurnedLate() throws {
        let data = try Fixture.read("variants/webp-orientation-6.webp")
        let size = try registry.probe(data).size
        let stored = try registry.probe(data).storedSize
        try #require(size.height > stored.height)
        let region = PixelRect(x: 0, y: stored.height, width: 4, height: size.height - stored.height)
        let options = DecodeOptions(region: region)
        let whole = Outcome { try registry.decode(data, options: options) }
        for partSize in [1, 50, data.count] { #expect(arrived(data, partSize: partSize, options: options) == whole) }
    }

    /// Pixels that few bytes declare are refused by the bytes that are there, also where the header declares fewer.
    @Test func bytesThatTheHeaderDoesNotDeclare() throws {
        let size = PixelSize(4100, 4100)
        let bitmap = try Bitmap(size: size, isOpaque: true) { $0.initializeMemory(as: UInt8.self, repeating: 255) }
        let file = try registry.encode(
            Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size)), as: .webp,
            options: EncodeOptions(isLossless: true))
        let limits = DecodeLimits(maximumPixelsPerByte: 4100 * 4100 / (file.count + 2000))
        for count in [0, 4096] {
            let data = file + Data(count: count)
            let options = DecodeOptions(target: TargetSize(PixelSize(8, 8)), limits: limits)
            let whole = Outcome { try registry.decode(data, options: options) }
            #expect((whole == .failure("limitExceeded")) == (count == 0))
            #expect(arrived(data, partSize: 4096, options: options) == whole, "\(file.count) and \(count) bytes")
        }
    }

    @Test(arguments: ["webp/lossy.webp", "webp/lossless-alpha.webp"])
    func theEndDecodesInTheMemoryOfTheRows(file: String) throws {
        let data = try Fixture.read(file)
        let budget = DecodeBudget(capacity: 1 << 22)
        let coders = CoderRegistry(registry.coders, budget: budget)
        let decoding = try #require(coders.makeProgressive(for: data))
        try decoding.append(data)
        #expect(try decoding.preview(context: .uncancellable) != nil)
        let held = budget.capacity - budget.available
        #expect(held >= data.count + (try coders.plan(data).workingBytes))
        let others = try #require(budget.bytes.holdNow(budget.available))
        let asked = Lock(0)
        let context = WorkContext {
            asked.withLock {
                $0 += 1; return $0 > 1000
            }
        }
        #expect(try decoding.finish(context: context).bitmap.bytes == registry.decode(data).bitmap.bytes)
        #expect(budget.available == held)
        withExtendedLifetime(others) {}
    }

    @Test func aCancelledWebPStaysUnfinished() throws {
        let data = try Fixture.read("webp/lossy.webp")
        let decoding = try #require(registry.makeProgressive(for: data))
        try decoding.append(data.prefix(data.count / 2))
        let rest = data.dropFirst(data.count / 2)
        #expect(throws: CancellationError.self) { try decoding.append(rest, context: WorkContext { true }) }
        #expect(throws: CodecError.self) { try decoding.append(rest) }
        #expect(throws: CodecError.self) { try decoding.finish(context: .uncancellable) }
    }
}
