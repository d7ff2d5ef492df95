import Dispatch
import HalcyonCache
import HalcyonSystem

/// A file system that fails on demand, and otherwise forwards every call to another one.
public final class FaultInjectingFileSystem: FileSystem {
    private struct State {
        var calls: [FileOperation: Int] = [:]
        var faults: [FileOperation: [Fault]] = [:]
        var longestWrite = Int.max
        var longestRead = Int.max
        var freeSpace: Int?
        var held: [FileOperation: Hold] = [:]
    }

    /// The state of an operation whose calls are held back.
    private struct Hold {
        let gate = DispatchSemaphore(value: 0)
        /// The number of calls that have arrived and that no test has waited for yet.
        var arrivals = 0
        /// A gate for each test that waits for a call.
        var waiters: [ScriptedTransportGate] = []
    }

    private struct Fault {
        var calls: ClosedRange<Int>
        var code: Int32
    }

    private let base: any FileSystem
    private let state = Lock(State())

    /// Creates a file system that fails nothing yet.
    public init(_ base: any FileSystem = PosixFileSystem()) {
        self.base = base
    }

    /// Lets one call of an operation fail, by default the next one.
    ///
    /// - Parameters:
    ///   - call: The number of the call, counted from now on; the next one is 1.
    ///   - code: The system's error number, such as `ENOSPC`.
    public func fail(_ operation: FileOperation, call: Int = 1, with code: Int32) {
        state.withLock { state in
            let number = state.calls[operation, default: 0] + call
            state.faults[operation, default: []].append(Fault(calls: number...number, code: code))
        }
    }

    /// Lets every call of an operation fail from now on.
    public func failAlways(_ operation: FileOperation, with code: Int32) {
        state.withLock { state in
            let next = state.calls[operation, default: 0] + 1
            state.faults[operation, default: []].append(Fault(calls: next...Int.max, code: code))
        }
    }

    /// Removes all failures.
    public func failNothing() {
        state.withLock { $0.faults = [:] }
    }

    /// Limits the number of bytes that one write takes and one read returns.
    public func shorten(writes: Int = .max, reads: Int = .max) {
        state.withLock { state in
            state.longestWrite = writes
            state.longestRead = reads
        }
    }

    /// Sets the free space in bytes of every file system; nil restores the real value.
    public func report(freeSpace: Int?) {
        state.withLock { $0.freeSpace = freeSpace }
    }

    /// Returns the number of calls of an operation so far.
    public func calls(of operation: FileOperation) -> Int {
        state.withLock { $0.calls[operation, default: 0] }
    }

    /// Holds back calls of an operation until `release` is called. Their threads are blocked.
    public func hold(_ operation: FileOperation) {
        state.withLock { state in
            // A second hold would leave the calls that already wait blocked for ever.
            guard state.held[operation] == nil else { return }
            state.held[operation] = Hold()
        }
    }

