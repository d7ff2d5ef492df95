import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport

/// A downloader over a scripted transport, whose waits between attempts are noted and not waited.
struct DownloaderFixture {
    let transport = ScriptedTransport()
    let delays = Lock<[Duration]>([])
    let downloader: ImageDownloader

    init(
        perHost: Int = 6, total: Int = 24, retry: RetryPolicy = .never, now: Date = Date(timeIntervalSince1970: 0),
        configure: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) {
        var configuration = ImageDownloader.Configuration(transport: transport, headers: ["User-Agent": "test"])
        configuration.transfersPerHost = perHost
        configuration.transfers = total
        configuration.retry = retry
        configuration.jitter = { 1 }
        configuration.time = TimeSource { now }
        // A body that a test holds back may take any time.
        configuration.timeouts.minimumRate = .none
        configuration.sleep = { [delays] delay in
            delays.withLock { $0.append(delay) }
            try Task.checkCancellation()
        }
        configure(&configuration)
        downloader = ImageDownloader(configuration)
    }

    func url(_ path: String = "/a", host: String = "one.test") -> URL {
        URL(web: "http://\(host)\(path)")
    }
}
