import ArgumentParser
import Foundation
import Halcyon

/// `halcyon demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Load a gallery three times over the loopback, and draw a contact sheet.",
        discussion: "Once over the network, once from disk, once from memory.")

    @Option(help: "The folder of the gallery that is served.")
    var gallery = "demo/gallery"

    @Option(help: "Where pictures that are made at the first run are kept.")
    var generated = ".build/demo"

    @Option(help: "Load the URLs of this file, a line each, instead of the gallery.")
    var urls: String?

    @Option(name: .shortAndLong, help: "The contact sheet, a PNG.")
    var output = "demo/contact-sheet.png"

    @Option(help: "Loads at the same time.")
    var concurrency = 6

    func validate() throws {
        guard (1...64).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 64.") }
    }

    func run() async throws {
        var run = try await DemoRun.prepare(self)
        var totals: [Double] = []
        for pass in DemoPass.allCases { totals.append(await run.run(pass)) }
        await run.finish()
        Output.line("")
        for line in DemoTable(items: run.items, totals: totals).lines { Output.line(line) }
        let times = zip(DemoPass.allCases, totals).map { "\($0.short) \(Milliseconds.text($1))" }
        let sheet = ContactSheet(
            items: run.items,
            summary: "\(run.items.count) images, three passes:  " + times.joined(separator: "  ·  "))
        try save(try sheet.draw(), coders: run.pipeline.configuration.coders)
        Output.line("")
        Output.line("contact sheet: \(output)")
        let surprises = run.items.filter { !$0.isAsExpected }
        for item in surprises { Output.error("\(item.title): \(item.failure?.message ?? "it should have failed")") }
        if !surprises.isEmpty { throw ExitCode(1) }
    }

    private func save(_ bitmap: Bitmap, coders: CoderRegistry) throws {
        let file = URL(filePath: output)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let image = Image(bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size))
        try coders.encode(image, as: .png, options: EncodeOptions()).write(to: file, options: .atomic)
    }
}
