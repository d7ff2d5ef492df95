import Foundation
import Halcyon
import HalcyonCodecs
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

    /// Writes its name in the place of an image.
    private struct NamedEncoder: ImageEncoder {
        let name: String
        let formats: [ImageFormat]
        var writes = true

        init(_ name: String, fileExtension: String, writes: Bool = true) {
            self.name = name
            formats = [ImageFormat(name, fileExtension: fileExtension, mimeType: "image/x-\(name)")]
            self.writes = writes
        }

        func canEncode(_ format: ImageFormat) -> Bool { writes && formats.contains(format) }

        func encode(
            _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
        ) throws -> Data { Data(name.utf8) }
    }

    private func pixel() throws -> Image { try Image(width: 1, height: 1, pixels: [1, 2, 3, 255]) }

    @Test(arguments: [
        ("a.JPG", ImageFormat.jpeg), ("a.jpeg", .jpeg), ("a.Jpe", .jpeg), ("a.PNG", .png), ("a.b.webp", .webp),
    ])
    func anExtensionInAnyCaseAndSpellingNamesItsFormat(name: String, format: ImageFormat) throws {
        try withFolder { folder in
            let file = folder.appending(path: name)
            try pixel().write(to: file)
            #expect(FormatSniffer.format(of: try Data(contentsOf: file)) == format)
        }
    }

    @Test func theQualityOfAFileCounts() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let image = try Image(data: TestFiles.data("png/rgb8.png"))
        let (small, large) = (folder.url.appending(path: "a.jpg"), folder.url.appending(path: "b.jpg"))
        try image.write(to: small, quality: 0.1)
        try image.write(to: large, quality: 0.95)
        #expect(try Data(contentsOf: small).count < Data(contentsOf: large).count)
        #expect(try Data(contentsOf: large) == image.data(as: .jpeg, quality: 0.95))
        #expect(throws: CodecError.self) { try image.write(to: large, quality: 80) }
        #expect(try Data(contentsOf: large) == image.data(as: .jpeg, quality: 0.95))
    }

    @Test func anExtensionIsLookedUpAmongTheEncodersAndTheLastOneCounts() throws {
        try withFolder { (folder: URL) throws in
            func written(_ name: String, as format: ImageFormat? = nil, _ coders: CoderRegistry) throws -> String? {
                let file = folder.appending(path: name)
                try pixel().write(to: file, as: format, coders: coders)
                return String(data: try Data(contentsOf: file), encoding: .utf8)
            }
            let coders = CoderRegistry.standard(formats: [.jpeg, .png])
            coders.add(NamedEncoder("first", fileExtension: "one"))
            #expect(try written("a.one", coders) == "first")
            #expect(try written("a.FIRST", coders) == "first")
            // Aliases of the formats that Halcyon has names for.
            coders.add(NamedEncoder("heic", fileExtension: "heic"))
            #expect(try written("a.heif", coders) == "heic")
            // The extension of a built-in format, whose other names are still its own.
            let registration = coders.add(NamedEncoder("mine", fileExtension: "jpg"))
            #expect(try written("a.Jpg", coders) == "mine")
            #expect(try written("a.jpeg", coders) == nil)
            #expect(try written("a.jpg", as: .jpeg, coders) == nil)
            coders.remove(registration)
            #expect(try written("a.jpg", coders) == nil)
            // Another coder of a built-in format, which calls its files otherwise.
            coders.add(NamedEncoder("png", fileExtension: "graphic"))
            #expect(try written("a.png", coders) == "png")
            #expect(try written("a.graphic", coders) == "png")
            // One that reads its format and does not write it.
            coders.add(NamedEncoder("reader", fileExtension: "one", writes: false))
            #expect(try written("a.one", coders) == "first")
        }
    }

    @Test(arguments: ["a.ff", "a.svg", "a.TIF", "a.tiff", "a.ico", "a.jxr", "a.bin", "a.png.bak"])
    func anExtensionThatNoEncoderWritesIsAnErrorAndNoFile(name: String) throws {
        try withFolder { folder in
            let file = folder.appending(path: name)
            let coders = CoderRegistry.standard()
            let error = #expect(throws: CodecError.self) { try pixel().write(to: file, coders: coders) }
            guard case .unsupportedExtension(let text, let formats, nil)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text == file.pathExtension)
            #expect(formats == coders.encodableFormats && formats.contains(.png))
            #expect(error?.code == "unsupportedFormat")
            let description = try #require(error?.description)
            #expect(description.contains("'\(text)'") && description.contains("jpeg, png"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            // A file that is there stays as it is, and a format that is given needs no name.
            try Data("old".utf8).write(to: file)
            #expect(throws: CodecError.self) { try pixel().write(to: file, coders: coders) }
            #expect(try Data(contentsOf: file) == Data("old".utf8))
            try pixel().write(to: file, as: .png)
            #expect(FormatSniffer.format(of: try Data(contentsOf: file)) == .png)
        }
    }

    @Test func aRegistryWithoutEncodersSaysSo() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "halcyon-\(UUID().uuidString).png")
        let error = #expect(throws: CodecError.self) { try pixel().write(to: file, coders: CoderRegistry()) }
        #expect(error == .unsupportedExtension("png", encodable: []))
        #expect(error?.description.contains("there is no encoder") == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
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
