import ArgumentParser
import Foundation
import Halcyon

/// `halcyon demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Load a gallery three times over the loopback and draw a contact sheet.",
        discussion: "The passes are over the network, from disk, and from memory.")

    @Option(help: "The folder of the served gallery.")
    var gallery = "demo/gallery"

    @Option(help: "The folder for pictures that the first run generates.")
    var generated = ".build/demo"

    @Option(help: "Loads the URLs of this file, one a line, instead of the gallery.")
    var urls: String?

    @Option(name: .shortAndLong, help: "The file of the contact sheet, in the format of its extension.")
    var output = "demo/contact-sheet.png"

    @Option(help: "The number of simultaneous loads.")
    var concurrency = 6

    func validate() throws {
        guard (1...64).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 64.") }
        do {
            _ = try CoderRegistry.shared.formatToWrite(pathExtension: URL(filePath: output).pathExtension)
        } catch {
            throw ValidationError("--output \(output): \(error)")
        }
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
        try image.write(to: file, coders: coders)
    }
}
