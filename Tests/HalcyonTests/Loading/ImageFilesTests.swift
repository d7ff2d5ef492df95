import Foundation
import Halcyon
import TestSupport
import Testing

@Suite struct ImageFilesTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test func aFileIsReadAndWritten() throws {
        try withFolder { folder in
            let source = folder.appending(path: "photo@2x.png")
            try TestFiles.data("png/rgb8.png").write(to: source)
            let image = try Image(contentsOf: source)
            #expect(image.scale == 2)
            for name in ["copy.png", "copy.jpg", "copy.webp", "copy"] {
                let copy = folder.appending(path: name)
                try image.write(to: copy)
                let expected = ImageFormat(name: copy.pathExtension) ?? .png
                #expect(try Image(contentsOf: copy).info.format == expected)
            }
        }
    }

    @Test func unreadableFileErrorHasCode() throws {
        try withFolder { folder in
            func code(_ url: URL, maximumBytes: Int = 1000) -> String? {
                do {
                    _ = try Image(contentsOf: url, maximumBytes: maximumBytes)
                    return nil
                } catch let error as ImagePipelineError {
                    return error.code
                } catch let error as CodecError {
                    return error.code
                } catch {
                    return "\(error)"
                }
            }
            #expect(code(folder) == "badSource")
            #expect(code(folder.appending(path: "none.png")) == "badSource")
            #expect(code(URL(web: "https://example.com/a.png")) == "invalidRequest")
            let empty = folder.appending(path: "empty.png")
            try Data().write(to: empty)
            #expect(code(empty) == "notAnImage")
            let large = folder.appending(path: "large.png")
            try Data(count: 1001).write(to: large)
            #expect(code(large) == "badSource")
        }
    }

    @Test(arguments: [
        ("https://a.b/photo@2x.png", 2.0), ("https://a.b/photo@3x.jpg?x=1", 3), ("https://a.b/photo%402x.png", 2),
        ("https://a.b/photo.png", 1), ("https://a.b/photo@4x.png", 1), ("https://a.b/photo@2xpng", 1),
        ("https://user@2x/photo.png", 1),
    ])
    func theNameSaysTheScale(url: String, scale: Double) async throws {
        let fixture = PipelineFixture()
        let url = URL(web: url)
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png")))
        let loaded = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(loaded.image.scale == scale)
        // From memory, for a request with another setting, and again for one without.
        var other = ImageRequest(url)
        other.scale = 1.5
        let hit = try await fixture.pipeline.response(for: other)
        #expect(hit.origin == .memory)
        #expect(hit.image.scale == 1.5)
        #expect(hit.image.size == loaded.image.size)
        #expect(try await fixture.pipeline.image(for: url).scale == scale)
    }
}
