/// The folder and name of an entry's file. The usual name is kept as a number, so that a list of files needs no further
/// memory.
enum EntryFile: Hashable, Sendable {
    case hashed(EntryName)
    case named(String, folder: UInt8)

    /// Returns nil for a name that does not show by itself that it belongs to the cache: 32 digits, with or without an
    /// extension.
    init?(name: String, in folder: UInt8) {
        guard let hash = EntryName(startOf: name), hash.folder == folder else { return nil }
        if name.utf8.count == 32 {
            self = .hashed(hash)
        } else if DiskCache.FileExtension.isFit(name.utf8.dropFirst(33)) {
            self = .named(name, folder: folder)
        } else {
            return nil
        }
    }

    /// The number of the file's folder among the 256.
    var folder: UInt8 {
        switch self {
        case .hashed(let name): name.folder
        case .named(_, let folder): folder
        }
    }

    var fileName: String {
        switch self {
        case .hashed(let name): name.fileName
        case .named(let name, _): name
        }
    }
}
