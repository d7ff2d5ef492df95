import Foundation
import Glibc
import Halcyon
import HalcyonNetwork
import HalcyonSystem
import TestSupport

/// The measurements of this process's descriptors.
extension Run {
    /// Prints what a child process would inherit while a body arrives in a file: how many descriptors, and what they are.
    func listInherited() async throws {
        var configuration = ImageDownloader.Configuration(transport: transport)
        (configuration.partialBodies, configuration.timeouts) = (PartialBodyFiles(folder: folder), .patient)
        let listed = Lock<[String]?>(nil)
        _ = try await ImageDownloader(configuration).download(DownloadRequest(url: url)) { progress in
            guard progress.received > 2 << 20 else { return }
            listed.withLock { $0 = $0 ?? Descriptors.inherited }
        }
        let names = listed.withLock { $0 } ?? ["nothing was listed"]
        print(names.count, names)
    }

    /// Sends requests while there is no free descriptor, and then again while there are some. Prints the reason of the failure,
    /// and the number of transfers that succeeded after it, one after the other.
    func exhaustDescriptors() async throws {
        // The first transfer opens the descriptors that the runtime keeps.
        _ = try await CurlTransport().send(.patient(small)).body.drained()
        let taken = Descriptors.takeAll()
        var reason: DownloadError.Reason?
        do {
            _ = try await transport.send(.patient(small))
        } catch let error as DownloadError {
            reason = error.reason
        }
        for file in taken { close(file) }
        var count = 0
        // Each waits for the thread to be woken.
        for _ in 0..<20 {
            _ = try await transport.send(.patient(small)).body.drained()
            count += 1
        }
        print(reason == .connection(.exhausted) ? "exhausted" : "\(String(describing: reason))", count)
    }
}

private enum Descriptors {
    static var inherited: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { file in
            let flags = fcntl(file, F_GETFD)
            return file > 2 && flags >= 0 && flags & FD_CLOEXEC == 0
        }.map { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) ?? "closed" }
    }

    /// Makes the process use every descriptor that it may have.
    static func takeAll() -> [Int32] {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_cur, 256)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var files: [Int32] = []
        while true {
            let file = fcntl(0, F_DUPFD_CLOEXEC, 3)
            guard file >= 0 else { return files }
            files.append(file)
        }
    }
}

extension TransportBody {
    /// Reads the body and keeps nothing of it.
    fileprivate func drained() async throws {
        for try await _ in self {}
    }
}
