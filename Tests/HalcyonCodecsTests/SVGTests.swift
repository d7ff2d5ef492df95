import Foundation
import Glibc
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSVG

@Suite struct SVGTests {
    let registry = CoderRegistry.standard()

    private func document(_ attributes: String, _ body: String = "", before: String = "") -> Data {
        Data(
            """
            \(before)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \(attributes)>\
            \(body)</svg>
            """.utf8)
    }

    private func isBlank(_ bitmap: Bitmap) -> Bool { bitmap.bytes.allSatisfy { $0 == 0 } }

    @Test func formatIsUnsupportedWithoutItsCoder() throws {
        registry.removeAll { $0 is SVGCoder }
        let data = try Fixture.read("svg/sized.svg")
        #expect(throws: CodecError.unsupportedFormat(.svg)) { try registry.decode(data) }
    }

    @Test(arguments: [
        ("width='20' height='30'", PixelSize(20, 30)), ("width='20.2' height='30'", PixelSize(21, 30)),
        ("width='1in' height='2.54cm'", PixelSize(96, 96)), ("viewBox='5 5 40 20'", PixelSize(40, 20)),
        ("width='100%' height='100%' viewBox='0 0 40 20'", PixelSize(40, 20)),
        ("width='80' viewBox='0 0 40 20'", PixelSize(80, 40)), ("height='10' viewBox='0 0 40 20'", PixelSize(20, 10)),
        ("", PixelSize(300, 150)), ("width='50'", PixelSize(50, 150)),
    ])
    func documentSizeComesFromItsAttributes(_ attributes: String, _ size: PixelSize) throws {
        let info = try registry.probe(document(attributes))
        #expect(info.size == size)
        #expect(info.isVector)
        #expect(info.hasAlpha)
        #expect(try registry.decode(document(attributes)).size == size)
    }

    @Test(arguments: ["width='0' height='5'", "width='5' height='0'", "viewBox='0 0 0 0' width='0' height='0'"])
    func documentWithoutAreaIsDamaged(_ attributes: String) {
        let error = #expect(throws: CodecError.self) { try registry.decode(document(attributes)) }
        #expect(error?.code == "damagedImage")
    }

    @Test func enormousDocumentSizeIsRefused() throws {
        let large = document("width='60000' height='60000'")
        let error = #expect(throws: CodecError.self) { try registry.decode(large) }
        #expect(error?.code == "limitExceeded")
        let long = document("width='3000000000' height='5'")
        #expect(throws: CodecError.self) { try registry.decode(long) }
    }

    @Test func textBehindTheEndIsTolerated() throws {
        let data = try Fixture.read("svg/sized.svg")
        #expect(try registry.decode(data + Data("\n and more".utf8)).bitmap.bytes == registry.decode(data).bitmap.bytes)
    }

    /// Eight times the size, with edges as sharp as at the first.
    @Test(arguments: ["sized", "scaled", "view-box"]) func drawingIsRenderedAtTargetSize(_ name: String) throws {
        let data = try Fixture.read("svg/\(name).svg")
        let small = try registry.decode(data).bitmap
        let target = TargetSize(PixelSize(192, 128), upscale: true)
        let plan = try registry.plan(data, options: DecodeOptions(target: target))
        #expect(plan.nativeSize == PixelSize(192, 128))
        #expect(plan.residual == nil)
        let large = try registry.decode(data, options: DecodeOptions(target: target)).bitmap
        for y in 0..<128 {
            for x in 0..<192 {
                let (pixel, expected) = (large.pixel(x: x, y: y), small.pixel(x: x / 8, y: y / 8))
                guard pixel?.red == expected?.red, pixel?.alpha == expected?.alpha else {
                    Issue.record("\(x), \(y)")
                    return
                }
            }
        }
    }

    @Test func drawingIsStretchedToTargetSize() throws {
        let data = document("width='10' height='10'", "<rect width='5' height='10' fill='red'/>")
        let target = TargetSize(PixelSize(40, 10), mode: .stretch, upscale: true)
        let bitmap = try registry.decode(data, options: DecodeOptions(target: target)).bitmap
        #expect(bitmap.size == PixelSize(40, 10))
        #expect(bitmap.pixel(x: 19, y: 0)?.alpha == 255 && bitmap.pixel(x: 20, y: 9)?.alpha == 0)
        let fill = TargetSize(PixelSize(40, 80), mode: .fill, upscale: true)
        #expect(try registry.decode(data, options: DecodeOptions(target: fill)).size == PixelSize(40, 80))
    }

    @Test func drawingIsNotEnlargedWithoutUpscale() throws {
        let data = try Fixture.read("svg/sized.svg")
        let options = DecodeOptions(target: TargetSize(PixelSize(192, 128)))
        #expect(try registry.decode(data, options: options).size == PixelSize(24, 16))
    }

    /// A part of an enormous whole is not worth drawing the whole.
    @Test func drawingIsNotEnlargedBeyondLimits() throws {
        let data = document("width='10000' height='1'", "<rect width='10000' height='1' fill='red'/>")
        let target = TargetSize(PixelSize(100, 100), mode: .fill, upscale: true)
        let options = DecodeOptions(target: target)
        #expect(try registry.plan(data, options: options).nativeSize.height == 1)
        #expect(try registry.decode(data, options: options).size == PixelSize(100, 100))
    }

    // MARK: What lies outside of it

