import Foundation
import Glibc
import Halcyon
import TestSupport
import Testing

@testable import HalcyonTool

/// `halcyon convert` with names, links, terminals and signals of every kind.
@Suite(.timeLimit(.minutes(5))) struct ConvertFileSystemTests {
    private func write(_ fixture: String, to path: BytePath) throws {
        try AtomicFile.write(try TestFiles.data(fixture), to: path)
    }

    private func bytes(_ tool: Tool, _ name: String) -> BytePath { BytePath(tool.path(name).utf8) }

    @Test func namesThatAreNoTextAreConverted() async throws {
        let tool = try Tool()
        let odd: [[UInt8]] = [
            [0xFF, 0x2E] + Array("png".utf8), Array("~.png".utf8), Array("a\nb %41?#.png".utf8), Array("-p.png".utf8),
            Array("\u{1B}[2J.png".utf8), Array("é ü.png".utf8),
        ]
        for name in odd { try write("png/rgb8.png", to: bytes(tool, "in").appending(name)) }
        let result = try await tool.run(["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp"])
        #expect(result.status == 0, "\(result.errors)")
        let outputs = try FolderReader.names(in: bytes(tool, "out"))
        #expect(Set(outputs) == Set(odd.map { $0.dropLast(3) + Array("webp".utf8) }))
        #expect(outputs.count == odd.count)
        // A name neither ends a line nor speaks to the terminal.
        #expect(result.lines.count == odd.count + 1)
        #expect(!result.text.contains("\u{1B}"))
    }

    @Test func argumentsKeepTheirBytes() async throws {
        let tool = try Tool()
        for byte in [UInt8(0xFF), 0xFE] {
            try write("png/rgb8.png", to: bytes(tool, "in").appending([byte, 0x2E] + Array("png".utf8)))
        }
        let streams = ["in.txt", "out.txt", "err.txt"].map { tool.folder.appending(path: $0) }
        try Data().write(to: streams[0])
        let shell = ChildProcess(
            executable: URL(filePath: "/bin/sh"),
            arguments: [
                "-c", #"exec "$1" convert "$2/$(printf '\377').png" "$2/$(printf '\376').png" -o "$3" --to jpeg"#, "sh",
                try Spawn.builtExecutable("halcyon").path(percentEncoded: false), tool.path("in"), tool.path("out"),
            ],
            environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"])
        #expect(try await shell.run(input: streams[0], output: streams[1], errors: streams[2]) == 0)
        #expect(try FolderReader.names(in: bytes(tool, "out")) == [0xFE, 0xFF].map { [$0, 0x2E] + Array("jpg".utf8) })
    }

    /// Two names that are one text are two pictures, also while both are under way.
    @Test func namesThatLookEqualAreNotMixedUp() async throws {
        let tool = try Tool()
        let fixtures = ["png/rgb8.png", "png/1x1.png"]
        for (byte, fixture) in zip([UInt8(0xFE), 0xFF], fixtures) {
            try write(fixture, to: bytes(tool, "in").appending([byte, 0x2E] + Array("png".utf8)))
        }
        let result = try await tool.run([
            "convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp", "--jobs", "2",
        ])
        #expect(result.status == 0, "\(result.errors)")
        let sizes = try [UInt8(0xFE), 0xFF].map { byte in
            let path = bytes(tool, "out").appending([byte, 0x2E] + Array("webp".utf8))
            return try decoded(try RawFile.read(path, maximumBytes: 1 << 20)).size
        }
        #expect(sizes == [PixelSize(48, 32), PixelSize(1, 1)])
    }

    @Test func theLongestNameIsWritten() async throws {
        let tool = try Tool()
        let stem = String(repeating: "n", count: 251)
        try tool.add("png/rgb8.png", as: "in/\(stem).png", "in/short.png")
        let jpeg = try await tool.run(["convert", tool.path("in"), "-o", tool.path("out"), "--to", "jpeg"])
        #expect(jpeg.status == 0, "\(jpeg.errors)")
        #expect(try tool.tree("out") == ["\(stem).jpg", "short.jpg"])
        // One byte too many is a failure of its own.
        let webp = try await tool.run(["convert", tool.path("in"), "-o", tool.path("more"), "--to", "webp"])
        #expect(webp.status == 1 && webp.errorLines.count == 1)
        #expect(try tool.files(in: "more") == ["short.webp"])
    }

    @Test func loopsOfLinksEnd() async throws {
        let tool = try Tool()
        try tool.add("png/1x1.png", as: "in/a.png", "other/b.png")
        let links = [
            ("in/self", "."), ("in/up", ".."), ("in/here.png", "here.png"), ("in/b.png", "../other/b.png"),
            ("in/nowhere.png", "missing"),
        ]
        for (name, target) in links {
            try FileManager.default.createSymbolicLink(atPath: tool.path(name), withDestinationPath: target)
        }
        for source in [tool.path("in"), tool.path("in/**"), tool.path("in/**/*.png")] {
            let result = try await tool.run(
                ["convert", "-r", source, "-o", tool.path("out"), "--to", "webp", "--force"])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try tool.tree("out") == ["a.webp", "b.webp"])
        }
    }

    @Test func anOutputThatIsALinkIsReplacedAndNotFollowed() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png", "precious.png")
        try FileManager.default.createDirectory(atPath: tool.path("out"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: tool.path("out/a.webp"), withDestinationPath: "../precious.png")
        let result = try await tool.run(
            ["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp", "--force"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try tool.data("precious.png") == TestFiles.data("png/rgb8.png"))
        #expect(try CoderRegistry.shared.probe(try tool.data("out/a.webp")).format == .webp)
    }

    @Test func anOutputThatCannotBeWrittenIsAFailureAndLeavesNothing() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png", "in/b.png", "out/a.webp/file.png")
        let result = try await tool.run(["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp", "--force"])
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1 && result.errors.contains("a.webp cannot be written"))
        #expect(try tool.files(in: "out") == ["a.webp", "b.webp"])
    }

    /// The pipe of standard output is full after some lines, so the conversion is in its middle when the signal arrives.
    @Test func anInterruptLeavesNoHalfFiles() async throws {
        let tool = try Tool()
        let data = try TestFiles.data("png/rgb8.png")
        for index in 0..<800 { try AtomicFile.write(data, to: bytes(tool, "in/\(index).png")) }
        let (pipe, empty) = (tool.path("pipe"), tool.path("empty"))
        #expect(mkfifo(pipe, 0o600) == 0)
        try Data().write(to: URL(filePath: empty))
        let reader = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        // F_SETPIPE_SZ, which the C library's module hides.
        #expect(fcntl(reader, 1031, 4096) >= 0)
        let child = try Spawn.child(
            try Spawn.builtExecutable("halcyon"),
            ["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp"], environment: ["LANG": "C.UTF-8"],
            newSession: true
        ) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, empty, O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, pipe, O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, empty, O_WRONLY, 0)
        }
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1)
        kill(child, SIGINT)
        #expect(Spawn.reap(child) == -SIGINT)
        let outputs = try tool.files(in: "out")
        #expect(!outputs.isEmpty && outputs.count < 800)
        for name in outputs {
            #expect(name.hasSuffix(".webp"))
            _ = try decoded(try tool.data("out/\(name)"))
        }
    }

    @Test func aTerminalGetsABarAndAFileNone() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png", "in/b.png")
        for (isQuiet, isShown) in [(false, true), (true, false)] {
            let text = try await errorsOnTerminal(tool, isQuiet ? ["--quiet"] : [])
            #expect(text.contains("2/2  ") == isShown && text.isEmpty != isShown, "\(text)")
        }
        let plain = try await tool.run(
            ["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp", "--force"],
            environment: ["TERM": "xterm"])
        #expect(plain.errors.isEmpty)
    }

    /// Returns the text that a conversion writes to a terminal as its standard error.
    private func errorsOnTerminal(_ tool: Tool, _ options: [String]) async throws -> String {
        // By hand, since the C library's module hides posix_openpt and its like: TIOCSPTLCK and TIOCGPTN.
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        defer { close(master) }
        var (lock, number): (Int32, UInt32) = (0, 0)
        try #require(ioctl(master, 0x4004_5431, &lock) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        let name = "/dev/pts/\(number)"
        // Held open, so that what was written stays readable after the end of the child.
        let terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(terminal) }
        let child = ChildProcess(
            executable: try Spawn.builtExecutable("halcyon"),
            arguments: ["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp", "--force"] + options,
            environment: ["LANG": "C.UTF-8", "TERM": "xterm"])
        let input = tool.folder.appending(path: "in.txt")
        try Data().write(to: input)
        let status = try await child.run(
            input: input, output: tool.folder.appending(path: "out.txt"), errors: URL(filePath: name))
        #expect(status == 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(master, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test func theBarSaysRateAndTimeLeft() {
        let bar = String(repeating: "━", count: 7) + String(repeating: "─", count: 21)
        #expect(
            ProgressBar.text(done: 100, total: 400, elapsed: .seconds(50)) == "\(bar) 100/400  2.0/s  2:30 left")
        #expect(ProgressBar.text(done: 0, total: 4, elapsed: .zero).hasSuffix("─ 0/4"))
        #expect(ProgressBar.text(done: 1, total: 7201, elapsed: .seconds(1)).hasSuffix("1/7201  1.0/s  2:00:00 left"))
    }
}
