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

    var testDescription: String { file }
    var size: PixelSize { PixelSize(width, height) }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")

    static let all: [Fixture] = {
        let index = try? JSONDecoder().decode([Fixture].self, from: read("golden/index.json"))
        return index ?? []
    }()

    static func read(_ path: String) throws -> Data {
        let file = folder.appending(path: path)
        // Foundation leaks its buffer when it reads an empty file, which LeakSanitizer reports.
        if try file.resourceValues(forKeys: [.fileSizeKey]).fileSize == 0 { return Data() }
        return try Data(contentsOf: file)
    }

    func data() throws -> Data { try Self.read(file) }

    /// The upright pixels as premultiplied BGRA, multiplied to the nearest.
    func goldenPixels() throws -> [UInt8] {
        let rgba = [UInt8](try Self.read("golden/" + golden))
        return stride(from: 0, to: rgba.count, by: 4).flatMap { offset in
            let alpha = Int(rgba[offset + 3])
            let channels = [2, 1, 0].map { UInt8((Int(rgba[offset + $0]) * alpha + 127) / 255) }
            return channels + [UInt8(alpha)]
        }
    }
}
