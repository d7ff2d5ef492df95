import Foundation
import HalcyonSystem
import Synchronization

/// The blocking core of the disk cache: one file an entry, in 256 folders, and the file system as the only index.
///
/// A reader needs no lock, since a file appears whole by its rename and its bytes never change. What replaces or
/// removes a name looks first whether the right thing is there, and so holds `names` over that look and the act.
final class EntryStore: Sendable {
    let folder: CacheFolder
    let files: any FileSystem
    /// Held while a file gets or loses its name; never while bytes are read or written.
    let names = Lock(FolderSizes())
    let naming: EntryNaming
    let synchronization: DiskCache.Synchronization
    let mappedReads: Int?
    /// Nil where the folder may be anybody's.
    private let ownership: FolderOwnership?
    /// Whether the folder was looked at and is ours: nobody else can put another one in its place then.
    private let isOurs = Atomic<Bool>(false)
    let secret: FolderSecret
    /// Where else to look.
    let readOnlyFolders: [CacheFolder]
    /// Who wants to hear of what goes.
    let removals = RemovalReaders()
    /// Files removed because they were not whole.
    let damaged = Atomic<Int>(0)
    /// The total of `names`, to be had without waiting for a file to get its name.
    private let totalSize = Atomic<Int>(0)
    /// Names files that are being written, and starts anywhere: a random number for each would be a call of the system.
    private let temporaryNumber = Atomic<UInt64>(.random(in: .min ... .max))

    init(folder: CacheFolder, files: any FileSystem, configuration: DiskCache.Configuration) {
        self.folder = folder
        self.files = files
        naming = EntryNaming(configuration)
        synchronization = configuration.synchronization
        // Files that others can cut short are read and not mapped.
        mappedReads = configuration.allowsForeignFolder ? nil : configuration.mappedReads
        ownership = configuration.allowsForeignFolder ? nil : FolderOwnership(files)
        secret = FolderSecret(folder: folder.path, files: files, ownership: ownership)
        // What is in its own folder does expire.
        let own = folder.standardPath
        readOnlyFolders = configuration.readOnlyFolders.map(CacheFolder.init).filter { $0.standardPath != own }
    }

    /// What the files occupy, as far as is known.
    var estimatedSize: Int { max(0, totalSize.load(ordering: .relaxed)) }

    /// Publishes the total after a change. Call it while `names` is held.
    func sizesChanged(_ sizes: FolderSizes) {
        totalSize.store(sizes.total, ordering: .relaxed)
    }

    /// A path for a file that is still being written.
    func temporaryFile(in folder: UInt8) -> String {
        // Far apart, so that the numbers of two processes that start near each other do not meet.
        let number = temporaryNumber.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        return self.folder.temporaryFile(in: folder, number: number)
    }

    // MARK: Whose it is

    /// Whether the folder is nobody else's, or may be.
    func mayUseFolder() -> Bool { (try? checkFolder()) != nil }

    /// - Throws: `DiskCacheError.foreignFolder`.
    func checkFolder() throws(DiskCacheError) {
        guard let ownership, !isOurs.load(ordering: .relaxed) else { return }
        try ownership.check(folder.path)
        guard (try? files.status(at: folder.path)) != nil else { return }
        isOurs.store(true, ordering: .relaxed)
    }

    /// Looks at the folder once more where it is no longer as it was: it may have gone, and who comes first makes it anew.
    func checkFolderAgain() throws(DiskCacheError) {
        let status = try? files.status(at: folder.path)
        if status.map(isOwn) != true { isOurs.store(false, ordering: .relaxed) }
        try checkFolder()
    }

    /// Whether a file is of this user, as far as that counts.
    func isOwn(_ status: FileStatus) -> Bool { ownership?.isOwn(status) ?? true }

    /// The key as it stands in this cache's files; nil for that of a user while there is no secret, and so no entry.
    func sealed(_ key: DiskKey) -> DiskKey? {
        guard key.user != nil else { return key }
        return mayUseFolder() ? secret.value().map { key.sealed(with: $0) } : nil
    }

    /// Where a key's entry lies; a place where nothing ever is for that of a user while there is no secret.
    func file(for key: DiskKey) -> EntryFile {
        naming.file(for: sealed(key) ?? key.sealed(with: KeyedHash.newKey()))
    }

    /// The same for a write, which makes the secret where there is none.
    func sealedForWriting(_ key: DiskKey) throws -> DiskKey {
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

    /// Removes an entry's file if it is what the caller thinks.
    ///
    /// - Parameter alsoThen: done under the same lock, once the file has gone or stays: what is staged is newer, and whoever
    ///   finds it no more must not find the file instead.
    /// - Returns: the bytes it had; nil when nothing was removed.
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
