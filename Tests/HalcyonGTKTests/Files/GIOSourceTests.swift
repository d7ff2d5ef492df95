import CGTK
import Dispatch
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Images of resources and of GIO's files. No main loop runs for them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct GIOSourceTests {
    private let fixture = PipelineFixture { $0.providers.append(ImageSource.gioProvider) }
    private let folder = TemporaryFolder()

    private func file(_ name: String, _ data: Data) throws -> URL {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let url = folder.url.appending(path: name)
        try data.write(to: url)
        return url
    }

    private func png() throws -> Data { try TestFiles.data("png/rgb8.png") }

    private func reason(_ provider: some ImageDataProvider) async -> GIOImageError.Reason? {
        let error = await #expect(throws: GIOImageError.self) { _ = try await provider.data() }
        return error?.reason
    }

    // MARK: - Disk

    @Test func theDiskKeepsWhatHasAReliableKey() async throws {
        // One of the fixtures was written long ago.
        let old = GFileImage(uri: TestFiles.url("png/rgb8.png").absoluteString)
        #expect(old.diskLevels == .diskProcessed)
        #expect(GFileImage(uri: "file:///nowhere/a.png").diskLevels.isEmpty)
        #expect(GFileImage(uri: "sftp://host/a.png").diskLevels.isEmpty)
        let new = try file("new.png", png())
        // A change in the same moment would leave its attributes as they are.
        #expect(GFileImage(uri: new.absoluteString).diskLevels.isSubset(of: .diskProcessed))

        let now = UInt64(Date().timeIntervalSince1970)
        let times: [(UInt64, Bool)] = [
            (now - 1000, true), (now - 10, false), (now + 1000, false), (0, false), (.max, false),
        ]
        for (modified, isReliable) in times {
            let revision = FileRevision(size: 7, modified: modified, microseconds: 0, tag: "a")
            #expect(revision.isReliable == isReliable, "\(modified)")
        }
        let resources = try await Resources(["icon.png": try png()])
        let path = "/org/halcyon/test/icon.png"
        let uri = "resource://" + path
        let sources = [ImageSource.provider(GResourceImage(path)), .provider(try await GFileImage.current(uri))]
        for source in sources + [.provider(old)] {
            let request = ImageRequest(source, processors: [.flip(.vertical)], cachePolicy: .storeProcessed)
            _ = try await fixture.pipeline.image(for: request)
        }
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await fixture.diskEntries() == 1)
        withExtendedLifetime(resources) {}
    }

    // MARK: - Resources

    @Test(arguments: [false, true]) func anImageOfAResource(isCompressed: Bool) async throws {
        let resources = try await Resources(["icon@2x.png": try png()], isCompressed: isCompressed)
        let path = "/org/halcyon/test/icon@2x.png"
        let response = try await fixture.pipeline.response(for: ImageRequest(.provider(GResourceImage(path))))
        #expect(response.origin == .provider && response.image.size == PixelSize(48, 32))
        #expect(response.image.scale == 2)
        #expect(try await GResourceImage(path).data() == png())
        // The same by its URI, which finds the same in memory, and by a plain URL.
        for source in [ImageSource.gio("resource://" + path), .gio("resource:///org/halcyon/test/icon%402x.png")] {
            #expect(try await fixture.pipeline.response(for: ImageRequest(source)).origin == .memory)
        }
        let url = URL(string: "resource://" + path)
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .memory)
        withExtendedLifetime(resources) {}
    }

    @Test func aResourcesBytesOutliveItsBundle() async throws {
        let data: Data
        do {
            let resources = try await Resources(["icon.png": try png()])
            data = try await GResourceImage("/org/halcyon/test/icon.png").data()
            withExtendedLifetime(resources) {}
        }
        #expect(data == (try png()))
    }

    @Test func resourcesThatAreNotThere() async throws {
        let resources = try await Resources(["icon.png": try png(), "empty": Data()])
        let path = "/org/halcyon/test/icon.png"
        for path in ["/org/halcyon/test/none.png", "/org/halcyon/test", "none", "", path + "\0"] {
            #expect(await reason(GResourceImage(path)) == .notFound, "\(path)")
        }
        let size = try png().count
        #expect(await reason(GResourceImage(path, maximumBytes: size - 1)) == .tooLarge(limit: size - 1))
        #expect(try await GResourceImage(path, maximumBytes: size).data().count == size)
        #expect(try await GResourceImage("/org/halcyon/test/empty").data().isEmpty)
        await #expect {
            try await fixture.pipeline.image(for: ImageRequest(.gio("resource:///none")))
        } throws: { error in
            guard case .badSource(let source, let reason, let own)? = error as? ImagePipelineError else { return false }
            return source == "resource:///none" && reason == "there is no such file"
                && (own as? GIOImageError)?.reason == .notFound
        }
        withExtendedLifetime(resources) {}
    }

    // MARK: - Files

    @Test func anImageOfAFile() async throws {
        let url = try file("a b@2x.png", png())
        let pointer = try #require(g_file_new_for_path(url.path(percentEncoded: false)))
        let provider = GFileImage(pointer)
        g_object_unref(UnsafeMutableRawPointer(pointer))
        let response = try await fixture.pipeline.response(for: ImageRequest(.provider(provider)))
        #expect(response.image.size == PixelSize(48, 32) && response.image.scale == 2)
        #expect(try await provider.data() == png())
        #expect(provider.uri == url.absoluteString)
    }

    @Test func changedFileGetsNewCacheKey() async throws {
        let url = try file("a.png", png())
        let before = GFileImage(uri: url.absoluteString)
        #expect(before.cacheKey == GFileImage(uri: url.absoluteString).cacheKey)
        let same = try await GFileImage.current(url.absoluteString)
        #expect(same.cacheKey == before.cacheKey)
        _ = try file("a.png", png() + [0])
        #expect(GFileImage(uri: url.absoluteString).cacheKey != before.cacheKey)
        #expect(GFileImage(uri: url.absoluteString).cacheKey.hasSuffix(url.absoluteString))
    }

    /// A file of another kind of file system, larger than one read.
    @Test func aFileThatIsNotLocal() async throws {
        let large = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let resources = try await Resources(["large": large])
        let uri = "resource:///org/halcyon/test/large"
        let file = GFileImage(uri: uri)
        #expect(try await file.data() == large)
        #expect(file.cacheKey == "gfile::\(uri)")
        let current = try await GFileImage.current(uri)
        #expect(current.cacheKey.contains("600000"))
        #expect(try await current.data() == large)
        await #expect(throws: GIOImageError.self) { _ = try await GFileImage.current(uri + "/none") }
        withExtendedLifetime(resources) {}
    }

    @Test func filesThatCannotBeRead() async throws {
        let url = try file("a.png", png())
        let size = try png().count
        func image(_ url: URL, maximumBytes: Int = .max) -> GFileImage {
            GFileImage(uri: url.absoluteString, maximumBytes: maximumBytes)
        }
        #expect(await reason(image(folder.url.appending(path: "none.png"))) == .notFound)
        #expect(await reason(image(url.appending(path: "below.png"))) == .notFound)
        #expect(await reason(image(folder.url)) == .isFolder)
        #expect(await reason(image(URL(filePath: "/dev/zero"))) == .notAFile)
        #expect(await reason(image(url, maximumBytes: size - 1)) == .tooLarge(limit: size - 1))
        #expect(try await image(url, maximumBytes: size).data().count == size)
        #expect(await reason(GFileImage(uri: "nothing:///a.png")) == .notSupported)
        // A file whose reported size is 0.
        #expect(await reason(image(URL(filePath: "/proc/self/maps"), maximumBytes: 10)) == .tooLarge(limit: 10))
        await #expect {
            try await fixture.pipeline.image(for: ImageRequest(.gio("nothing://user:secret@host/a.png")))
        } throws: { error in
            guard case .badSource(let source, let reason, let own)? = error as? ImagePipelineError else { return false }
            return source == "nothing://host/a.png" && reason == "nothing on this system reads it"
                && (own as? GIOImageError)?.reason == .notSupported
        }
    }

    @Test func aReadIsCancelled() async throws {
        let provider = GFileImage(uri: try file("a.png", png()).absoluteString)
        // Nothing gets on there until the gate is opened.
        let gate = DispatchSemaphore(value: 0)
        GIOThread.shared.perform { gate.wait() }
        let task = Task { try await provider.data() }
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(try await provider.data() == png())
    }

    @Test func uriMakesMatchingImageSource() async throws {
        #expect(ImageSource.gio("https://host/a.png") == ImageSource(URL(string: "https://host/a.png")))
        #expect(ImageSource.gio("file:///a.png") == .file(URL(filePath: "/a.png")))
        for text in ["", "a.png", "/a.png", "resource:///a\0b"] {
            guard case .malformed = ImageSource.gio(text) else {
                Issue.record("\(text)")
                continue
            }
        }
        #expect(ImageSource.gioProvider(for: URL(filePath: "/a.png")) == nil)
        #expect(ImageSource.gioProvider(for: try #require(URL(string: "nothing:///a.png"))) == nil)
        let url = try #require(URL(string: "resource:///a%20b.png"))
        #expect((ImageSource.gioProvider(for: url) as? GResourceImage)?.path == "/a b.png")
    }
}
