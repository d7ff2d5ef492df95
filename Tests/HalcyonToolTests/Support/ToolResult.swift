import Foundation
import Halcyon
import Testing

/// The exit status and the output of a run of the tool.
struct ToolResult: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    let status: Int32
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
    var errorLines: [String] {
        errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Returns the reports of `load --json` on standard output.
    func loads() throws -> [LoadLine] { try Self.decode(lines) }

    /// Returns the only report of `load --json`.
    func load() throws -> LoadLine {
        let all = try loads()
        try #require(all.count == 1, "\(text)\(errors)")
        return all[0]
    }

    func objects<Line: Decodable>(_ type: Line.Type) throws -> [Line] { try Self.decode(lines) }

    /// The keys of each JSON object.
    func keys() throws -> [Set<String>] {
        try lines.map { line in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            return Set(object.keys)
        }
    }

    static func decode<Line: Decodable>(_ lines: [String]) throws -> [Line] {
        try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }
}

/// One line of `load --json`.
struct LoadLine: Decodable, Sendable {
    struct Failure: Decodable, Sendable {
        let code: String
        let message: String
    }

    let source: String
    let pass: Int
    let ok: Bool
    let origin: String?
    let format: String?
    let width: Int?
    let height: Int?
    let frames: Int?
    let bytes: Int?
    let milliseconds: Double
    let output: String?
    let error: Failure?

    var size: PixelSize? {
        guard let width, let height else { return nil }
        return PixelSize(width, height)
    }
}

/// An encoded picture's pixels as the library reads them.
func decoded(_ data: Data) throws -> Bitmap {
    try CoderRegistry.shared.decode(data, context: .uncancellable).bitmap
}

extension Bitmap {
    /// Blue, green, red, alpha at a place, to compare.
    func bytes(x: Int, y: Int) -> [UInt8]? {
        pixel(x: x, y: y).map { [$0.blue, $0.green, $0.red, $0.alpha] }
    }
}
