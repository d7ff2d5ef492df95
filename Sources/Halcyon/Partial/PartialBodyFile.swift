import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// A body in a file that this process has to itself for as long as it is open.
final class PartialBodyFile: PartialBody {
    enum Failure: Error {
        /// As many bytes are open as may be.
        case noRoom
        case isClosed
        case isCut
    }

    private struct State {
        var file: Int32?
        var count: Int
        /// Whether a write broke off: its beginning may be in the file, and nothing may follow it.
        var isTorn = false
    }

    /// Nil for one that has no name any more.
    let path: String?
    private let files: any FileSystem
    /// Where the body begins.
    private let offset: Int
    private let share: PartialBodyShare
    private let state: Lock<State>
    /// Told the bytes in the file when it is kept.
    private let onKeep: @Sendable (Int) -> Void

    init(
        _ file: Int32, path: String?, offset: Int, count: Int, files: any FileSystem, share: PartialBodyShare,
        onKeep: @escaping @Sendable (Int) -> Void
    ) {
        self.path = path
        self.files = files
        self.offset = offset
        self.share = share
        self.onKeep = onKeep
        state = Lock(State(file: file, count: count))
    }

    deinit { keep() }

    var count: Int { state.withLock { $0.count } }

    func append(_ bytes: Data) throws {
        let file = try open()
        guard !state.withLock({ $0.isTorn }) else { throw Failure.isCut }
        guard share.grow(by: bytes.count) else { throw Failure.noRoom }
        do {
            try PartialBodyFiles.write(bytes, to: file, by: files)
        } catch {
            state.withLock { $0.isTorn = true }
            throw error
        }
        state.withLock { $0.count += bytes.count }
    }

    func bytes(_ range: Range<Int>) throws -> Data {
        let file = try open()
        guard !range.isEmpty else { return Data() }
        let start = offset + range.lowerBound
        // A mapping begins with a page.
        let before = start % PartialBodyLabel.page
        do {
            let mapped = try files.map(file, from: start - before, size: before + range.count)
            return data(of: mapped, from: before)
        } catch {
            return try read(file, range)
        }
    }

    func finish() throws -> Data {
        let file = try open()
        let count = count
        defer { close() }
        if let path { try? files.unlink(path) }
        guard count > 0 else { return Data() }
        do {
            return data(of: try files.map(file, size: offset + count), from: offset)
        } catch {
            return try read(file, 0..<count)
        }
    }

    func keep() {
        guard let file = take() else { return }
        files.release(file)
        if path != nil { onKeep(offset + count) }
    }

    func discard() {
        guard let file = take() else { return }
        // First the name: once it is closed another process may take it up.
        if let path { try? files.unlink(path) }
        files.release(file)
    }

    private func data(of mapped: UnsafeRawBufferPointer, from start: Int) -> Data {
        guard let base = mapped.baseAddress else { return Data() }
        // The bytes count as open for as long as anybody has them.
        let mapping = Mapping(bytes: mapped, files: files, share: share)
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: base + start), count: mapped.count - start,
            deallocator: .custom { _, _ in withExtendedLifetime(mapping) {} })
    }

    private func read(_ file: Int32, _ range: Range<Int>) throws -> Data {
        var data = Data(count: range.count)
        var done = 0
        while done < range.count {
            let read = try data.withUnsafeMutableBytes {
                try files.read(
                    file, into: UnsafeMutableRawBufferPointer(rebasing: $0[done...]),
                    at: offset + range.lowerBound + done)
            }
            guard read > 0 else { throw Failure.isCut }
            done += read
        }
        return data
    }

    private func open() throws -> Int32 {
        guard let file = state.withLock({ $0.file }) else { throw Failure.isClosed }
        return file
    }

    private func close() {
        if let file = take() { files.release(file) }
    }

    private func take() -> Int32? {
        state.withLock { state in
            defer { state.file = nil }
            return state.file
        }
    }

    /// `@unchecked Sendable` because nobody writes the bytes.
    private final class Mapping: @unchecked Sendable {
        private let bytes: UnsafeRawBufferPointer
        private let files: any FileSystem
        private let share: PartialBodyShare

        init(bytes: UnsafeRawBufferPointer, files: any FileSystem, share: PartialBodyShare) {
            self.bytes = bytes
            self.files = files
            self.share = share
        }

        deinit { files.unmap(bytes) }
    }
}
