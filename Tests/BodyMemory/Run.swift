import Foundation
import Halcyon
import HalcyonSystem
import TestSupport

/// One measurement. It prints the growth in bytes and the length of the body.
struct Run {
    let transport: CurlTransport
    let url: URL
    /// The URL of a short response of the same server. A first request for it loads libraries and opens the connection.
    let small: URL
    let folder: URL

    /// Reads the transport's body at a chunk per millisecond.
    ///
    /// - Parameter isShared: whether others use the connection all the while, where it can have several streams.
    func slowReader(isShared: Bool) async throws {
        try await ask()
        ProcessMemory.resetPeak()
        let before = ProcessMemory.resident
        let others = Task { while isShared, !Task.isCancelled { try? await ask() } }
        defer { others.cancel() }
        let received = try await read { try await Task.sleep(for: .milliseconds(1)) }
        print(ProcessMemory.peak - before, received)
    }

    /// Reads the transport's body, but nothing behind the first chunk until others have used the connection often enough for
    /// all of it to arrive.
    func stalledReader() async throws {
        try await ask()
        ProcessMemory.resetPeak()
        let before = ProcessMemory.resident
        var most = 0
        let received = try await read {
            guard most == 0 else { return }
            for _ in 0..<2000 { try await ask() }
            most = ProcessMemory.peak
        }
        print(most - before, received)
    }

    /// Reads the body and calls `work` after each chunk. The bytes of the body count from 0 to 250 and begin anew.
    private func read(behindEach work: () async throws -> Void) async throws -> Int {
        let expected = Data((0..<(1 << 20)).map { UInt8($0 % 251) })
        var received = 0
        for try await chunk in try await transport.send(.patient(url)).body {
            guard expected.dropFirst(received % 251).prefix(chunk.count) == chunk else {
                throw Damaged(offset: received)
            }
            received += chunk.count
            try await work()
        }
        return received
    }

    /// Reads the downloader's result. The figure that counts is the memory that no file is behind.
    func download(toFile: Bool) async throws {
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.partialBodies = toFile ? PartialBodyFiles(folder: folder) : nil
        configuration.retry = .never
        let downloader = ImageDownloader(configuration)
        _ = try await downloader.download(small)
        let before = ProcessMemory.anonymous
        let peak = Lock(before)
        var request = DownloadRequest(url: url, maximumBytes: 1 << 30)
        request.exposesBody = true
        request.timeouts = .patient
        let result = try await downloader.download(request) { _ in
            peak.withLock { $0 = max($0, ProcessMemory.anonymous) }
        }
        let sum = result.data.reduce(into: UInt64(0)) { $0 &+= UInt64($1) }
        let most = max(peak.withLock { $0 }, ProcessMemory.anonymous)
        print(most - before, sum > 0 ? result.data.count : 0)
    }

    private func ask() async throws {
        for try await _ in try await transport.send(.patient(small)).body {}
    }
}

private struct Damaged: Error {
    let offset: Int
}
