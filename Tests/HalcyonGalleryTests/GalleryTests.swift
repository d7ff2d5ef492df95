import Foundation
import Halcyon
import TestSupport
import Testing

/// The gallery as a program.
@Suite(.serialized, .timeLimit(.minutes(10))) struct GalleryTests {
    private struct Cycle: Decodable {
        let cycle: Int
        /// The widgets of the window, and the number of them that still exist once it was closed.
        let widgets: Int
        let left: Int
        let kinds: String
        /// The textures that are still in use.
        let textures: Int
        /// Bytes of memory, with nothing in the cache.
        let resident: Int
    }

    private static let pictures = TestFiles.folder.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "demo/gallery")

    /// - Parameters:
    ///   - folder: The folder of its pictures.
    ///   - scratch: The folder of those that it makes.
    private func run(
        _ arguments: [String], of folder: URL = pictures, in scratch: URL = PipelineFixture.temporaryFolder()
    ) async throws -> (text: String, status: Int32) {
        let program = try TestProgram(
            try Spawn.builtExecutable("halcyon-gallery"),
            [
                "--gallery", folder.path(percentEncoded: false), "--generated", scratch.path(percentEncoded: false),
                "--latency", "0",
            ] + arguments, hasOutput: true)
        let status = await program.ended()
        // Less than a pipe holds.
        return (String(decoding: try program.output?.readToEnd() ?? Data(), as: UTF8.self), status)
    }

    /// Fifty times where the long counts are requested.
    @Test func aWindowThatIsClosedLeavesNothing() async throws {
        let count = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 4 : 50
        let (text, status) = try await run(["--cycles", "\(count)", "--count", "60"])
        #expect(status == 0)
        let cycles = try text.split(separator: "\n").map { try JSONDecoder().decode(Cycle.self, from: Data($0.utf8)) }
        #expect(cycles.count == count)
        for cycle in cycles {
            #expect(cycle.widgets > 100 && cycle.left == 0 && cycle.textures == 0, "\(cycle.cycle): \(cycle.kinds)")
        }
        // A sanitizer keeps freed memory for a while, and reports leaks by itself.
        if Sanitizer.isOn { return }
        // The first two fill what GTK, Cairo and the heap keep for the next window.
        guard count > 2, let last = cycles.last else { return #expect(Bool(false)) }
        #expect(last.resident - cycles[1].resident < 16 << 20, "\(cycles.map { $0.resident >> 20 })")
    }

    @Test func itsPagesCanBePictured() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let (_, status) = try await run(["--screenshots", folder.path(percentEncoded: false), "--count", "40"])
        #expect(status == 0)
        for name in ["loading", "grid", "picture", "zoomed", "caches"] {
            let image = try Image(contentsOf: folder.appending(path: "gallery-\(name).png"))
            // Not one colour from edge to edge.
            #expect(image.size.width > 800 && image.dominantColors(count: 8).count > 2, "\(name)")
        }
    }

    /// Each format that a full build reads beside those of its folder and of loaders is there, each animation with all frames.
    @Test func itMakesAPictureOfEachFormat() async throws {
        let scratch = PipelineFixture.temporaryFolder()
        let (_, status) = try await run(["--cycles", "1", "--count", "60"], in: scratch)
        #expect(status == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path(percentEncoded: false))
        let images = try files.reduce(into: [String: Image]()) { images, file in
            images[file] = try Image(contentsOf: scratch.appending(path: file))
        }
        let formats: Set<ImageFormat> = [.avif, .heic, .jpegXL, .qoi, .tiff, .raw, .bmp, .ico, .svg, .jpeg]
        #expect(Set(images.values.map(\.info.format)) == formats && images.count == 13)
        #expect(images["pond.avif"]?.animation?.frameCount == 24 && images["orbit.jxl"]?.animation?.frameCount == 30)
        #expect(images["kingfisher.cur"]?.info.format == .ico && images["kingfisher-hdr.jpg"]?.info.hasGainMap == true)
        #expect(images["kingfisher.cur"]?.size.width == 64)
    }

    /// A picture that cannot be made ends the program, so that no format is missing without a word.
    @Test func aPictureThatCannotBeMadeIsAnError() async throws {
        let folder = PipelineFixture.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in ["gallery.json", "kingfisher.jpg"] {
            try FileManager.default.copyItem(at: Self.pictures.appending(path: file), to: folder.appending(path: file))
        }
        try Data("GIF89a".utf8).write(to: folder.appending(path: "pond.gif"))
        #expect(try await run(["--cycles", "1", "--count", "5"], of: folder).status == 1)
    }
}