    /// Waits until a call of an operation on hold has arrived; each call is waited for once.
    ///
    /// Blocks no thread: a program has as many threads for its tasks as it has cores, and two tests that each blocked
    /// one would wait for calls that no thread is left to make.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitForHeld(_ operation: FileOperation) async throws {
        let gate = state.withLock { state -> ScriptedTransportGate? in
            guard var hold = state.held[operation] else { return nil }
            defer { state.held[operation] = hold }
            guard hold.arrivals == 0 else {
                hold.arrivals -= 1
                return nil
            }
            let gate = ScriptedTransportGate()
            hold.waiters.append(gate)
            return gate
        }
        try await gate?.wait()
    }

    /// Releases the calls of an operation, present and future ones.
    public func release(_ operation: FileOperation) {
        guard let hold = state.withLock({ $0.held.removeValue(forKey: operation) }) else { return }
        for waiter in hold.waiters { waiter.open() }
        // Each released call wakes the next.
        hold.gate.signal()
    }

    private func arrive(_ operation: FileOperation) throws(SystemCallError) {
        let (gate, waiter) = state.withLock { state -> (DispatchSemaphore?, ScriptedTransportGate?) in
            guard var hold = state.held[operation] else { return (nil, nil) }
            defer { state.held[operation] = hold }
            guard hold.waiters.isEmpty else { return (hold.gate, hold.waiters.removeFirst()) }
            hold.arrivals += 1
            return (hold.gate, nil)
        }
        waiter?.open()
        if let gate {
            gate.wait()
            gate.signal()
        }
        let code = state.withLock { state -> Int32? in
            let number = state.calls[operation, default: 0] + 1
            state.calls[operation] = number
            return state.faults[operation]?.first { $0.calls.contains(number) }?.code
        }
        if let code { throw SystemCallError(operation, code: code) }
    }

    // MARK: FileSystem

    public func open(_ path: String, for access: FileAccess) throws(SystemCallError) -> Int32 {
        try arrive(.open)
        return try base.open(path, for: access)
    }

    public func status(of file: Int32) throws(SystemCallError) -> FileStatus {
        try arrive(.status)
        return try base.status(of: file)
    }

    public func status(at path: String) throws(SystemCallError) -> FileStatus {
        try arrive(.status)
        return try base.status(at: path)
    }

    public func status(atPath path: UnsafePointer<CChar>) throws(SystemCallError) -> FileStatus {
        try arrive(.status)
        return try base.status(atPath: path)
    }

    public func linkTarget(at path: String) throws(SystemCallError) -> String {
        try arrive(.status)
        return try base.linkTarget(at: path)
    }

    public func read(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemCallError) -> Int {
        try arrive(.read)
        let longest = state.withLock { $0.longestRead }
        return try base.read(file, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(longest)), at: offset)
    }

    public func map(_ file: Int32, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer {
        try arrive(.map)
        return try base.map(file, size: size)
    }

    public func map(
        _ file: Int32, from offset: Int, size: Int
    ) throws(SystemCallError) -> UnsafeRawBufferPointer {
        try arrive(.map)
        return try base.map(file, from: offset, size: size)
    }

    public func unmap(_ bytes: UnsafeRawBufferPointer) {
        base.unmap(bytes)
    }

    public func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        try arrive(.write)
        let longest = state.withLock { $0.longestWrite }
        return try base.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(longest)))
    }

    public func write(
        _ file: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Int {
        try arrive(.write)
        let longest = state.withLock { $0.longestWrite }
        return try base.write(
            file, UnsafeRawBufferPointer(rebasing: first.prefix(longest)),
            UnsafeRawBufferPointer(rebasing: second.prefix(max(0, longest - first.count))))
    }

    public func setTimes(of file: Int32, accessed: FileTime, modified: FileTime) throws(SystemCallError) {
        try arrive(.setTimes)
        try base.setTimes(of: file, accessed: accessed, modified: modified)
    }

    public func synchronize(_ file: Int32) throws(SystemCallError) {
        try arrive(.synchronize)
        try base.synchronize(file)
    }

    public func synchronizeFolder(_ path: String) throws(SystemCallError) {
        try arrive(.synchronizeFolder)
        try base.synchronizeFolder(path)
    }

    /// Closes the file even if the call fails, as the system does.
    public func close(_ file: Int32) throws(SystemCallError) {
        var failure: SystemCallError?
        do { try arrive(.close) } catch { failure = error }
        try base.close(file)
        if let failure { throw failure }
    }

    public func rename(_ path: String, to newPath: String) throws(SystemCallError) {
        try arrive(.rename)
        try base.rename(path, to: newPath)
    }

    public func renameExclusively(_ path: String, to newPath: String) throws(SystemCallError) {
        try arrive(.rename)
        try base.renameExclusively(path, to: newPath)
    }

    public func unlink(_ path: String) throws(SystemCallError) {
        try arrive(.unlink)
        try base.unlink(path)
    }

    public func makeDirectory(_ path: String) throws(SystemCallError) {
        try arrive(.makeDirectory)
        try base.makeDirectory(path)
    }

    public func list(_ path: String, _ visit: (String, FileStatus) -> Void) throws(SystemCallError) {
        try arrive(.list)
        try base.list(path, visit)
    }

    public func freeSpace(at path: String) throws(SystemCallError) -> Int {
        try arrive(.freeSpace)
        if let freeSpace = state.withLock({ $0.freeSpace }) { return freeSpace }
        return try base.freeSpace(at: path)
    }
}
