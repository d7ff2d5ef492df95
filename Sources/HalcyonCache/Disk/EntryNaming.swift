/// The rules for the names of entries' files.
struct EntryNaming: Sendable {
    /// The maximum length of a readable name in bytes, without extension: with one it stays below the 255 that file systems
    /// allow.
    private static let longest = 180
    /// The length of "~" and 32 digits, which end a truncated name.
    private static let markLength = 33

    private let usesHash: Bool
    private let rule: DiskCache.FileExtension
    /// Whether names are hashes without anything else.
    let isPlain: Bool

    init(_ configuration: DiskCache.Configuration) {
        usesHash = configuration.usesHashedFileName
        rule = configuration.fileExtension
        isPlain = usesHash && rule == .none
    }

    func file(for key: CacheKey) -> EntryFile {
        let hash = EntryName(key)
        if isPlain { return .hashed(hash) }
        let readable = usesHash ? nil : key.name.flatMap { Self.readable($0, hash) }
        let ending = rule.text(for: key.name)
        guard readable != nil || ending != nil else { return .hashed(hash) }
        return .named((readable ?? hash.fileName) + (ending.map { ".\($0)" } ?? ""), folder: hash.folder)
    }

    /// Returns the files to look for in a folder that another program has filled.
    func candidates(for key: CacheKey) -> [EntryFile] {
        let file = file(for: key)
        let plain = EntryFile.hashed(EntryName(key))
        return file == plain ? [plain] : [file, plain]
    }

    /// Returns the name percent-encoded except for ASCII letters, digits, "-", "_" and "."; nil for an empty name.
    ///
    /// Different names stay different: "%" and "~" are encoded too, and so is the first byte of a name that would be hidden
    /// or look like a hash.
    private static func readable(_ name: String, _ hash: EntryName) -> String? {
        guard let first = name.utf8.first else { return nil }
        let isFirstEncoded = first == UInt8(ascii: ".") || EntryName(startOf: name) != nil
        var bytes: [UInt8] = []
        /// The length up to which a truncated name keeps whole escapes.
        var cut = 0
        for (index, byte) in name.utf8.enumerated() {
            if isPlain(byte), index > 0 || !isFirstEncoded {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hexadecimal(byte >> 4), hexadecimal(byte & 15)]
            }
            if bytes.count <= longest - markLength { cut = bytes.count }
            if bytes.count > longest { return String(decoding: bytes[..<cut], as: UTF8.self) + "~" + hash.fileName }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }
}

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
