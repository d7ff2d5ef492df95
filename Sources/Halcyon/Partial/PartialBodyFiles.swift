import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// A store that keeps the bodies of transfers in files, so that interrupted transfers can be resumed later, also by another
/// process.
///
/// A body is written to a file without a name, which no other process can open. A body that can be resumed is also written to a
/// journal, which is locked while it is written or read, so that any number of processes may use one folder. A journal left by
/// a killed process is a kept body like any other. The bytes of a journal have hashes, and are copied before they are used. The
/// folder is read once, at the first use; bodies that other processes keep later are not found, which only means that they are
/// requested again.
public final class PartialBodyFiles: PartialBodyStore {
    private struct Kept {
        let name: String
        let size: Int
        let modified: FileTime
    }

    private struct State {
        /// The kept bodies by the name of their key; nil until the folder was read.
        var kept: [String: [Kept]]?
    }

    /// The folder of the files, created with the first of them, for its owner alone (0700).
    public let folder: URL
    /// The limits of the kept and open bodies.
    public let limits: PartialBodyLimits
    /// Whether interrupted bodies are kept. If not, files lose their names at once, so that nothing is ever found again.
    public let keeps: Bool
    private let path: String
    private let files: any FileSystem
    private let clock: TimeSource
    private let open: ByteBudget
    /// Nil if the folder may belong to any user, and if no file keeps its name.
    private let ownership: FolderOwnership?
    /// The key with which credentials are hashed; nil for a folder outside of a cache, which has no such key.
    private let secret: FolderSecret?
    private let state = Lock(State())

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - folder: a folder for these files alone; other files in it are not touched.
    ///   - keeps: whether interrupted bodies are kept.
    ///   - limits: the limits of the kept and open bodies.
    ///   - allowsForeignFolder: whether the folder may belong to another user or be open to others, as in
    ///     `DiskCache.Configuration`. Otherwise nothing is kept in such a folder, and nothing is resumed from it.
    public convenience init(
        folder: URL, keeps: Bool = true, limits: PartialBodyLimits = PartialBodyLimits(),
        allowsForeignFolder: Bool = false, clock: TimeSource = .system
    ) {
        self.init(
            folder: folder, keeps: keeps, limits: limits, allowsForeignFolder: allowsForeignFolder,
            fileSystem: PosixFileSystem(), clock: clock)
    }

    /// Creates a store that calls a file system of one's own.
    package convenience init(
        folder: URL, keeps: Bool = true, limits: PartialBodyLimits = PartialBodyLimits(),
        allowsForeignFolder: Bool = false, fileSystem: any FileSystem, clock: TimeSource = .system
    ) {
        self.init(
            folder, keeps: keeps, limits: limits, allowsForeignFolder: allowsForeignFolder, secret: nil,
            fileSystem: fileSystem, clock: clock)
    }

    private init(
        _ folder: URL, keeps: Bool, limits: PartialBodyLimits = PartialBodyLimits(), allowsForeignFolder: Bool,
        secret: FolderSecret?, fileSystem: any FileSystem = PosixFileSystem(), clock: TimeSource
    ) {
        self.folder = folder
        self.keeps = keeps
        self.limits = limits
        var path = folder.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        // A URL without a path names no folder, and must not become the file system's root.
        self.path = path.isEmpty ? "/dev/null/nowhere" : path
        files = fileSystem
        self.clock = clock
        ownership = keeps && !allowsForeignFolder ? FolderOwnership(fileSystem) : nil
        self.secret = secret
        open = ByteBudget(capacity: max(0, limits.openBytes))
    }

    /// Creates the store of a disk cache, in a folder within the cache's own: its files are removed when the cache is cleared.
    /// They do not count towards the cache's size or its limit.
    ///
    /// - Parameter keeps: whether interrupted bodies are kept.
    public convenience init(in cache: DiskCache, keeps: Bool = true, clock: TimeSource = .system) {
        self.init(
            cache.folder.appending(path: DiskCache.partialBodyFolder), keeps: keeps,
            allowsForeignFolder: cache.configuration.allowsForeignFolder, secret: cache.secret, clock: clock)
    }

    /// Returns a store of files without a name in the system's folder for large temporary files, `$TMPDIR` or `/var/tmp`.
    public static func temporary() -> PartialBodyFiles {
        let base = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/var/tmp"
        return PartialBodyFiles(folder: URL(filePath: base, directoryHint: .isDirectory), keeps: false)
    }

    // MARK: PartialBodyStore

