import Halcyon
import Testing

/// The responses that every command-line tool gives.
@Suite(.timeLimit(.minutes(5))) struct ToolGeneralTests {
    @Test func versionIsTheLibrarys() async throws {
        let result = try await Tool().run(["--version"])
        #expect(result.status == 0)
        #expect(result.text == HalcyonVersion.current + "\n")
    }

    @Test(arguments: [["--help"], ["-h"], [], ["help"]])
    func helpNamesTheCommands(arguments: [String]) async throws {
        let result = try await Tool().run(arguments)
        #expect(result.status == 0)
        for command in [
            "load", "convert", "compare", "colors", "blurhash", "thumbnail", "probe", "processors", "cache", "demo",
            "show",
        ] {
            #expect(result.text.contains("\n  \(command) "))
        }
    }

    @Test(arguments: [
        (
            ["load"],
            [
                "--output", "--resize", "--process", "--format", "--quality", "--max-bytes", "--ttl", "--policy",
                "--header", "--timeout", "--retries", "--cache", "--concurrency", "--passes", "--quiet", "--json",
            ]
        ),
        (
            ["convert"],
            [
                "--recursive", "--output", "--to", "--quality", "--max-side", "--process", "--jobs", "--force",
                "--in-place", "--dry-run", "--quiet",
            ]
        ),
        (["compare"], ["--amplify", "--min-psnr", "--min-ssim", "--resize", "--json"]),
        (["colors"], ["--count", "--json"]), (["blurhash"], ["--components", "--decode", "--size"]),
        (["thumbnail"], ["--size", "--timeout", "--max-memory"]),
        (
            ["show"],
            [
                "--protocol", "--width", "--height", "--columns", "--fit", "--no-captions", "--background", "--dither",
                "--still", "--loops", "--resize", "--process", "--header", "--timeout", "--retries", "--cache",
                "--concurrency",
            ]
        ),
        (["probe"], ["--json"]), (["processors"], ["--markdown"]),
        (["cache"], ["info", "show", "remove", "trim", "clear"]),
        (["cache", "trim"], ["--to", "--expired", "--cache", "--json"]),
        (["demo"], ["--gallery", "--generated", "--urls", "--output", "--concurrency"]),
    ])
    func helpNamesTheOptions(command: [String], options: [String]) async throws {
        let result = try await Tool().run(command + ["--help"])
        #expect(result.status == 0)
        for option in options { #expect(result.text.contains(option)) }
    }

    @Test func helpSaysTheScaleOfTheQuality() async throws {
        let text = try await Tool().run(["load", "--help"]).text.split { $0.isWhitespace }.joined(separator: " ")
        #expect(text.contains("--quality <0...100>"))
        #expect(text.contains("from 0 to 100"))
    }

    @Test(arguments: [
        ["nothing"], ["--nothing"], ["Load"], ["demo", "--concurrency", "0"], ["demo", "extra"],
        ["demo", "-o", "sheet.svg"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let result = try await Tool().run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(!result.errors.isEmpty)
    }
}
