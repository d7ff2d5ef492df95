import Foundation
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

/// A loader of a third party, which is made by the compiler of the tests, beside that of PNM.
@Suite(.timeLimit(.minutes(5))) struct GdkPixbufModuleTests {
    private let registry = CoderRegistry.standard()

    /// A module with one function that reads nothing, and with work that is done when it is opened.
    private static func source(_ atOpening: String) -> String {
        """
        #include <pthread.h>
        #include <stdlib.h>
        #include <unistd.h>
        static void *sleep_for_ever(void *user) { for (;;) pause(); return user; }
        __attribute__((constructor)) static void opened(void) { pthread_t thread; (void)thread; \(atOpening) }
        static void *load(void *file, void *error) { (void)file, (void)error, (void)sleep_for_ever; return 0; }
        void fill_vtable(void **module) { module[4] = (void *)load; }
        """
    }

    /// Makes workers whose list of loaders has the module as that of JPEG 2000.
    private func workers(with atOpening: String, in folder: TemporaryFolder) throws -> DecodeWorkers {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let path = { (name: String) in folder.url.appending(path: name).path(percentEncoded: false) }
        try Data(Self.source(atOpening).utf8).write(to: URL(filePath: path("module.c")))
        let arguments = ["clang", "-shared", "-fPIC", "-o", path("module.so"), path("module.c"), "-lpthread"]
        let compiler = try Spawn.child(
            URL(filePath: "/usr/bin/env"), arguments, environment: ProcessInfo.processInfo.environment
        ) { _ in }
        try #require(Spawn.reap(compiler) == 0)
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        let pnm = try #require(
            folders.map { $0 + "/gdk-pixbuf-2.0/2.10.0/loaders/libpixbufloader-pnm.so" }
                .first { FileManager.default.fileExists(atPath: $0) })
        let list = "\"\(path("module.so"))\"\n\"jp2\" 4 \"d\" \"J\" \"L\"\n\"\(pnm)\"\n\"pnm\" 4 \"d\" \"P\" \"L\"\n"
        try Data(list.utf8).write(to: URL(filePath: path("loaders.cache")))
        let script = "#!/bin/sh\nexport GDK_PIXBUF_MODULE_FILE='\(path("loaders.cache"))'\nexec '\(Worker.path)'\n"
        try Spawn.writeScript(script, to: URL(filePath: path("worker")))
        return DecodeWorkers(count: 1, program: .file(path("worker")))
    }

    /// The header of a picture of 3 x 2 pixels with three channels.
    private var picture: Data {
        let start: [UInt8] = [0, 0, 0, 12] + Array("jP  ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]
        let header: [UInt8] = [0, 0, 0, 30] + Array("jp2h".utf8) + [0, 0, 0, 22] + Array("ihdr".utf8)
        return Data(start + header + [0, 0, 0, 2, 0, 0, 0, 3, 0, 3, 7, 7, 0, 0])
    }

    @Test func aLoaderThatOpensIsAsked() throws {
        let folder = TemporaryFolder()
        let options = DecodeOptions(isolation: .isolated(workers: try workers(with: "", in: folder)))
        let error = #expect(throws: CodecError.self) { try registry.decode(picture, options: options) }
        #expect(error == .damaged(.jpeg2000, reason: "the loader made no image"))
    }

    /// Without the loader, all others go on.
    @Test(arguments: [
        "pthread_create(&thread, 0, sleep_for_ever, 0);", "abort();", "exit(0);", "sleep_for_ever(0);",
    ])
    func aLoaderThatDoesMoreIsLeftOut(_ atOpening: String) throws {
        let folder = TemporaryFolder()
        let workers = try workers(with: atOpening, in: folder)
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        for _ in 0..<2 {
            let error = #expect(throws: CodecError.self) { try registry.decode(picture, options: options) }
            #expect(error == .loaderMissing(.jpeg2000))
            #expect(error?.description.hasPrefix("no loader for jp2 is installed") == true)
            let plain = try registry.decode(Fixture.read("pixbuf/plain.ppm"), options: options)
            #expect(plain.size.width > 0)
        }
        #expect(workers.statistics.started == 1)
    }
}
