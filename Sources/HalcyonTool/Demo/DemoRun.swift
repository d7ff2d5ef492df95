import DemoServer
import Foundation
import Glibc
import Halcyon

/// A run of the demo: a server, a pipeline with an empty cache, and a list of images to load.
struct DemoRun {
    let pipeline: ImagePipeline
    private(set) var items: [DemoItem]
    private let server: GalleryServer?
    private let cacheFolder: URL
    private let concurrency: Int

    static func prepare(_ command: DemoCommand) async throws -> DemoRun {
        let cacheFolder = FileManager.default.temporaryDirectory
            .appending(path: "halcyon-demo-\(ProcessInfo.processInfo.processIdentifier)")
        let disk = DiskCache(folder: cacheFolder)
        let pipeline = ImagePipeline.ofTool(disk: disk)
        if let urls = command.urls {
            let text = try String(contentsOfFile: urls, encoding: .utf8)
            let items = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty && !$0.hasPrefix("#") }
                .map { DemoItem(title: $0, source: SourceList.source($0), mustFail: nil) }
            return DemoRun(
                pipeline: pipeline, items: items, server: nil, cacheFolder: cacheFolder,
                concurrency: command.concurrency)
        }
        let gallery = URL(filePath: command.gallery)
        let generated = URL(filePath: command.generated)
        Output.line("Preparing the gallery ...")
        try LargeImage.make(in: generated, coders: pipeline.configuration.coders)
        let server = try await GalleryServer.start(folders: [gallery, generated])
        return DemoRun(
            pipeline: pipeline, items: try items(of: gallery, served: server.base), server: server,
            cacheFolder: cacheFolder, concurrency: command.concurrency)
    }

    /// Loads all images once.
    ///
    /// - Returns: The milliseconds from the first start to the last end.
    mutating func run(_ pass: DemoPass) async -> Double {
        if pass == .disk {
            // The entries of the first pass must be on disk, and only there.
            await pipeline.configuration.cache.disk?.flush()
            pipeline.configuration.cache.clearMemory()
        }
        var progress = ProgressLine(title: pass.title, total: items.count)
        let started = ContinuousClock.now
        let (pipeline, sources, concurrency) = (pipeline, items.map(\.source), concurrency)
        await withTaskGroup(of: (Int, DemoItem.Outcome).self) { group in
            var next = 0
            func startNext() {
                guard next < sources.count else { return }
                let index = next
                next += 1
                group.addTask { (index, await Self.load(sources[index], from: pipeline)) }
            }
            for _ in 0..<concurrency { startNext() }
            while let (index, outcome) = await group.next() {
                startNext()
                items[index].outcomes.append(outcome)
                progress.advance(items[index].title)
            }
        }
        let total = (ContinuousClock.now - started).milliseconds
        progress.finish(total)
        return total
    }

    /// Stops the server and the pipeline, and removes the cache folder.
    func finish() async {
        await server?.stop()
        await pipeline.shutdown()
        try? FileManager.default.removeItem(at: cacheFolder)
    }

    private static func load(_ source: ImageSource, from pipeline: ImagePipeline) async -> DemoItem.Outcome {
        let request = ImageRequest(source, processors: ContactSheet.processors)
        let started = ContinuousClock.now
        do {
            let response = try await pipeline.response(for: request)
            return .init(milliseconds: (ContinuousClock.now - started).milliseconds, result: .success(response))
        } catch {
            return .init(
                milliseconds: (ContinuousClock.now - started).milliseconds, result: .failure(FailureReport(error)))
        }
    }

    private struct Listed: Decodable {
        let file: String
        let title: String
    }

    /// Returns the images of the gallery's list, the picture that was made here, and the two that must fail.
    private static func items(of gallery: URL, served base: URL) throws -> [DemoItem] {
        let listed = try JSONDecoder().decode(
            [Listed].self, from: Data(contentsOf: gallery.appending(path: "gallery.json")))
        func item(_ title: String, _ file: String, mustFail: String? = nil) -> DemoItem {
            DemoItem(title: title, source: .remote(base.appending(path: file)), mustFail: mustFail)
        }
        return listed.map { item($0.title, $0.file) } + [
            item(LargeImage.title, LargeImage.fileName),
            item("A broken file", "broken.jpg", mustFail: "damagedImage"),
            item("Nothing there", "missing.jpg", mustFail: "httpStatus"),
        ]
    }
}

/// A progress bar on a terminal; plain lines elsewhere.
struct ProgressLine {
    private let title: String
    private let total: Int
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var done = 0

    init(title: String, total: Int) {
        self.title = title
        self.total = total
        if !isTerminal { Output.line("\(title) (\(total) images)") }
    }

    mutating func advance(_ name: String) {
        done += 1
        guard isTerminal else {
            Output.line("  \(done)/\(total)  \(name)")
            return
        }
        let width = 28
        let filled = total > 0 ? width * done / total : width
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: width - filled)
        // Returns to the start of the line and erases the previous name.
        Output.write("\r\u{1B}[2K\(bar) \(done)/\(total)  \(name)", to: FileHandle.standardOutput)
    }

    func finish(_ milliseconds: Double) {
        let line = "\(title): \(Milliseconds.text(milliseconds))"
        Output.line(isTerminal ? "\r\u{1B}[2K\(line)" : line)
    }
}
