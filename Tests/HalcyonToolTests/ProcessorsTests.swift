import Foundation
import Halcyon
import TestSupport
import Testing

@testable import HalcyonTool

/// `halcyon processors`, and the documents and pictures that are made with it.
@Suite(.timeLimit(.minutes(5))) struct ProcessorsTests {
    private static let root = TestFiles.folder.deletingLastPathComponent().deletingLastPathComponent()
    private static let catalog = root.appending(path: "Sources/HalcyonProcessing/HalcyonProcessing.docc")

    private static func files(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
    }

    @Test func forPeopleItIsAList() async throws {
        let result = try await Tool().run(["processors"])
        #expect(result.status == 0)
        for entry in ProcessorTable.entries {
            #expect(result.lines.contains { $0.hasPrefix(entry.name + " ") })
            for form in entry.forms { #expect(result.lines.contains { $0.hasSuffix("  " + form) }) }
        }
    }

    @Test func helpNamesEachProcessor() async throws {
        let help = try await Tool().run(["load", "--help"]).text
        for entry in ProcessorTable.entries {
            #expect(help.contains(entry.brief.prefix { $0 != "=" && $0 != "[" }), "\(entry.name)")
        }
    }

    @Test func theDocumentIsWhatIsSaid() async throws {
        let result = try await Tool().run(["processors", "--markdown"])
        #expect(result.status == 0)
        let document = try String(contentsOf: Self.root.appending(path: "docs/Processors.md"), encoding: .utf8)
        #expect(document == result.text, "run make docs")
    }

    @Test func thePagesAreWhatIsMadeNow() async throws {
        let tool = try Tool()
        let result = try await tool.run(["processors", "--documentation", tool.path("pages")])
        try #require(result.status == 0, "\(result.errors)")
        let made = tool.folder.appending(path: "pages")
        #expect(try Self.files(in: Self.catalog) == Self.files(in: made))
        for name in try Self.files(in: made) where name.hasSuffix(".md") {
            let text = try String(contentsOf: Self.catalog.appending(path: name), encoding: .utf8)
            #expect(
                try text == String(contentsOf: made.appending(path: name), encoding: .utf8), "\(name): run make docs")
        }
        let (pictures, madePictures) = (Self.catalog.appending(path: "Resources"), made.appending(path: "Resources"))
        #expect(try Self.files(in: pictures) == Self.files(in: madePictures))
        for name in try Self.files(in: madePictures) {
            let data = try Data(contentsOf: pictures.appending(path: name))
            #expect(data.count < 30_000, "\(name)")
            let (kept, new) = (try decoded(data), try decoded(Data(contentsOf: madePictures.appending(path: name))))
            try #require(kept.size == new.size, "\(name): run make docs")
            #expect(Self.largestDifference(kept, new) <= 2, "\(name): run make docs")
        }
    }

    /// Kernels may round otherwise on processors with fewer instructions.
    private static func largestDifference(_ left: Bitmap, _ right: Bitmap) -> Int {
        left.withPixels { left in
            right.withPixels { right in zip(left, right).map { abs(Int($0) - Int($1)) }.max() ?? 0 }
        }
    }

    @Test func everyProcessorsPictureShowsSomething() throws {
        let scenes = try [ProcessorEntry.Scene.opaque, .cutOut].map { try ProcessorPictures.png(of: $0) }
        let pictures = try ProcessorTable.entries.map { try ProcessorPictures.png(of: $0) }
        #expect(Set(pictures + scenes).count == pictures.count + scenes.count)
    }
}
