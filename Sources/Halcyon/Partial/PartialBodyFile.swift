import Foundation
import Glibc
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// A body in a file that has no name, so that nobody else can open it, and in a journal beside it if it is to be kept.
///
/// Only the file without a name is ever mapped: whoever cuts a mapped file short ends the process that reads it.
final class PartialBodyFile: PartialBody {
    enum Failure: Error {
        /// As many bytes are open as may be.
        case noRoom
        case isClosed
        case isCut
    }

    private struct State {
        var file: Int32?
        var count = 0
        /// Whether a write broke off: its beginning may be in the file, and nothing may follow it.
        var isTorn = false
        /// Nil for a body that is not kept, or whose journal could not be written on.
        var journal: PartialBodyJournal?
    }

    private let files: any FileSystem
    /// Whether the file never had a name; where the file system has no such files, its bytes are read and not mapped.
    private let isPrivate: Bool
    private let share: PartialBodyShare
    private let state: Lock<State>
    /// Told the journal when it is kept.
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
            // The body goes on, and is not kept.
            state.withLock { $0.journal = nil }
            journal.discard()
        }
    }

    func bytes(_ range: Range<Int>) throws -> Data {
        let file = try open()
        guard !range.isEmpty else { return Data() }
        // A mapping begins with a page.
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
        // The bytes count as open for as long as anybody has them.
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

/// What a body takes of the bytes that may be open at once; they come back when it goes.
final class PartialBodyShare: Sendable {
    private let budget: ByteBudget
    private let held = Lock<[ByteBudget.Hold]>([])

    init(_ budget: ByteBudget) {
        self.budget = budget
    }

    /// False where there are no more.
    func grow(by count: Int) -> Bool {
        guard count > 0 else { return true }
        guard let hold = budget.holdNow(count) else { return false }
        held.withLock { $0.append(hold) }
        return true
    }
}

extension FileSystem {
    /// Gives a file's lock back and closes it.
    ///
    /// Closing alone is not enough: a process that is being started at this moment has the file too until it begins its
    /// program, and the lock would be its own so long.
    func release(_ file: Int32) {
        flock(file, LOCK_UN)
        try? close(file)
    }
}
