import Foundation
import HalcyonImage
import Testing

/// One entry of the golden index: a file and what must come out of it.
struct Fixture: Decodable, Sendable, CustomTestStringConvertible {
    let file: String
    let golden: String
    let width: Int
    let height: Int
    let format: String
    let frames: Int
    let loops: Int?
    let alpha: Bool
    let orientation: Int
    let bitsPerChannel: Int
    let exact: Bool
    /// The largest difference of a channel where an exact format goes through a colour conversion; nil for none.
    let tolerance: Int?
    /// The colour space that `probe` returns; nil if the fixture does not declare it.
    let colorSpace: String?
    /// A golden of every composed frame, the first included; nil for stills.
    let frameGoldens: [String]?
    /// Milliseconds of every frame.
    let delays: [Double]?

    var testDescription: String { file }
    var size: PixelSize { PixelSize(width, height) }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")

    /// The fixtures of `golden/index.json`, and of every folder that has an index of its own.
    static let all: [Fixture] = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return folders.sorted().flatMap { name -> [Fixture] in
            guard let data = try? read(name + "/index.json") else { return [] }
            return (try? JSONDecoder().decode([Fixture].self, from: data)) ?? []
        }
    }()

    static let animated = all.filter { $0.frameGoldens != nil }

    static func read(_ path: String) throws -> Data {
        let file = folder.appending(path: path)
        // Foundation leaks its buffer when it reads an empty file, which LeakSanitizer reports.
        if try file.resourceValues(forKeys: [.fileSizeKey]).fileSize == 0 { return Data() }
        return try Data(contentsOf: file)
    }

    func data() throws -> Data { try Self.read(file) }

    /// The upright pixels as premultiplied BGRA, multiplied to the nearest.
    func goldenPixels() throws -> [UInt8] { try Self.pixels(golden) }

    func goldenPixels(frame: Int) throws -> [UInt8] { try Self.pixels(try #require(frameGoldens)[frame]) }

    /// - Parameter golden: its path among the fixtures; without a folder, it is in `golden/`.
    private static func pixels(_ golden: String) throws -> [UInt8] {
        let rgba = [UInt8](try read(golden.contains("/") ? golden : "golden/" + golden))
        return stride(from: 0, to: rgba.count, by: 4).flatMap { offset in
            let alpha = Int(rgba[offset + 3])
            let channels = [2, 1, 0].map { UInt8((Int(rgba[offset + $0]) * alpha + 127) / 255) }
            return channels + [UInt8(alpha)]
        }
    }
}
