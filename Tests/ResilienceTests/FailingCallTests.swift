import Foundation
import TestSupport
import Testing

/// The nth call of a library fails, for each n: an error or the image, and the next time the image.
@Suite(.enabled(if: !Sanitizer.isOn, "a sanitizer has an allocator of its own"), .serialized, .timeLimit(.minutes(60)))
struct FailingCallTests {
    /// Not among them: libavif, librsvg and libheif (C++) end the process where they get no memory, which is their design;
    /// libwebp 1.2 frees what it has not set, and libde265 shows what it has. Our own calls are always among them.
    @Test(arguments: [
        ("libjpeg liblcms2", "jpeg/progressive.jpg jpeg/cmyk.jpg color/cmyk-adobe.jpg color/adobe.jpg"),
        (
            "libpng16 libz liblcms2",
            "png/rgb8.png png/adam7-rgba.png animation/mixed-both.png color/rgb8-p3.png color/rgb16-adobe.png"
        ),
        ("libgif", "gif/animated.gif"),
        ("-", "webp/lossless.webp webp/animated.webp heic/420.heic bmp/24.bmp"),
        ("libdav1d", "avif/420.avif"),
        (
            "libtiff libjpeg libz liblcms2",
            """
            tiff/rgb-adobe_deflate.tiff tiff/tiles.tiff tiff/rgba.tiff tiff/palette.tiff tiff/rgb-jpeg.tiff \
            color/cmyk.tiff color/bad-gray.tiff
            """
        ),
        ("libcairo libxml2", "svg/view-box.svg"),
    ])
    func anAllocationFails(_ libraries: String, _ files: String) async throws {
        let paths = files.split(separator: " ").map { TestFiles.url(String($0)).path(percentEncoded: false) }
        try await Self.run(["decode", "allocation", libraries, "1"] + paths)
        // From one on, all of them: from each fifth.
        try await Self.run(["decode", "exhaustion", libraries, "5"] + paths)
    }

    /// Bitmaps beyond the spare mapping. Not among the tests: threads of libde265, which waits for one that it could not
    /// start.
    @Test func aMappingFails() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let large = folder.url.appending(path: "large.svg")
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='1200' height='1200'><text y='50'>Text</text></svg>"
        try Data(text.utf8).write(to: large)
        try await Self.run(["decode", "map", "-", "1", large.path(percentEncoded: false)])
    }

    @Test(arguments: ["allocation", "open", "socket", "pipe", "thread"])
    func aLoadsCallFails(_ kind: String) async throws {
        let server = try await LoopbackServer()
        let data = try TestFiles.data("png/rgb8.png")
        server.route("/image") { _ in LoopbackServer.Response(headers: ["Content-Type": "image/png"], body: data) }
        let folder = TemporaryFolder()
        try await Self.run([
            "load", kind, "libcurl libz libpng16", "1", folder.url.path(percentEncoded: false),
            server.url("/image").absoluteString,
        ])
        await server.stop()
    }

    private static func run(_ arguments: [String]) async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let report = folder.url.appending(path: "report")
        let program = try TestProgram(
            Spawn.builtExecutable("FailingCalls"), [report.path(percentEncoded: false)] + arguments)
        let status = await program.ended()
        let lines = try String(contentsOf: report, encoding: .utf8).split(separator: "\n")
        #expect(status == 0, "\(lines.suffix(2))")
        #expect(lines.filter { $0.hasPrefix("wrong") } == [])
        print("failing: \(arguments.prefix(3)): \(lines.last ?? "")")
        let count = lines.last.flatMap { $0.hasPrefix("failed ") ? Int($0.dropFirst(7)) : nil }
        #expect(count ?? 0 > 0)
    }
}