    public func make(for key: PartialBodyKey?, _ record: PartialBodyRecord?) throws -> any PartialBody {
        if keeps { prepare() }
        guard open.available > 0 else { throw PartialBodyFile.Failure.noRoom }
        let (file, isPrivate) = try makeFile()
        return PartialBodyFile(
            file, isPrivate: isPrivate, journal: journal(for: key, record), files: files, share: PartialBodyShare(open),
            onKeep: { [weak self] in self?.keep($0.name, size: $0.size) })
    }

    public func mayHold(_ key: PartialBodyKey) -> Bool {
        guard keeps, let isEmpty = state.withLock({ $0.kept?.isEmpty }) else { return keeps }
        // The folder was read, and its secret with it.
        guard !isEmpty, let name = name(of: key) else { return false }
        return state.withLock { $0.kept?[name] != nil }
    }

    public func take(_ key: PartialBodyKey) -> KeptBody? {
        guard keeps else { return nil }
        prepare()
        removeExpired()
        guard let name = name(of: key) else { return nil }
        let found = state.withLock { $0.kept?.removeValue(forKey: name) ?? [] }
        var taken: KeptBody?
        for kept in found.sorted(by: { $0.size > $1.size }) {
            // The longest body is taken; the shorter ones are of no further use.
            if taken == nil { taken = take(kept, key) } else { remove(kept) }
        }
        return taken
    }

    /// Removes the kept bodies that are not in use, including those that other processes have kept since the folder was read.
    /// Takes a few system calls for each.
    public func removeAll() async {
        _ = try? await ThreadPools.io.run { [self] _ in
            state.withLock { $0.kept = nil }
            prepare()
            let all = state.withLock { state in
                defer { state.kept = [:] }
                return state.kept?.values.flatMap { $0 } ?? []
            }
            all.forEach(remove)
        }
    }

    // MARK: Files

    /// Returns the name of a key's files: a hash, keyed with the cache's secret if the key includes a credential.
    ///
    /// - Parameter isNew: whether a secret is created for a cache that has none.
    /// - Returns: nil if there is no secret, so that nothing is found and nothing kept.
    private func name(of key: PartialBodyKey, isNew: Bool = false) -> String? {
        guard let secret, key.hasCredential else { return CacheKey(key.bytes).fileName }
        var known = secret.value()
        if known == nil, isNew, mayUseFolder, (try? makeFolder(path)) != nil { known = try? secret.made() }
        return known.map { KeyedHash(of: key.bytes, key: $0).fileName }
    }

    private var mayUseFolder: Bool {
        guard let ownership else { return true }
        return (try? ownership.check(path)) != nil
    }

    /// Opens a file without a name; if the file system does not support that, a file whose name is removed at once.
    private func makeFile() throws -> (file: Int32, isPrivate: Bool) {
        try ownership?.check(path)
        do {
            return (try withFolder { () throws(SystemCallError) in try files.open(path, for: .nameless) }, true)
        } catch {
            let name = "\(path)/.halcyon-body-\(Self.random())\(Self.random())"
            let file = try withFolder { () throws(SystemCallError) in try files.open(name, for: .appending) }
            do {
                try files.unlink(name)
            } catch {
                files.release(file)
                throw error
            }
            return (file, false)
        }
    }

    /// Returns the journal by which the body is found later; nil if the body cannot be kept or the journal cannot be created.
    private func journal(for key: PartialBodyKey?, _ record: PartialBodyRecord?) -> PartialBodyJournal? {
        guard keeps, let key, let record, let owner = name(of: key, isNew: true),
            let label = PartialBodyLabel(key, name: owner, record).encoded()
        else { return nil }
        return try? PartialBodyJournal("\(owner)-\(Self.random())", in: path, label: label, files: files)
    }

    private static func random() -> String { String(UInt64.random(in: 0...UInt64.max), radix: 16) }

    /// Creates the folder if the call fails because it does not exist.
    private func withFolder(_ call: () throws(SystemCallError) -> Int32) throws -> Int32 {
        do {
            return try call()
        } catch {
            guard error.code == ENOENT else { throw error }
            try makeFolder(path)
            return try call()
        }
    }

