import Foundation
import HalcyonCache
import Synchronization

/// The system's file system, under a process that ends itself in the n-th call of a kind: before it, behind it, or, where
/// bytes are written, with half of them written.
final class KillingFileSystem: FileSystem {
    private let system = PosixFileSystem()
    private let calls = Atomic<Int>(0)
    private let deadly: FileOperation?
    private let last: Int
    private let isBefore: Bool

    /// - Parameters:
    ///   - deadly: the kind of call in which the process ends; nil is none.
    ///   - last: which of them, from 1 on.
    ///   - isBefore: whether the call is not made, or half, rather than made to its end.
    init(deadly: FileOperation?, last: Int, isBefore: Bool) {
        self.deadly = deadly
        self.last = last
        self.isBefore = isBefore
    }

    private func call<Value>(
        _ operation: FileOperation, half: () -> Void = {}, _ body: () throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value {
        guard operation == deadly, calls.wrappingAdd(1, ordering: .relaxed).newValue == last else {
            return try body()
        }
        if isBefore {
            half()
            end(operation)
        }
        defer { end(operation) }
        return try body()
    }

    private func end(_ operation: FileOperation) {
        StressReport.dying(in: operation.rawValue).send()
        kill(getpid(), SIGKILL)
    }

    func open(_ path: String, for access: FileAccess) throws(SystemCallError) -> Int32 {
        try call(.open) { () throws(SystemCallError) in try system.open(path, for: access) }
    }

    func status(of file: Int32) throws(SystemCallError) -> FileStatus {
        try call(.status) { () throws(SystemCallError) in try system.status(of: file) }
    }

    func status(at path: String) throws(SystemCallError) -> FileStatus {
        try call(.status) { () throws(SystemCallError) in try system.status(at: path) }
    }

    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemCallError) -> Int
    {
        try call(.read) { () throws(SystemCallError) in try system.read(file, into: buffer, at: offset) }
    }

    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        try call(
            .write,
            half: { _ = try? system.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))) }
        ) { () throws(SystemCallError) in try system.write(file, bytes) }
    }

    func setTimes(of file: Int32, accessed: FileTime, modified: FileTime) throws(SystemCallError) {
        try call(.setTimes) { () throws(SystemCallError) in
            try system.setTimes(of: file, accessed: accessed, modified: modified)
        }
    }

    func close(_ file: Int32) throws(SystemCallError) {
        try call(.close) { () throws(SystemCallError) in try system.close(file) }
    }

    func rename(_ path: String, to newPath: String) throws(SystemCallError) {
        try call(.rename) { () throws(SystemCallError) in try system.rename(path, to: newPath) }
    }

    func unlink(_ path: String) throws(SystemCallError) {
        try call(.unlink) { () throws(SystemCallError) in try system.unlink(path) }
    }

    func makeDirectory(_ path: String) throws(SystemCallError) {
        try call(.makeDirectory) { () throws(SystemCallError) in try system.makeDirectory(path) }
    }

    func list(_ path: String, _ visit: (String, FileStatus) -> Void) throws(SystemCallError) {
        try call(.list) { () throws(SystemCallError) in try system.list(path, visit) }
    }

    func freeSpace(at path: String) throws(SystemCallError) -> Int {
        try call(.freeSpace) { () throws(SystemCallError) in try system.freeSpace(at: path) }
    }
}
