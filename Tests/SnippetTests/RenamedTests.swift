import Foundation
import Testing

/// The names of other libraries for which the compiler offers one of this library. Nothing that is unavailable can be called, so
/// the declarations are read as text, and the surface in docs/api.
@Suite struct RenamedTests {
    private static let files = ["Sources/Halcyon/Migration/Renamed.swift", "Sources/HalcyonGTK/Views/Renamed.swift"]

    /// The symbols of all modules, without the names of their types: `ImagePipeline` and `image(for:)`.
    private static func surface() throws -> [String] {
        let folder = SnippetTests.root.appending(path: "docs/api")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try files.flatMap { file in
            try SnippetTests.text(of: "docs/api/" + file).split(separator: "\n").compactMap { line in
                line.firstRange(of: ": ").map { symbol(String(line[..<$0.lowerBound])) }
            }
        }
    }

    /// The last part of a path, whose labels may have no dots.
    private static func symbol(_ path: String) -> String {
        path.split(separator: ".").last.map(String.init) ?? path
    }

    /// Whether a symbol is what a name says, with more parameters that have defaults.
    private static func matches(_ symbol: String, _ name: String) -> Bool {
        guard name.contains("(") else { return symbol == name }
        func parts(_ text: String) -> (base: String, labels: [String]) {
            let pair = text.split(separator: "(", maxSplits: 1)
            return (String(pair[0]), pair.count > 1 ? pair[1].dropLast().split(separator: ":").map(String.init) : [])
        }
        let (symbol, name) = (parts(symbol), parts(name))
        var rest = symbol.labels[...]
        return symbol.base == name.base
            && name.labels.allSatisfy { label in
                guard let place = rest.firstIndex(of: label) else { return false }
                rest = rest[(place + 1)...]
                return true
            }
    }

    @Test(arguments: files) func everyOfferExists(file: String) throws {
        let text = try SnippetTests.text(of: file)
        let surface = try Self.surface()
        #expect(surface.count > 1000)
        let names = text.matches(of: /renamed: "([^"]+)"/).map { String($0.output.1) }
        #expect(names.count >= 5)
        for name in names where !surface.contains(where: { Self.matches($0, name) }) {
            Issue.record("\(file) offers \(name), which does not exist")
        }
    }

    @Test(arguments: files) func nothingThereCanBeUsed(file: String) throws {
        let text = try SnippetTests.text(of: file)
        let declarations = text.split(separator: "\n").filter { $0.drop { $0 == " " }.hasPrefix("public ") }.count
        let offers = text.matches(of: /@available\(\*, unavailable, (renamed|message): "/).count
        #expect(declarations == offers)
        // Nor does a surface list it.
        let surface = try Self.surface()
        #expect(
            !surface.contains { ["KingfisherManager", "SDImageCache", "DataLoader", "LazyImage", "kf"].contains($0) })
    }

    @Test func namesAreComparedByTheirLabels() {
        #expect(Self.matches("resize(to:mode:upscale:)", "resize(to:)"))
        #expect(Self.matches("load(_:queue:completion:)", "load(_:completion:)"))
        #expect(Self.matches("ImagePipeline", "ImagePipeline"))
        #expect(!Self.matches("load(_:completion:)", "load(completion:_:)"))
        #expect(!Self.matches("loads(_:)", "load(_:)"))
        #expect(!Self.matches("ImagePipelineError", "ImagePipeline"))
    }
}
