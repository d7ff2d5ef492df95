import Foundation
import TestSupport
import Testing

@testable import HalcyonTool

/// The patterns of file names.
@Suite(.timeLimit(.minutes(1))) struct GlobTests {
    @Test(arguments: [
        ("*.jpg", "a.jpg", true), ("*.jpg", "a.jpeg", false), ("*.jpg", ".jpg", false), (".*", ".jpg", true),
        ("*", "", true), ("*", "a", true), ("*", ".a", false), ("?", "é", true), ("?", "ab", false), ("??", "日本", true),
        ("a*b*c", "aXbYc", true), ("a*b*c", "acb", false), ("a**b", "ab", true), ("[a-c].png", "b.png", true),
        ("[a-c].png", "d.png", false), ("[!a-c].png", "d.png", true), ("[^a-c].png", "b.png", false),
        ("[]x]", "]", true), ("[x-]", "-", true), ("[z-a]", "m", false), ("[", "[", true), ("a[b", "a[b", true),
        (#"\*"#, "*", true), (#"\*"#, "a", false), (#"a\"#, #"a\"#, true), ("[é-ö]", "ö", true), ("?a", ".a", false),
    ])
    func namesMatch(pattern: String, name: String, matches: Bool) {
        #expect(GlobPattern(Array(pattern.utf8)).matches(Array(name.utf8)) == matches)
    }

    @Test func bytesThatAreNoTextAreCharacters() {
        #expect(GlobPattern(Array("?.png".utf8)).matches([0xFF] + Array(".png".utf8)))
        #expect(!GlobPattern(Array("?.png".utf8)).matches([0xFF, 0xFE] + Array(".png".utf8)))
        #expect(GlobPattern([0xFF, 0x2A]).matches([0xFF, 0x61]))
        // U+00FF is another character than the byte.
        #expect(!GlobPattern(Array("ÿ*".utf8)).matches([0xFF]))
    }

    @Test func manyStarsTakeNoLongTime() {
        let pattern = GlobPattern(Array(String(repeating: "*a", count: 100).utf8))
        #expect(!pattern.matches([UInt8](repeating: UInt8(ascii: "a"), count: 5000) + [UInt8(ascii: "b")]))
    }

    private func expand(_ tool: Tool, _ pattern: String) throws -> [String] {
        var glob = try #require(Glob(BytePath(tool.path(pattern).utf8)))
        glob.expand()
        #expect(glob.failures.isEmpty)
        return glob.files.map { String($0.description.dropFirst(tool.path("").count)) }
    }

    @Test(arguments: [
        ("t/*", ["t/a.png"]), ("t/**", ["t/a.png", "t/x/b.png", "t/x/y/a.png"]),
        ("t/**/a.png", ["t/a.png", "t/x/y/a.png"]), ("t/**/**/a.*", ["t/a.png", "t/x/y/a.png"]),
        ("t/x/**/*.png", ["t/x/b.png", "t/x/y/a.png"]), ("t/*/*/a.png", ["t/x/y/a.png"]),
        ("t/**/y/*", ["t/x/y/a.png"]), ("t/[w-y]/b.png", ["t/x/b.png"]), ("t/**/x", []), ("t/.h/*", ["t/.h/c.png"]),
        ("t/*.gif", []), ("t/a.png/*", []),
    ])
    func foldersAreWalked(pattern: String, files: [String]) throws {
        let tool = try Tool()
        try tool.add("png/1x1.png", as: "t/a.png", "t/x/b.png", "t/x/y/a.png", "t/.h/c.png")
        if pattern == "t/a.png/*" {
            var glob = try #require(Glob(BytePath(tool.path(pattern).utf8)))
            glob.expand()
            #expect(glob.files.isEmpty && glob.failures.count == 1)
        } else {
            #expect(try expand(tool, pattern) == files)
        }
    }

    @Test func aPathWithoutAWildcardIsNoPattern() {
        #expect(Glob(BytePath("a/b.png".utf8)) == nil)
        #expect(Glob(BytePath("a/*.png".utf8))?.base == BytePath("a".utf8))
        #expect(Glob(BytePath("/*.png".utf8))?.base == BytePath("/".utf8))
        #expect(Glob(BytePath("*.png".utf8))?.base == BytePath([]))
    }

    @Test(arguments: [
        ("a/b.png", "a", "b.png", "png"), ("b", ".", "b", ""), ("/b.PNG", "/", "b.PNG", "PNG"),
        ("a//b.tar.gz", "a", "b.tar.gz", "gz"), ("a/.hidden", "a", ".hidden", ""), ("//x", "/", "x", ""),
    ])
    func partsOfAPath(path: String, parent: String, name: String, pathExtension: String) {
        let path = BytePath(path.utf8)
        #expect(path.parent == BytePath(parent.utf8))
        #expect(Array(path.name) == Array(name.utf8))
        #expect(path.pathExtension == pathExtension)
    }

    @Test(arguments: [
        ("file:///a/b.png", "/a/b.png"), ("FILE://localhost/a%20b%2Fc%41", "/a b/cA"),
        ("file:///%C3%A9%zz%4", "/é%zz%4"),
        ("file://host/a", nil), ("file:///a%00b", nil), ("/a/b.png", nil), ("http:///a", nil), ("file://", nil),
    ])
    func fileURLsArePaths(url: String, path: String?) {
        #expect(BytePath(fileURL: url) == path.map { BytePath($0.utf8) })
        #expect(BytePath(fileURL: "file:///%FFx")?.bytes == [UInt8(ascii: "/"), 0xFF, UInt8(ascii: "x")])
    }
}
