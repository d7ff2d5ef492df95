import Foundation
import Glibc
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// A body in a file without a name, which no other process can open, and in a journal beside it if it is to be kept.
///
/// Only the file without a name is ever mapped: truncating a mapped file would crash the process that reads it.
final class PartialBodyFile: PartialBody {
    enum Failure: Error {
        /// The limit of open bytes is reached.
        case noRoom
        case isClosed
        case isCut
    }

    private struct State {
        var file: Int32?
        var count = 0
        /// Whether a write was interrupted: the file may contain its beginning, and nothing may be appended.
        var isTorn = false
        /// Nil for a body that is not kept, or whose journal could not be written any further.
        var journal: PartialBodyJournal?
    }

    private let files: any FileSystem
    /// Whether the file never had a name. On file systems without such files, the bytes are read and not mapped.
    private let isPrivate: Bool
    private let share: PartialBodyShare
    private let state: Lock<State>
    /// Called with the journal when it is kept.
    private let onKeep: @Sendable (PartialBodyJournal) -> Void

    init(
        _ file: Int32, isPrivate: Bool, journal: PartialBodyJournal?, files: any FileSystem, share: PartialBodyShare,
        onKeep: @escaping @Sendable (PartialBodyJournal) -> Void
    ) {
        self.files = files
        self.isPrivate = isPrivate
        self.share = share
        self.onKeep = onKeep
        state = Lock(State(file: file, journal: journal))
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
        guard let journal = state.withLock({ $0.journal }) else { return }
        do {
            try journal.append(bytes)
        } catch {
            // The body continues, but is not kept.
            state.withLock { $0.journal = nil }
            journal.discard()
        }
    }

    func bytes(_ range: Range<Int>) throws -> Data {
        let file = try open()
        guard !range.isEmpty else { return Data() }
        // A mapping starts at a page boundary.
        let before = range.lowerBound % PartialBodyLabel.page
        guard isPrivate,
            let mapped = try? files.map(file, from: range.lowerBound - before, size: before + range.count)
        else { return try read(file, range) }
        return data(of: mapped, from: before)
    }

    func finish() throws -> Data {
        let bytes = try bytes(0..<count)
        discard()
        return bytes
    }

    func keep() {
        let (file, journal) = take()
        if let file { files.release(file) }
        guard let journal else { return }
        journal.close()
        onKeep(journal)
    }

    func discard() {
        let (file, journal) = take()
        journal?.discard()
        if let file { files.release(file) }
    }

    private func data(of mapped: UnsafeRawBufferPointer, from start: Int) -> Data {
        guard let base = mapped.baseAddress else { return Data() }
        // The bytes count as open as long as any data refers to them.
        let mapping = Mapping(bytes: mapped, files: files, share: share)
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: base + start), count: mapped.count - start,
            deallocator: .custom { _, _ in withExtendedLifetime(mapping) {} })
    }

    private func read(_ file: Int32, _ range: Range<Int>) throws -> Data {
        guard let data = PartialBodyFiles.read(range.count, at: range.lowerBound, of: file, by: files) else {
            throw Failure.isCut
        }
        return data
    }

    private func open() throws -> Int32 {
        guard let file = state.withLock({ $0.file }) else { throw Failure.isClosed }
        return file
    }

    private func take() -> (file: Int32?, journal: PartialBodyJournal?) {
        state.withLock { state in
            defer { (state.file, state.journal) = (nil, nil) }
            return (state.file, state.journal)
        }
    }

    /// `@unchecked Sendable` because the bytes are never written.
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

/// The share of a body in the limit of open bytes; it is released when this is deallocated.
final class PartialBodyShare: Sendable {
    private let budget: ByteBudget
    private let held = Lock<[ByteBudget.Hold]>([])

    init(_ budget: ByteBudget) {
        self.budget = budget
    }

    /// Takes further bytes; returns false if the limit is reached.
    func grow(by count: Int) -> Bool {
        guard count > 0 else { return true }
        guard let hold = budget.holdNow(count) else { return false }
        held.withLock { $0.append(hold) }
        return true
    }
}

extension FileSystem {
    /// Unlocks a file and closes it.
    ///
    /// Closing alone is not enough: a process that is being started at this moment also has the file until it executes its
    /// program, and would hold the lock until then.
    func release(_ file: Int32) {
        flock(file, LOCK_UN)
        try? close(file)
    }
}
