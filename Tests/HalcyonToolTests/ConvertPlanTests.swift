import Foundation
import Halcyon
import TestSupport
import Testing

/// `halcyon convert` never overwrites a picture that it was not told to.
@Suite(.timeLimit(.minutes(5))) struct ConvertPlanTests {
    /// Expects that a conflict is named and that nothing is written.
    private func expectConflict(
        _ tool: Tool, _ arguments: [String], names: [String], at place: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try tool.tree("in")
        let result = try await tool.run(["convert"] + arguments)
        #expect(result.status == 1, sourceLocation: place)
        #expect(result.output.isEmpty, "\(result.text)", sourceLocation: place)
        #expect(result.errorLines.last == "halcyon: nothing was written", sourceLocation: place)
        for name in names {
            #expect(result.errorLines.first?.contains(tool.path(name)) == true, sourceLocation: place)
        }
        #expect(try tool.tree("in") == before && !tool.exists("out"), sourceLocation: place)
    }

    @Test func twoSourcesWithOneOutputAreAnError() async throws {
        let tool = try Tool()
        try tool.add("png/1x1.png", as: "in/a.png", "in/deep/a.png", "in/b.png")
        try tool.add("gif/still.gif", as: "in/a.gif")
        let output = ["-o", tool.path("out"), "--to", "webp"]
        try await expectConflict(
            tool, [tool.path("in")] + output, names: ["in/a.gif", "in/a.png", "out/a.webp"])
        try await expectConflict(
            tool, [tool.path("in/b.png"), tool.path("in/a.png"), tool.path("in/deep/a.png")] + output,
            names: ["in/a.png", "in/deep/a.png", "out/a.webp"])
    }

    @Test func aFileThatIsNamedTwiceIsConvertedOnce() async throws {
        let tool = try Tool()
        try tool.add("png/1x1.png", as: "in/a.png")
        let result = try await tool.run(
            ["convert", tool.path("in/a.png"), tool.path("in/../in/./a.png"), tool.path("in"), "--to", "webp"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.last?.hasPrefix("1 converted, 0 skipped, 0 failed, ") == true)
    }

    @Test func aNamedSourceDoesNotReplaceItself() async throws {
        let tool = try Tool()
        try tool.add("jpeg/gray.jpg", as: "in/a.jpg")
        try await expectConflict(
            tool, [tool.path("in/a.jpg"), "--to", "jpeg", "--quality", "5"], names: ["in/a.jpg"])
        try await expectConflict(
            tool, [tool.path("in/a.jpg"), "-o", tool.path("in"), "--quality", "5"], names: ["in/a.jpg"])
    }

    @Test func aFoundSourceThatWouldReplaceItselfIsSkipped() async throws {
        let tool = try Tool()
        try tool.add("jpeg/gray.jpg", as: "in/a.JPG")
        try tool.add("png/rgb8.png", as: "in/b.png")
        let result = try await tool.run(["convert", tool.path("in"), "--to", "jpeg", "--quality", "5"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.first == "\(tool.path("in/a.JPG"))  skipped: it would replace itself")
        #expect(try tool.data("in/a.JPG") == TestFiles.data("jpeg/gray.jpg"))
        #expect(try tool.tree("in") == ["a.JPG", "b.jpg", "b.png"])
    }

    @Test func anotherSourceIsNotReplaced() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png")
        try tool.add("webp/lossy.webp", as: "in/a.webp")
        try tool.age("in/a.webp", by: 100)
        try await expectConflict(
            tool, [tool.path("in"), "--to", "webp"], names: ["in/a.png", "in/a.webp"])
        #expect(try tool.data("in/a.webp") == TestFiles.data("webp/lossy.webp"))
    }

    @Test func aSecondRunBesideTheSourcesHasNothingToDo() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png")
        try tool.age("in/a.png", by: 100)
        for count in ["1 converted, 0 skipped", "0 converted, 2 skipped"] {
            let result = try await tool.run(["convert", tool.path("in"), "--to", "webp"])
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.lines.last?.hasPrefix(count) == true)
        }
    }

    @Test func inPlaceReplacesSourcesAndKeepsTheirPermissions() async throws {
        let tool = try Tool()
        try tool.add("jpeg/baseline-444.jpg", as: "in/a.jpg")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: tool.path("in/a.jpg"))
        let result = try await tool.run(["convert", tool.path("in/a.jpg"), "--in-place", "--max-side", "12"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try decoded(try tool.data("in/a.jpg")).size == PixelSize(12, 8))
        let mode = try FileManager.default.attributesOfItem(atPath: tool.path("in/a.jpg"))[.posixPermissions]
        #expect(mode as? Int == 0o640)
        #expect(try tool.files(in: "in") == ["a.jpg"])
    }

    @Test func theOutputFolderInsideOfASourceIsNoSource() async throws {
        let tool = try Tool()
        try tool.add("png/1x1.png", as: "in/a.png", "in/out/b.png")
        let result = try await tool.run(["convert", "-r", tool.path("in"), "-o", tool.path("in/out")])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try tool.tree("in") == ["a.png", "out/a.png", "out/b.png"])
    }
}
