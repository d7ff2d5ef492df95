import Foundation
import Halcyon
import HalcyonCache
import HalcyonNetwork

extension ImagePipeline.Configuration {
    /// Returns a configuration for tests: nothing outside the test decides when something happens.
    ///
    ///     let (transport, clock) = (ScriptedTransport(), ManualClock())
    ///     let pipeline = ImagePipeline(configuration: .testing(transport: transport, clock: clock))
    ///
    /// Every time is that of `clock`: freshness, expiration in memory and on disk, remembered failures, rates and `Retry-After`. The
    /// network is there, nothing warns of low memory, and the downloader has no jitter. Work still runs on other threads: a
    /// `ScriptedTransportGate` holds an answer back until the test has seen what it is for.
    ///
    /// - Parameters:
    ///   - transport: the transport, such as a `ScriptedTransport`.
    ///   - clock: the clock, which stands still until the test advances it.
    ///   - folder: the folder of the disk cache, which the test removes; nil, the default, has no disk.
    ///   - retryClock: the clock that a retry waits for, whose only sleepers are retries; nil, the default, waits for nothing.
    public static func testing(
        transport: any Transport, clock: ManualClock = ManualClock(), folder: URL? = nil,
        retryClock: ManualClock? = nil
    ) -> ImagePipeline.Configuration {
        let (time, pause) = (clock.timeSource, retryClock?.timeSource)
        let disk = folder.map { DiskCache(folder: $0, timeSource: time) }
        let cache = ImageCache(disk: disk, clock: time, memoryPressure: nil)
        var configuration = ImagePipeline.Configuration(cache: cache, clock: time)
        configuration.changeDownloader {
            $0.transport = transport
            $0.time = time
            $0.networkMonitor = ScriptedNetworkMonitor()
            $0.jitter = { 1 }
            $0.sleep = { duration in
                try Task.checkCancellation()
                try await pause?.wait(for: duration)
            }
        }
        return configuration
    }
}
