import Foundation
import TestSupport
import Testing

/// The files that `make install` generates with the tool: completions and manual pages.
@Suite(.timeLimit(.minutes(5))) struct CompletionTests {
    /// Runs a program of the system; nil where it is not installed.
    private func run(
        _ tool: Tool, _ program: String, _ arguments: [String], environment extra: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String)? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let places = path.split(separator: ":").map { "\($0)/\(program)" }
        guard let place = places.first(where: FileManager.default.isExecutableFile) else { return nil }
        let streams = ["program.in", "program.out", "program.err"].map { tool.folder.appending(path: $0) }
        try Data().write(to: streams[0])
        let environment = ["PATH": path, "LANG": "C.UTF-8"].merging(extra) { $1 }
        let child = ChildProcess(executable: URL(filePath: place), arguments: arguments, environment: environment)
        let status = try await child.run(input: streams[0], output: streams[1], errors: streams[2])
        return (status, try tool.text("program.out"), try tool.text("program.err"))
    }

    private func script(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/\(name)")
            .standardizedFileURL.path(percentEncoded: false)
    }

    @Test func whatIsInstalledIsRemovedAndNothingElse() async throws {
        let tool = try Tool()
        let others = ["root/usr/bin/other", "root/usr/share/man/man1/other.1"]
        try tool.add("bad/text.txt", as: others[0])
        try tool.add("bad/text.txt", as: others[1])
        let place = ["DESTDIR": tool.path("root"), "PREFIX": "/usr", "TMPDIR": tool.path("tmp")]
        let built = try Spawn.builtExecutable("halcyon").deletingLastPathComponent().path(percentEncoded: false)
        // A second time over the first.
        for _ in 0..<2 {
            let result = try await run(tool, "bash", [script("install"), built], environment: place)
            #expect(result?.status == 0, "\(result?.errors ?? "there is no bash")")
        }
        let files = try tool.tree("root/usr")
        for name in [
            "bin/halcyon", "share/bash-completion/completions/halcyon", "share/zsh/site-functions/_halcyon",
            "share/fish/vendor_completions.d/halcyon.fish", "share/man/man1/other.1",
        ] {
            #expect(files.contains(name))
        }
        let removed = try await run(tool, "bash", [script("install"), "--remove"], environment: place)
        #expect(removed?.status == 0, "\(removed?.errors ?? "")")
        #expect(try tool.tree("root") == others.map { String($0.dropFirst("root/".count)) })
        #expect(try tool.files(in: "root/usr/share") == ["man"])
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionsAreScriptsOfTheirShell(shell: String) async throws {
        let tool = try Tool()
        let result = try await tool.run(["--generate-completion-script", shell])
        #expect(result.status == 0, "\(result.errors)")
        for word in ["convert", "compare", "dry-run", "components"] { #expect(result.text.contains(word)) }
        try result.output.write(to: tool.folder.appending(path: "script"))
        // Without the shell, the words above are all that is tested.
        guard let (status, _, errors) = try await run(tool, shell, ["-n", tool.path("script")]) else { return }
        #expect(status == 0 && errors.isEmpty, "\(errors)")
    }

    @Test func manualPagesHaveEachCommandAndNoWarnings() async throws {
        let tool = try Tool()
        let help = try await tool.run(["--experimental-dump-help"])
        #expect(help.status == 0, "\(help.errors)")
        try help.output.write(to: tool.folder.appending(path: "help.json"))
        guard
            let (status, _, errors) = try await run(
                tool, "python3", [script("manual"), tool.path("help.json"), tool.path("man")])
        else { return }
        #expect(status == 0, "\(errors)")
        let pages = try tool.files(in: "man")
        for name in ["halcyon", "halcyon-convert", "halcyon-compare", "halcyon-load", "halcyon-cache-info"] {
            #expect(pages.contains("\(name).1"))
        }
        let convert = try tool.text("man/halcyon-convert.1")
        for word in [".TH ", ".SH NAME", ".SH SYNOPSIS", #"\-\-dry\-run"#, #"\-\-in\-place"#] {
            #expect(convert.contains(word), "\(word)")
        }
        for page in pages {
            let arguments = ["-man", "-Tutf8", "-ww", "-z", tool.path("man/\(page)")]
            guard let (status, _, errors) = try await run(tool, "groff", arguments) else { return }
            #expect(status == 0 && errors.isEmpty, "\(page): \(errors)")
        }
    }
}
