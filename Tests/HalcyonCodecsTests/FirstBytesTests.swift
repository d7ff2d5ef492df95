import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// The judgement of a picture by its first bytes, which refuses nothing that a decode of the whole file would take.
@Suite struct FirstBytesTests {
    private static let registry = CoderRegistry.standard()
    /// The formats whose size comes first in every file.
    private static let sizeFirst: Set<ImageFormat> = [.bmp, .gif, .jpeg, .jpegXL, .png, .qoi, .webp]

    /// The folders of fixtures, each a run of its own.
    private static let folders = ((try? FileManager.default.contentsOfDirectory(atPath: Fixture.folder.path)) ?? [])
        .filter { !$0.contains(".") }.sorted()

    /// The lengths at which a file is cut off.
    private static func lengths(of data: Data) -> [Int] {
        let steps = sequence(first: 64) { $0 * 2 }.prefix { $0 < data.count }
        return Array(Set(Array(0...min(48, data.count)) + steps + [max(0, data.count - 1), data.count])).sorted()
    }

    /// The error of a decode before it reads pixels; nil if it would go on, or failed in another way.
    private static func verdict(_ data: Data, _ limits: DecodeLimits) -> CodecError? {
        do {
            _ = try registry.plan(data, options: DecodeOptions(limits: limits))
            return nil
        } catch {
            return error as? CodecError
        }
    }

    private static func refusal(_ data: Data, _ limits: DecodeLimits) -> CodecError? {
        do {
            _ = try registry.checkBeginning(data, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    /// The usual limits, and those that the picture just keeps and just exceeds.
    private static func limits(for data: Data) -> [DecodeLimits] {
        guard let size = try? registry.probe(data).size, let area = size.area, area > 1 else { return [DecodeLimits()] }
        let side = max(size.width, size.height)
        return [
            DecodeLimits(), DecodeLimits(maximumSourcePixels: area), DecodeLimits(maximumSourcePixels: area - 1),
            DecodeLimits(maximumSide: side), DecodeLimits(maximumSide: side - 1),
        ]
    }

    @Test(arguments: folders)
    func theVerdictIsThatOfTheWholeFileOrNone(folder: String) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Fixture.folder.appending(path: folder).path)
        for path in paths where !path.hasSuffix(".rgba") {
            let file = "\(folder)/\(path)"
            guard let data = try? Fixture.read(file) else { continue }
            for limits in Self.limits(for: data) {
                let whole = Self.verdict(data, limits)
                for length in Self.lengths(of: data) {
                    guard let error = Self.refusal(Data(data.prefix(length)), limits) else { continue }
                    #expect(error == whole, "\(file), \(length) bytes")
                }
                // All bytes say it of a size that they declare first. A frame may be larger than that.
                guard let info = try? Self.registry.probe(data), Self.sizeFirst.contains(info.format),
                    (try? limits.check(declared: info.size)) == nil
                else { continue }
                #expect(Self.refusal(data, limits) == whole && whole != nil, "\(file)")
            }
        }
    }

    /// The number of bytes that say the size. A transfer of any picture of these formats is long enough for a look.
    @Test(arguments: [
        ("bmp/24.bmp", 54), ("gif/still.gif", 800), ("jpeg/baseline-420.jpg", 1024), ("png/rgb8.png", 33),
        ("qoi/opaque.qoi", 14), ("webp/lossy.webp", 64), ("jxl/10-bit.jxl", 64), ("avif/420.avif", 1024),
        ("avif/grid-alpha.avif", 1024), ("avif/orientation-6.avif", 1024), ("heic/420.heic", 1024),
        ("heic/orientation-6.heic", 1024),
    ])
    func aFewBytesAreEnough(file: String, count: Int) throws {
        let data = try Fixture.read(file)
        let limits = DecodeLimits(maximumSourcePixels: 1)
        let first = try #require(
            (0...data.count).first { Self.refusal(Data(data.prefix($0)), limits) != nil }, "\(file)")
        #expect(first <= count, "\(file)")
        #expect(try Self.registry.checkBeginning(Data(data.prefix(first)), limits: DecodeLimits()))
        #expect(try !Self.registry.checkBeginning(Data(data.prefix(first - 1)), limits: DecodeLimits()))
    }

    /// A picture that is cut out of a larger one is judged by its own size, and once it is complete if the cut is odd.
    @Test(arguments: ["avif/clap.avif", "heic/odd-size.heic"])
    func oddCutsWait(file: String) throws {
        var data = try Fixture.read(file)
        let limits = DecodeLimits(maximumSourcePixels: 1)
        #expect(Self.refusal(data, limits) != nil && Self.refusal(data, limits) == Self.verdict(data, limits))
        let cut = try #require(data.range(of: Data("clap".utf8))).upperBound
        // The divisor of the width.
        data[cut + 7] = 0
        #expect(Self.refusal(data, limits) == nil)
    }

    /// A format that declares no size first is not looked at again, and neither are bytes that are none.
    @Test(arguments: ["ico", "tiff", "svg"]) func otherFormatsWait(folder: String) throws {
        let limits = DecodeLimits(maximumSide: 1, maximumSourcePixels: 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: Fixture.folder.appending(path: folder).path)
        let file = try #require(names.sorted().first { $0.hasSuffix(".\(folder)") })
        let data = try Fixture.read("\(folder)/\(file)")
        #expect(try Self.registry.checkBeginning(data, limits: limits))
        #expect(try Self.registry.checkBeginning(Data(repeating: 0x20, count: 1024), limits: limits))
        #expect(try !Self.registry.checkBeginning(Data(repeating: 0x20, count: 16), limits: limits))
    }
}
