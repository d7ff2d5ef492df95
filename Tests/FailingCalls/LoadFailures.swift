import Foundation
import Halcyon
import HalcyonSystem

/// Loads an image over the network into a disk cache while calls fail: what comes is a typed error or the image, and the
/// next time the image. What a pipeline opens is closed behind it.
struct LoadFailures {
    let folder: URL
    let url: URL
    let failure: Failure

    func run() async {
        _ = await load(0)
        failure.arm(first: 0)
        guard await load(1) == nil else { return FailingCalls.say("wrong load while no call failed") }
        let calls = failure.disarm()
        // The report is open from here on.
        FailingCalls.say("\(calls) calls")
        let before = Self.descriptors
        for first in stride(from: 1, through: calls, by: failure.step) {
            FailingCalls.say("at load \(first)")
            if let wrong = await load(1 + first, failing: first) { FailingCalls.say("wrong load \(first): \(wrong)") }
        }
        // A pipeline's connections and watches end with their threads, some time behind it. What is never closed ends the
        // program by its alarm.
        FailingCalls.say("descriptors left of \(calls) loads")
        alarm(600)
        while Self.descriptors > before { await Task.yield() }
        alarm(0)
    }

    /// - Returns: what is wrong, nil where nothing is.
    private func load(_ number: Int, failing first: Int? = nil) async -> String? {
        // A load that waits for ever ends the program, and is known by the last line.
        alarm(600)
        defer { alarm(0) }
        if let first { failure.arm(first: first) }
        var download = ImageDownloader.Configuration(transport: CurlTransport())
        download.retry = .never
        download.timeouts = DownloadTimeouts(connect: .seconds(100), idle: .seconds(100), minimumRate: .none)
        let disk = DiskCache(folder: folder.appending(path: "\(number)"))
        let pipeline = ImagePipeline(
            configuration: ImagePipeline.Configuration(
                cache: ImageCache(disk: disk), downloader: ImageDownloader(download)))
        let outcome = await self.outcome(pipeline, number)
        await disk.flush()
        guard first != nil else { return outcome == "image" ? nil : outcome }
        failure.disarm()
        if outcome != "image", outcome != "error" { return outcome }
        // Another URL, so that nothing is taken from a cache or remembered as a failure.
        let next = await self.outcome(pipeline, -number)
        return next == "image" ? nil : "\(outcome), and \(next) behind it"
    }

    private func outcome(_ pipeline: ImagePipeline, _ number: Int) async -> String {
        do {
            let image = try await pipeline.image(
                for: url.appending(queryItems: [URLQueryItem(name: "n", value: "\(number)")]))
            return image.bitmap.byteCount > 0 ? "image" : "nothing"
        } catch is ImagePipelineError {
            return "error"
        } catch {
            return "\(error)"
        }
    }

    /// The number of open descriptors without those of libdispatch, which opens its event loop and a timer for each clock at
    /// their first use and keeps them.
    private static var descriptors: Int {
        let (files, folder) = (FileManager.default, "/proc/self/fd")
        let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target?.hasPrefix("anon_inode:") != true
        }
    }
}
