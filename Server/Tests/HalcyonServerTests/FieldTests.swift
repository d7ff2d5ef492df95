import Foundation
import Testing

@testable import HalcyonServer

@Suite struct AcceptFieldTests {
    @Test(
        arguments: [
            (nil, "image/webp", 1000), ("", "image/webp", 1000), ("*/*", "image/webp", 1000),
            ("image/*;q=0.5", "image/webp", 500), ("image/webp;q=0, image/*", "image/webp", 0),
            ("image/*, image/webp;q=0.25", "image/webp", 250), ("text/html", "image/webp", 0),
            ("IMAGE/WebP ; Q=0.125", "image/webp", 125), ("image/webp;q=1.001", "image/webp", 1000),
            ("image/webp;q=2, image/webp;q=0.1", "image/webp", 100), ("image/webp;q=.5, */*;q=0.3", "image/webp", 300),
            ("*/png, image/png", "image/png", 1000), (",,;,", "image/png", 1000),
        ] as [(String?, String, Int)])
    func theMostExactRangeCounts(field: String?, type: String, quality: Int) {
        #expect(AcceptField(field).quality(of: type) == quality)
    }

    @Test func onlyTypesThatAreNamedAreNamed() {
        let field = AcceptField("image/avif,image/webp;q=0,image/*,*/*;q=0.8")
        #expect(field.names("image/avif"))
        #expect(!field.names("image/webp"))
        #expect(!field.names("image/jxl"))
    }

    @Test func aLongFieldIsCutShort() {
        let field = AcceptField(String(repeating: "a/b,", count: 100_000) + "image/webp")
        #expect(!field.names("image/webp"))
    }
}

@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            ("bytes=0-9", .part(0..<10)), ("bytes=90-", .part(90..<100)), ("bytes=-5", .part(95..<100)),
            ("bytes=95-200", .part(95..<100)), ("bytes=-500", .part(0..<100)), ("bytes=99-99", .part(99..<100)),
            ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=9-3", .whole), ("bytes=0-1,3-4", .whole), ("lines=0-1", .whole), ("bytes=", .whole),
            ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("BYTES=0-0", .part(0..<1)),
            ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=0-99999999999999999999", .part(0..<100)),
            ("bytes=-99999999999999999999", .part(0..<100)), (nil, .whole),
        ] as [(String?, ByteRange)])
    func ofAHundredBytes(field: String?, range: ByteRange) {
        #expect(ByteRange(field, ifRange: nil, etag: "\"a\"", count: 100) == range)
    }

    @Test func aConditionMustNameTheBody() {
        #expect(ByteRange("bytes=0-1", ifRange: "\"a\"", etag: "\"a\"", count: 9) == .part(0..<2))
        #expect(ByteRange("bytes=0-1", ifRange: "\"b\"", etag: "\"a\"", count: 9) == .whole)
    }

    @Test func anEmptyBodyHasNoRange() {
        #expect(ByteRange("bytes=0-", ifRange: nil, etag: "\"a\"", count: 0) == .unsatisfiable)
    }
}

@Suite struct ContentDispositionTests {
    @Test(arguments: [
        ("photo.png", "photo.jpg"), ("../../etc/passwd", "passwd.jpg"), ("..\\..\\boot.ini", "boot.jpg"),
        ("a\r\nSet-Cookie: x", "aSet-Cookie x.jpg"), ("", "image.jpg"), ("...", "image.jpg"), (".png", "png.jpg"),
        ("a\"b;c*.gif", "abc.jpg"), ("\u{202E}gpj.exe", "gpj.jpg"), ("ein bild . ", "ein bild.jpg"),
        ("archive.tar.gz", "archive.tar.jpg"), ("v1.2-picture-name", "v1.2-picture-name.jpg"),
    ])
    func namesAreSafe(name: String, safe: String) {
        #expect(ContentDisposition.safe(name, fileExtension: "jpg") == safe)
    }

    @Test func aNameBeyondASCIIHasBothForms() {
        let field = ContentDisposition(isAttachment: true, name: "Käse & Brot.png").value(fileExtension: "webp")
        #expect(field == "attachment; filename=\"K_se & Brot.webp\"; filename*=UTF-8''K%C3%A4se%20&%20Brot.webp")
    }

    /// A mark behind a slash makes one character of both.
    @Test func marksHideNoFolderAndAddNoLength() {
        #expect(ContentDisposition.safe("x/\u{301}y.jpg", fileExtension: "png") == "\u{301}y.png")
        let marks = "e" + String(repeating: "\u{301}", count: 5000)
        #expect(ContentDisposition.safe(marks, fileExtension: "png").unicodeScalars.count == 104)
    }

    @Test func longNamesAreCut() {
        let name = ContentDisposition.safe(String(repeating: "é", count: 5000), fileExtension: "png")
        #expect(name.count == 104)
    }
}

@Suite struct RequestIDTests {
    @Test func aSaneOneIsKept() {
        #expect(RequestID("a-B_9.1:x").description == "a-B_9.1:x")
    }

    @Test(arguments: [nil, "", "a b", "a\nb", "ä", String(repeating: "a", count: 129), "<script>"])
    func othersAreReplaced(field: String?) {
        let id = RequestID(field)
        #expect(UUID(uuidString: id.description) != nil)
        #expect(id != RequestID(field))
    }
}

@Suite struct HTTPDateTests {
    @Test func isThatOfTheStandard() {
        #expect(HTTPDate.text(Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
