import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// Bodies that are on their way, in files: what broke off can be gone on with later, also by another process.
///
/// A body lies in a file without a name, which nobody else can open, and one that can be gone on with in a journal as well,
/// which is locked while somebody writes or reads it, so that any number of processes may use one folder. What a killed
/// process has left there is a kept body like any other. A journal's bytes have hashes, and are copied before they are
/// used. What is there is looked up once, at the first use; what other processes keep later is not found, and costs nothing
/// but being asked for again.
public final class PartialBodyFiles: PartialBodyStore {
    private struct Kept {
        let name: String
        let size: Int
        let modified: FileTime
    }

    private struct State {
        /// By the key's name; nil until the folder was read.
        var kept: [String: [Kept]]?
    }

    /// Where the files lie; made with the first of them, for its owner alone (0700).
    public let folder: URL
    public let limits: PartialBodyLimits
    /// False where files lose their names at once, so that nothing is ever found again.
    public let keeps: Bool
    private let path: String
    private let files: any FileSystem
    private let clock: TimeSource
    private let open: ByteBudget
    /// Nil where the folder may be anybody's, and where no file has a name for long.
    private let ownership: FolderOwnership?
    /// The key by which credentials are hashed; nil for a folder by itself, which has none.
    private let secret: FolderSecret?
    private let state = Lock(State())

    /// - Parameters:
    ///   - folder: for these files alone; what else lies there is left alone.
    ///   - keeps: whether bodies that broke off are kept.
    ///   - allowsForeignFolder: whether the folder may belong to another user or be open to others, as
    ///     `DiskCache.Configuration` says it. Else nothing is kept in such a folder, and nothing taken up from it.
    public convenience init(
        folder: URL, keeps: Bool = true, limits: PartialBodyLimits = PartialBodyLimits(),
        allowsForeignFolder: Bool = false, fileSystem: any FileSystem = PosixFileSystem(), clock: TimeSource = .system
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

    /// The ones of a disk cache, in a folder within its own: they go with the rest when the cache is cleared. They do not
    /// count as its size, and its limit is not theirs.
    ///
    /// - Parameter keeps: whether bodies that broke off are kept.
    public convenience init(in cache: DiskCache, keeps: Bool = true, clock: TimeSource = .system) {
        self.init(
            cache.folder.appending(path: DiskCache.partialBodyFolder), keeps: keeps,
            allowsForeignFolder: cache.configuration.allowsForeignFolder, secret: cache.secret, clock: clock)
    }

    /// Files without a name in the system's folder for large temporary ones, `$TMPDIR` or `/var/tmp`.
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
        // The folder was read, and its key with it.
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
            // The longest; the others are of no more use.
            if taken == nil { taken = take(kept, key) } else { remove(kept) }
        }
        return taken
    }

    /// Removes what is kept and not in use, also what other processes have kept since the folder was read. Takes a few
    /// calls to the file system for each.
    public func removeAll() async {
        _ = try? await ExecutionDomains.io.run { [self] _ in
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

    /// Names the files of a key: a hash, keyed with the cache's secret where a credential is in it.
    ///
    /// - Parameter isNew: whether a cache without a key gets one.
    /// - Returns: nil where there is no key, so that nothing is found and nothing kept.
    private func name(of key: PartialBodyKey, isNew: Bool = false) -> String? {
        guard let secret, key.hasCredential else { return DiskKey(key.bytes).fileName }
        var known = secret.value()
        if known == nil, isNew, mayUseFolder, (try? makeFolder(path)) != nil { known = try? secret.made() }
        return known.map { KeyedHash(of: key.bytes, key: $0).fileName }
    }

    private var mayUseFolder: Bool {
        guard let ownership else { return true }
        return (try? ownership.check(path)) != nil
    }

    /// A file without a name; where the file system has none, one that loses its name at once.
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

    /// The file by which the body is found later; nil where it cannot be, or where there is no room for it.
    private func journal(for key: PartialBodyKey?, _ record: PartialBodyRecord?) -> PartialBodyJournal? {
        guard keeps, let key, let record, let owner = name(of: key, isNew: true),
            let label = PartialBodyLabel(key, name: owner, record).encoded()
        else { return nil }
        return try? PartialBodyJournal("\(owner)-\(Self.random())", in: path, label: label, files: files)
    }

    private static func random() -> String { String(UInt64.random(in: 0...UInt64.max), radix: 16) }

    /// Makes the folder where a call finds that there is none.
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
            // Somebody else was faster.
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
        // Between the opening and the lock another may have finished with it.
        guard let status = try? files.status(of: file), let named = try? files.status(at: path),
            status.device == named.device, status.inode == named.inode, status.kind == .regular,
            ownership?.isOwn(status) ?? true,
            let (label, offset) = PartialBodyLabel.read(file, by: files),
            label.isCurrent(for: key, name: Self.owner(of: kept.name)),
            let body = try? make(for: key, label.record)
        else { return nil }
        // A copy of what is as it was written: nobody else changes it from here on.
        guard (try? PartialBodyJournal.read(file, from: offset, by: files, body.append)) != nil, body.count > 0,
            label.record.total.map({ body.count < $0 }) ?? true
        else {
            body.discard()
            return nil
        }
        return KeptBody(record: label.record, body: body)
    }

    private func remove(_ kept: Kept) {
        // What is in use somewhere cannot be opened, and stays.
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

    /// Some bytes of a file; nil where there are not as many.
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

    // MARK: What is kept

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
        // Files in other hands are not removed either.
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

    /// Removes what is too old, and the oldest of what is too much.
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

/// How much a `PartialBodyFiles` holds.
///
/// Free space is not looked at: a body that the disk has no room for stays in memory.
public struct PartialBodyLimits: Sendable, Hashable {
    /// Bodies that broke off and are kept. 64; the oldest goes first.
    public var keptBodies = 64
    /// Bytes of those. 256 MiB.
    public var keptBytes = 256 << 20
    /// How long they are kept. A day.
    public var lifetime = Duration.seconds(86_400)
    /// Bytes of bodies that are on their way or in use, in this process; what would be more stays in memory. 1 GiB.
    public var openBytes = 1 << 30

    public init() {}
}
