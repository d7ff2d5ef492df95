/// An entry's file: its folder and name. The usual one is a number, so that a list of them takes no further memory.
enum EntryFile: Hashable, Sendable {
    case hashed(EntryName)
    case named(String, folder: UInt8)

    /// Nil for a name that does not say by itself that it is ours: 32 digits, with or without an extension.
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

    /// Which of the 256 folders it lies in.
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