    private func makeFolder(_ path: String) throws {
        do {
            try files.makeDirectory(path)
        } catch {
            // Another process or thread has created it.
            if error.code == EEXIST { return }
            guard error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
                throw error
            }
            try makeFolder(String(path[..<slash]))
            try makeFolder(path)
        }
    }

    private func take(_ kept: Kept, _ key: PartialBodyKey) -> KeptBody? {
        guard mayUseFolder else { return nil }
        let path = "\(path)/\(kept.name)"
        guard let file = try? files.open(path, for: .appending) else { return nil }
        defer {
            try? files.unlink(path)
            files.release(file)
        }
        // Another process may have removed or replaced the file between its opening and its locking.
        guard let status = try? files.status(of: file), let named = try? files.status(at: path),
            status.device == named.device, status.inode == named.inode, status.kind == .regular,
            ownership?.isOwn(status) ?? true,
            let (label, offset) = PartialBodyLabel.read(file, by: files),
            label.isCurrent(for: key, name: Self.owner(of: kept.name)),
            let body = try? make(for: key, label.record)
        else { return nil }
        // Copies the intact frames: no other process can change the copy.
        guard (try? PartialBodyJournal.read(file, from: offset, by: files, body.append)) != nil, body.count > 0,
            label.record.total.map({ body.count < $0 }) ?? true
        else {
            body.discard()
            return nil
        }
        return KeptBody(record: label.record, body: body)
    }

    private func remove(_ kept: Kept) {
        // A file in use elsewhere cannot be opened, and stays.
        guard let file = try? files.open("\(path)/\(kept.name)", for: .appending) else { return }
        try? files.unlink("\(path)/\(kept.name)")
        files.release(file)
    }

    static func write(_ bytes: Data, to file: Int32, by files: any FileSystem) throws {
        try bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = try files.write(file, UnsafeRawBufferPointer(rebasing: buffer[done...]))
                guard count > 0 else { throw PartialBodyFile.Failure.isCut }
                done += count
            }
        }
    }

    /// Returns a range of a file's bytes; nil if the file is shorter.
    static func read(_ count: Int, at offset: Int, of file: Int32, by files: any FileSystem) -> Data? {
        var data = Data(count: count)
        var done = 0
        while done < count {
            let read = try? data.withUnsafeMutableBytes {
                try files.read(file, into: UnsafeMutableRawBufferPointer(rebasing: $0[done...]), at: offset + done)
            }
            guard let read, read > 0 else { return nil }
            done += read
        }
        return data
    }

    // MARK: Kept bodies

    private func keep(_ name: String, size: Int) {
        let kept = Kept(name: name, size: size, modified: FileTime(clock.now))
        state.withLock { $0.kept?[Self.owner(of: name), default: []].append(kept) }
        removeExpired()
    }

    /// Reads the folder, once.
    private func prepare() {
        guard state.withLock({ $0.kept == nil }) else { return }
        _ = secret?.value()
        var found: [String: [Kept]] = [:]
        // Files in a foreign folder are not removed either.
        if mayUseFolder {
            try? files.list(path) { name, status in
                guard status.kind == .regular, DiskCache.isPartialBody(name) else { return }
                found[Self.owner(of: name), default: []].append(
                    Kept(name: name, size: status.size, modified: status.modified))
            }
        }
        state.withLock { state in
            if state.kept == nil { state.kept = found }
        }
        removeExpired()
    }

    /// Removes expired bodies, and the oldest ones beyond the limits.
    private func removeExpired() {
        let (lifetime, _) = limits.lifetime.components
        let oldest = FileTime(clock.now.addingTimeInterval(-TimeInterval(lifetime)))
        let victims = state.withLock { state -> [Kept] in
            guard let kept = state.kept else { return [] }
            var (count, bytes) = (0, 0)
            var (stays, victims): ([String: [Kept]], [Kept]) = ([:], [])
            for one in kept.values.flatMap({ $0 }).sorted(by: { $0.modified > $1.modified }) {
                count += 1
                bytes += one.size
                if one.modified < oldest || count > limits.keptBodies || bytes > limits.keptBytes {
                    victims.append(one)
                } else {
                    stays[Self.owner(of: one.name), default: []].append(one)
                }
            }
            if !victims.isEmpty { state.kept = stays }
            return victims
        }
        victims.forEach(remove)
    }

    private static func owner(of name: String) -> String { String(name.prefix(32)) }
}

/// The limits of a `PartialBodyFiles`.
///
/// Free space is not checked: a body for which the disk has no room stays in memory.
public struct PartialBodyLimits: Sendable, Hashable {
    /// The maximum number of interrupted bodies that are kept; the oldest is removed first. 64 by default.
    public var keptBodies = 64
    /// The maximum number of bytes of the kept bodies. 256 MiB by default.
    public var keptBytes = 256 << 20
    /// The time for which bodies are kept. A day by default.
    public var lifetime = Duration.seconds(86_400)
    /// The maximum number of bytes of bodies in transfer or in use, in this process; further bytes stay in memory. 1 GiB
    /// by default.
    public var openBytes = 1 << 30

    /// Creates limits with the defaults that the properties state.
    public init() {}
}
