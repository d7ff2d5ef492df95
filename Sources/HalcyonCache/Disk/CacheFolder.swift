import Foundation

/// Where a disk cache's files lie, by name.
struct CacheFolder: Sendable {
    /// Without a slash at the end.
    let path: String
    /// The same with a slash.
    private let start: [UInt8]

    init(_ url: URL) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
        start = Array(path.utf8) + [UInt8(ascii: "/")]
    }

    /// Without what leads nowhere, such as "..".
    var standardPath: String { URL(filePath: path).standardizedFileURL.path(percentEncoded: false) }

    func fanOut(_ folder: UInt8) -> String {
        "\(path)/\(EntryName.folderName(folder))"
    }

    func file(_ file: EntryFile) -> String {
        guard case .hashed(let name) = file else { return "\(fanOut(file.folder))/\(file.fileName)" }
        // In one piece: this is a good part of what it costs to ask whether there is an entry.
        return String(unsafeUninitializedCapacity: start.count + 35) { buffer in
            let folder = start.count
            guard let bytes = buffer.baseAddress else { return 0 }
            start.withUnsafeBytes { start in
                if let first = start.baseAddress { memcpy(bytes, first, folder) }
            }
            name.write(to: bytes + folder + 3)
            bytes[folder] = bytes[folder + 3]
            bytes[folder + 1] = bytes[folder + 4]
            bytes[folder + 2] = UInt8(ascii: "/")
            return folder + 35
        }
    }

    /// A name in one of the folders that nobody else uses, for a file that is still being written.
    func temporaryFile(in folder: UInt8) -> String {
        let unique = EntryName(high: 0, low: .random(in: .min ... .max)).fileName.suffix(16)
        return "\(fanOut(folder))/\(Self.temporaryPrefix)\(unique)"
    }

    static func isTemporary(_ fileName: String) -> Bool {
        guard fileName.hasPrefix(temporaryPrefix) else { return false }
        let unique = fileName.dropFirst(temporaryPrefix.count)
        return unique.utf8.count == 16 && EntryName(fileName: "0000000000000000" + unique) != nil
    }

    private static let temporaryPrefix = ".halcyon-"

    /// The file by which backup programs know that everything beside it can be had again.
    var tag: String { "\(path)/CACHEDIR.TAG" }

    static let tagContents = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This folder is a cache; its contents can be deleted at any time.
        # See https://bford.info/cachedir/

        """

    /// The folder that the XDG base directory specification gives a program's cache.
    static func standard(for application: String, environment: [String: String]) -> URL {
        // The specification: a path that is not absolute is to be ignored.
        if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") {
            return URL(filePath: base, directoryHint: .isDirectory).appending(path: application)
        }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return URL(filePath: home, directoryHint: .isDirectory).appending(path: ".cache").appending(path: application)
    }
}