    @Test func linkedFilesAreNotRead() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "red.png")
        let red = try Bitmap(size: PixelSize(4, 4), isOpaque: true) {
            $0.initializeMemory(as: UInt8.self, repeating: 255)
        }
        let png = try registry.encode(Image(bitmap: red, info: ImageInfo(format: .png, size: red.size)), as: .png)
        try png.write(to: file)
        // Inside of the document the same image is drawn: the test can fail.
        let inside = "data:image/png;base64,\(png.base64EncodedString())"
        #expect(!isBlank(try decode(image: inside)))
        for address in [file.absoluteString, file.path, "../../..\(file.path)", "file://localhost\(file.path)"] {
            #expect(isBlank(try decode(image: address)), "\(address)")
        }
    }

    private func decode(image address: String) throws -> Bitmap {
        let body = "<image width='8' height='8' href='\(address)' xlink:href='\(address)'/>"
        return try registry.decode(document("width='8' height='8'", body)).bitmap
    }

    @Test func entitiesReadNoFile() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("<rect xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let entity = "<!DOCTYPE svg [<!ENTITY x SYSTEM '\(file.absoluteString)'>]>"
        let include = "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='\(file.absoluteString)'/>"
        for data in [
            document("width='8' height='8'", "&x;", before: entity), document("width='8' height='8'", include),
        ] {
            // To refuse it is as good.
            guard let image = try? registry.decode(data) else { continue }
            #expect(isBlank(image.bitmap))
        }
    }

    @Test func linkedURLsAreNotRequested() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        try #require(listener >= 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try #require(bind(listener, pointer, length) == 0 && listen(listener, 4) == 0)
                try #require(getsockname(listener, pointer, &length) == 0)
            }
        }
        let url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/red.svg"
        #expect(isBlank(try decode(image: url)))
        let style = "<style>@import url('\(url)');</style><rect width='8' height='8' fill='url(\(url)#a)'/>"
        let link = "<use href='\(url)#a'/><style>rect { filter: url(\(url)#b) }</style>"
        _ = try? registry.decode(document("width='8' height='8'", style + link))
        // A connection that was made would wait in the listener's queue.
        #expect(accept(listener, nil, nil) < 0 && errno == EAGAIN)
    }

    @Test func malformedDocumentIsDamaged() throws {
        for text in ["<svg xmlns='http://www.w3.org/2000/svg' width='5' height='5'>", "<svg", "<svg><g></svg>"] {
            let error = #expect(throws: CodecError.self) { try registry.decode(Data(text.utf8)) }
            #expect(error?.code == "damagedImage")
        }
    }

    /// The canvas of a side with a fraction is rounded up, and the drawing keeps its scale.
    @Test func aFractionDoesNotStretchTheDrawing() throws {
        let data = document("width='16' height='15.2'", "<rect width='16' height='15' fill='red'/>")
        let bitmap = try registry.decode(data).bitmap
        #expect(bitmap.size == PixelSize(16, 16))
        #expect(bitmap.pixel(x: 3, y: 14)?.alpha == 255)
        #expect(bitmap.pixel(x: 3, y: 15)?.alpha == 0)
    }

    @Test(arguments: [
        ("width='1em' height='2em'", PixelSize(16, 32)), ("width='2ex' height='16'", PixelSize(16, 16)),
        ("height='1em' viewBox='0 0 40 20'", PixelSize(32, 16)),
        ("width='1em' height='1em' font-size='20'", PixelSize(20, 20)),
        ("width='1em' height='1em' style='font-size: 20px'", PixelSize(20, 20)),
    ])
    func sizesMayBeInFonts(_ attributes: String, _ size: PixelSize) throws {
        #expect(try registry.probe(document(attributes)).size == size)
    }

    /// The encodings that a declaration or a mark names, and comments of any length before the drawing.
    @Test(arguments: [
        ("<?xml version='1.0' encoding='UTF-16'?>", String.Encoding.utf16),
        ("<?xml version='1.0' encoding='UTF-16'?>", .utf16LittleEndian),
        ("<?xml version='1.0' encoding='UTF-16'?>", .utf16BigEndian),
        ("<?xml version='1.0' encoding='ISO-8859-1'?>", .isoLatin1),
        ("<?xml version=\"1.0\" encoding = \"windows-1252\"?>", .windowsCP1252),
        ("<?xml version='1.0' encoding='Shift_JIS'?>", .ascii), ("", .utf8),
        ("<!-- \(String(repeating: "a ", count: 9000)) -->", .utf8),
        ("<?xml version='1.0'?>\n" + String(repeating: "<!-- a <b> -->\n", count: 2000), .utf8),
    ])
    func documentsOfAnyEncodingAreRead(_ start: String, _ encoding: String.Encoding) throws {
        let title = encoding == .ascii ? "" : "<title>\u{E9}t\u{E9}</title>"
        let text =
            "\(start)<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\(title)"
            + "<rect width='9' height='9' fill='#f00'/></svg>"
        let bitmap = try registry.decode(try #require(text.data(using: encoding))).bitmap
        #expect(bitmap.size == PixelSize(9, 9))
        #expect(bitmap.pixel(x: 4, y: 4)?.red == 255)
    }

    @Test func aCommentWithoutEndIsNoDrawing() {
        let data = Data("<!-- \(String(repeating: "-", count: 2 << 20))".utf8)
        #expect(FormatSniffer.format(of: data) == nil)
    }
}
