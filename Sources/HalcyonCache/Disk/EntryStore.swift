import Foundation
import HalcyonSystem
import Synchronization

/// The blocking core of the disk cache: one file per entry, in 256 folders, with the file system as the only index.
///
/// A reader needs no lock, since a file appears whole by its rename and its bytes never change. An operation that replaces
/// or removes a name first checks whether the expected file has it, and so holds `names` during the check and the change.
final class EntryStore: Sendable {
    let folder: CacheFolder
    let files: any FileSystem
    /// The sizes of the folders, and the lock that is held while a file gets or loses its name; never while bytes are read
    /// or written.
    let names = Lock(FolderSizes())
    let naming: EntryNaming
    let synchronization: DiskCache.Synchronization
    let mappedReads: Int?
    /// The check of the folder's owner; nil if the folder may belong to any user.
    private let ownership: FolderOwnership?
    /// Whether the folder was checked and belongs to this user: no other user can replace it then.
    private let isOurs = Atomic<Bool>(false)
    let secret: FolderSecret
    /// The folders that are searched after the cache's own.
    let readOnlyFolders: [CacheFolder]
    /// The readers of removal events.
    let removals = RemovalObservers()
    /// The number of files removed because they were damaged.
    let damaged = Atomic<Int>(0)
    /// A copy of the total of `names` that is available without waiting for the lock.
    private let totalSize = Atomic<Int>(0)
    /// The number in the names of temporary files, which starts at random: a random number for each would be a system call.
    private let temporaryNumber = Atomic<UInt64>(.random(in: .min ... .max))

    init(folder: CacheFolder, files: any FileSystem, configuration: DiskCache.Configuration) {
        self.folder = folder
        self.files = files
        naming = EntryNaming(configuration)
        synchronization = configuration.synchronization
        // Files that other users can truncate are read, not mapped.
        mappedReads = configuration.allowsForeignFolder ? nil : configuration.mappedReads
        ownership = configuration.allowsForeignFolder ? nil : FolderOwnership(files)
        secret = FolderSecret(folder: folder.path, files: files, ownership: ownership)
        // Entries in the cache's own folder do expire.
        let own = folder.standardPath
        readOnlyFolders = configuration.readOnlyFolders.map(CacheFolder.init).filter { $0.standardPath != own }
    }

    /// The total size of the files in bytes, as far as it is known.
    var estimatedSize: Int { max(0, totalSize.load(ordering: .relaxed)) }

    /// Publishes the total after a change. Call it while `names` is held.
    func sizesChanged(_ sizes: FolderSizes) {
        totalSize.store(sizes.total, ordering: .relaxed)
    }

    /// Returns a path for a file that is still being written.
    func temporaryFile(in folder: UInt8) -> String {
        // The steps are large, so that the numbers of two processes that start near each other do not meet.
        let number = temporaryNumber.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        return self.folder.temporaryFile(in: folder, number: number)
    }

    // MARK: Ownership

    /// Returns whether the folder belongs to no other user, or may belong to any.
    func mayUseFolder() -> Bool { (try? checkFolder()) != nil }

    /// Whether the owner of the folder needs no check.
    var isOwnerKnown: Bool { ownership == nil || isOurs.load(ordering: .relaxed) }

    /// Checks the folder's owner, unless any is allowed or the check has succeeded already.
    ///
    /// - Throws: `DiskCacheError.foreignFolder`.
    func checkFolder() throws(DiskCacheError) {
        guard let ownership, !isOurs.load(ordering: .relaxed) else { return }
        try ownership.check(folder.path)
        guard (try? files.status(at: folder.path)) != nil else { return }
        isOurs.store(true, ordering: .relaxed)
    }

    /// Checks the folder again if its owner is no longer known to be right: it may have been deleted, and another user may
    /// have been the first to create it again.
    func checkFolderAgain() throws(DiskCacheError) {
        let status = try? files.status(at: folder.path)
        if status.map(isOwn) != true { isOurs.store(false, ordering: .relaxed) }
        try checkFolder()
    }

    /// Returns whether a file belongs to this user, or whether its owner does not matter.
    func isOwn(_ status: FileStatus) -> Bool { ownership?.isOwn(status) ?? true }

    /// Returns the key that is stored in this cache's files; nil for the key of a user while there is no secret, and
    /// therefore no entry.
    func sealed(_ key: CacheKey) -> CacheKey? {
        guard key.user != nil else { return key }
        return mayUseFolder() ? secret.value().map { key.sealed(with: $0) } : nil
    }

    /// Returns the file of a key's entry; for the key of a user while there is no secret, a file that never exists.
    func file(for key: CacheKey) -> EntryFile {
        naming.file(for: sealed(key) ?? key.sealed(with: KeyedHash.newKey()))
    }

    /// Returns the sealed key for a write, and creates the secret if there is none.
    func sealedForWriting(_ key: CacheKey) throws -> CacheKey {
        if let sealed = sealed(key) { return sealed }
        try checkFolder()
        try createFolders(for: 0)
        return key.sealed(with: try secret.made())
    }

    // MARK: Removing

    func removeDamaged(_ entry: EntryFile, _ status: FileStatus) {
        guard let size = remove(entry, ifStill: { $0.isSameFile(as: status) }) else { return }
        damaged.wrappingAdd(1, ordering: .relaxed)
        removals.report(.damaged, bytes: size) { [entry.fileName] }
    }

    /// Removes an entry's file if it is the one that the caller expects.
    ///
    /// - Parameter alsoThen: called under the same lock, whether or not the file was removed. It drops the staged write,
    ///   which is newer than the file: a reader that no longer finds that write must not find the file instead.
    /// - Returns: the size of the file in bytes; nil if nothing was removed.
    @discardableResult
    func remove(
        _ entry: EntryFile, ifStill isIt: (FileStatus) -> Bool = { _ in true }, alsoThen: () -> Void = {}
    ) -> Int? {
        let path = folder.file(entry)
        return names.withLock { sizes in
            defer { alsoThen() }
            guard let status = try? files.status(at: path), status.kind != .directory, isIt(status),
                (try? files.unlink(path)) != nil
            else { return nil }
            guard status.kind == .regular else { return 0 }
            sizes.change(entry.folder, by: -status.size)
            sizesChanged(sizes)
            return status.size
        }
    }
}

/// The total size of the files in each of the 256 folders, as far as it is known.
///
/// The sizes are kept by folder, so that a scan can correct one folder at once, and detect whether it changed during the
/// scan.
struct FolderSizes: Sendable {
    private var bytes = [Int](repeating: 0, count: 256)
    private var changes = [Int](repeating: 0, count: 256)
    /// The total size in bytes; negative if files were removed that no scan had found.
    private(set) var total = 0

    mutating func change(_ folder: UInt8, by difference: Int) {
        bytes[Int(folder)] += difference
        changes[Int(folder)] += 1
        total += difference
    }

    /// Returns a number that increases with every change in a folder.
    func changes(in folder: UInt8) -> Int {
        changes[Int(folder)]
    }

    mutating func set(_ folder: UInt8, to size: Int) {
        total += size - bytes[Int(folder)]
        bytes[Int(folder)] = size
    }
}
