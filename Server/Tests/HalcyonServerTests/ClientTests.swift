import Foundation
import Halcyon
import ImageURLs
import Testing

@testable import HalcyonServer

/// Clients that others have written ask a fleet: curl, Python's, and a browser.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ClientTests {
    private static let key = "736563726574", salt = "68656C6C6F", thumborKey = "thumbor-key"
    private static let source = "local:///kingfisher.jpg"

    private func fleet() async throws -> DeployedFleet {
        try await DeployedFleet(
            servers: 2,
            [
                "HALCYON_SIGNATURE_KEYS": Self.key, "HALCYON_SIGNATURE_SALTS": Self.salt,
                "HALCYON_SIGNATURE_THUMBOR_KEYS": Self.thumborKey, "HALCYON_ANSWER_FORMATS": "avif,webp",
            ])
    }

    private func signed(_ path: String) throws -> String {
        let keys = try URLKeys.imgproxy([(key: Self.key, salt: Self.salt)])
        return "/" + (try #require(keys.signature(of: path))) + path
    }

    private struct Row: Decodable, Equatable {
        let name: String
        let status: Int
        let type: String?
        let size: [Int]?
    }

    @Test func clientsInPython() async throws {
        let fleet = try await fleet()
        let python = ServerFixture.root.appending(path: "Server/.build/clients/bin/python").path
        try #require(FileManager.default.isExecutableFile(atPath: python), "scripts/test-server makes \(python)")
        let script = ServerFixture.root.appending(path: "Server/Tests/Clients/clients.py").path
        let port = fleet.port
        let result = try await blocking {
            try output(
                of: python,
                [script, "http://127.0.0.1:\(port)", Self.key, Self.salt, Self.thumborKey, Self.source])
        }
        #expect(result.status == 0, "\(result.text)")
        let rows = try result.text.split(separator: "\n").map {
            try JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
        #expect(
            rows == [
                Row(name: "imgproxy by hand, encoded", status: 200, type: "image/png", size: [120, 80]),
                Row(name: "imgproxy by hand, plain", status: 200, type: "image/jpeg", size: [64, 64]),
                Row(name: "imgproxy by hand, chosen", status: 200, type: "image/webp", size: [50, 60]),
                Row(name: "imgproxy by hand, another path", status: 403, type: "application/json", size: nil),
                Row(name: "imgproxy of PyPI", status: 200, type: "image/png", size: [90, 70]),
                Row(name: "libthumbor", status: 200, type: "image/png", size: [110, 70]),
                Row(name: "libthumbor, fit-in", status: 200, type: "image/jpeg", size: [60, 48]),
                Row(name: "libthumbor, another key", status: 403, type: "application/json", size: nil),
                Row(name: "requests", status: 200, type: "image/png", size: [40, 40]),
                Row(name: "requests, known", status: 304, type: nil, size: nil),
            ])
    }

    @Test func curl() async throws {
        let fleet = try await fleet()
        let path = try signed("/rs:fill:70:50/plain/\(Self.source)@png")
        let (file, port) = (fleet.folder.appending(path: "curl.png"), fleet.port)
        let format = "%{http_code} %{content_type} %{size_download}"
        let result = try await blocking {
            try output(
                of: "/usr/bin/curl", ["-sS", "-o", file.path, "-w", format, "http://127.0.0.1:\(port)\(path)"])
        }
        let data = try Data(contentsOf: file)
        #expect(result.text == "200 image/png \(data.count)")
        #expect(try Image(data: data).size == PixelSize(70, 50))
    }

    /// A browser picks the width for its screen out of a `srcset`, takes AVIF, and shows the picture.
    @Test func aBrowser() async throws {
        let fleet = try await fleet()
        let base = "http://127.0.0.1:\(fleet.port)"
        let set = try [150, 300, 600].map { width in
            "\(base)\(try signed("/rs:fill:\(width):\(width * 2 / 3)/plain/\(Self.source)")) \(width)w"
        }.joined(separator: ", ")
        let page = fleet.folder.appending(path: "page.html")
        let avif = "\(base)\(try signed("/rs:fill:300:200/plain/\(Self.source)@avif"))"
        let broken = "\(base)/AAAA/rs:fill:300:200/plain/\(Self.source)"
        try """
        <!doctype html><style>body { margin: 0 } img { display: block }</style>
        <img id="chosen" width="150" height="100" sizes="150px" srcset="\(set)">
        <picture><source type="image/avif" srcset="\(avif)"><img id="source" width="150" height="100"></picture>
        <img id="broken" width="150" height="100" src="\(broken)">
        <script>addEventListener("load", () => { for (const image of document.images) {
            image.title = image.naturalWidth + " " + image.currentSrc } })</script>
        """.write(to: page, atomically: true, encoding: .utf8)
        let (dump, shot) = try await Self.browse(page, in: fleet.folder)
        func title(_ id: String) -> Substring {
            let tag = dump.split(separator: "<img ").first { $0.contains("id=\"\(id)\"") } ?? ""
            return tag.split(separator: "title=\"").last?.prefix { $0 != "\"" } ?? ""
        }
        // Twice as many pixels as the layout has: the screen's ratio is 2. The natural width is that of the layout.
        #expect(title("chosen").hasPrefix("150 \(base)"))
        #expect(title("chosen").hasSuffix("rs:fill:300:200/plain/\(Self.source)"))
        #expect(title("source") == "300 \(avif)")
        #expect(title("broken").hasPrefix("0 "))
        let path = try signed("/rs:fill:300:200/plain/\(Self.source)")
        #expect(try await fleet.log(path, count: 1).allSatisfy { $0["type"] == "image/avif" && $0["status"] == "200" })
        #expect(try await fleet.log(try signed("/rs:fill:600:400/plain/\(Self.source)"), count: 0).isEmpty)
        // The screen has the picture as Halcyon itself decodes it.
        let answer = try await fleet.get(path, ["Accept": "image/avif"])
        #expect(answer["Content-Type"] == "image/avif")
        let picture = try answer.image()
        #expect(picture.size == PixelSize(300, 200))
        for top in [0, 200] { #expect(Self.difference(picture, shot, top: top) < 4) }
    }

    /// Opens a page at a screen of two device pixels a pixel. Returns the document after its load, and what is to be seen.
    private static func browse(_ page: URL, in folder: URL) async throws -> (dump: String, shot: Image) {
        let file = folder.appending(path: "shot.png")
        let arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--force-device-scale-factor=2", "--window-size=400,400", "--virtual-time-budget=10000",
            "--user-data-dir=\(folder.appending(path: "profile").path)",
        ]
        return try await blocking {
            let home = ["HOME": folder.path]
            let dump = try output(
                of: "/usr/bin/chromium", arguments + ["--dump-dom", page.absoluteString], environment: home)
            let shot = try output(
                of: "/usr/bin/chromium", arguments + ["--screenshot=\(file.path)", page.absoluteString],
                environment: home)
            try #require(dump.status == 0 && shot.status == 0, "\(dump.text) \(shot.text)")
            return (dump.text, try Image(contentsOf: file))
        }
    }

    /// The mean difference of the channels of a picture from where a screen shows it, at the left.
    private static func difference(_ picture: Image, _ screen: Image, top: Int) -> Double {
        var sum = 0
        for y in 0..<picture.size.height {
            for x in 0..<picture.size.width {
                guard let a = picture.color(x: x, y: y), let b = screen.color(x: x, y: y + top) else { return 255 }
                sum += abs(Int(a.red) - Int(b.red)) + abs(Int(a.green) - Int(b.green)) + abs(Int(a.blue) - Int(b.blue))
            }
        }
        return Double(sum) / Double(picture.size.width * picture.size.height * 3)
    }
}
