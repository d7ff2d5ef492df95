import Foundation
import Halcyon
import HalcyonCodecs
import TestSupport
import Testing

/// The tool and the formats of the loaders of gdk-pixbuf, which it decodes in its workers.
@Suite(.timeLimit(.minutes(5))) struct ToolLoaderFormatTests {
    @Test(arguments: ["rgba.tga", "plain.ppm", "transparent.xpm", "bits.xbm", "two-sizes.icns", "turning.ani"])
    func convertsToTheGolden(_ name: String) async throws {
        let tool = try Tool()
        let result = try await tool.run(["convert", fixture("pixbuf/\(name)"), "--to", "png", "-o", tool.path("out")])
        #expect(result.status == 0, "\(result.errors)")
        let image = try Image(data: tool.data("out/\(name.prefix { $0 != "." }).png"))
        let golden = name.replacingOccurrences(of: ".", with: "-") + ".rgba"
        let rgba = [UInt8](try Data(contentsOf: TestFiles.url("pixbuf/\(golden)")))
        let pixels: [UInt8] = image.bitmap.withPixels { Array($0) }
        #expect(pixels.count == rgba.count)
        let isSame = stride(from: 0, to: min(pixels.count, rgba.count), by: 4).allSatisfy { place in
            let alpha = Int(rgba[place + 3])
            return pixels[place + 3] == rgba[place + 3]
                && (0..<3).allSatisfy {
                    abs(Int(pixels[place + $0]) - (Int(rgba[place + 2 - $0]) * alpha + 127) / 255) <= 1
                }
        }
        #expect(isSame)
    }

    @Test func probesWithoutALoader() async throws {
        let result = try await Tool().run(["probe", fixture("pixbuf/deep.ppm")])
        #expect(result.status == 0)
        #expect(result.text.contains("pnm") && result.text.contains("37"))
    }

    /// The list of loaders says which one gets a format: here that of PNM stands for one of JPEG 2000, and says what it thinks of it.
    @Test func theLoaderThatIsInstalledIsAsked() async throws {
        let tool = try Tool()
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        let loader = folders.map { $0 + "/gdk-pixbuf-2.0/2.10.0/loaders/libpixbufloader-pnm.so" }
            .first { FileManager.default.fileExists(atPath: $0) }
        let list =
            "# a list\n\"\(try #require(loader))\"\n\"jp2\" 4 \"domain\" \"JPEG 2000\" \"LGPL\"\n\"image/jp2\" \"\"\n"
        try Data(list.utf8).write(to: tool.folder.appending(path: "loaders.cache"))
        let start: [UInt8] = [0, 0, 0, 12] + Array("jP  ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]
        let header: [UInt8] = [0, 0, 0, 30] + Array("jp2h".utf8) + [0, 0, 0, 22] + Array("ihdr".utf8)
        let file = Data(start + header + [0, 0, 0, 2, 0, 0, 0, 3, 0, 3, 7, 7, 0, 0])
        try file.write(to: tool.folder.appending(path: "a.jp2"))
        let arguments = ["convert", tool.path("a.jp2"), "--to", "png"]
        let environment = ["GDK_PIXBUF_MODULE_FILE": tool.path("loaders.cache")]
        let asked = try await tool.run(arguments, environment: environment)
        #expect(asked.status != 0 && asked.errors.contains("damaged jp2: PNM"), "\(asked.errors)")
        let missing = try await tool.run(
            ["convert", fixture("pixbuf/rgb.tga"), "--to", "png", "-o", tool.path("out")], environment: environment)
        #expect(missing.status != 0 && missing.errors.contains("no loader for tga is installed"), "\(missing.errors)")
    }
}
