import Foundation

/// Where a disk cache's files lie, by name.
///
/// `@unchecked Sendable` because nobody writes `start` once it is made.
final class CacheFolder: @unchecked Sendable {
    /// Without a slash at the end.
    let path: String
    /// The same with a slash. Not an array, which would be retained for each path that is made of it.
    private let start: UnsafeRawBufferPointer

    init(_ url: URL) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        // A URL without a path names no folder, and must not become the file system's root.
        if path.isEmpty { path = "/dev/null/nowhere" }
        self.path = path
        let bytes = Array(path.utf8) + [UInt8(ascii: "/")]
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        start.copyBytes(from: bytes)
        self.start = UnsafeRawBufferPointer(start)
    }

    deinit {
        start.deallocate()
    }

    /// Without what leads nowhere, such as "..".
    var standardPath: String { URL(filePath: path).standardizedFileURL.path(percentEncoded: false) }

    func fanOut(_ folder: UInt8) -> String {
        "\(path)/\(EntryName.folderName(folder))"
    }

    func file(_ file: EntryFile) -> String {
        guard case .hashed(let name) = file else { return "\(fanOut(file.folder))/\(file.fileName)" }
        return String(unsafeUninitializedCapacity: start.count + Self.hashedLength) { buffer in
            guard let bytes = buffer.baseAddress else { return 0 }
            withExtendedLifetime(self) { Self.write(name, to: bytes, behind: start) }
            return start.count + Self.hashedLength
        }
    }

    /// Passes the path of a file whose name is a hash on, with a null behind it. It is valid until `body` returns.
    ///
    /// On the stack: a string of it is a good part of what it costs to ask whether there is an entry.
    @inline(__always)  // Else the body's captures are retained for the call.
    func withPath<Result>(of name: EntryName, _ body: (UnsafePointer<CChar>) -> Result) -> Result? {
        let start = start
        let count = start.count + Self.hashedLength
        return withUnsafeTemporaryAllocation(byteCount: count + 1, alignment: 1) { buffer -> Result? in
            guard let bytes = buffer.bindMemory(to: UInt8.self).baseAddress else { return nil }
            withExtendedLifetime(self) { Self.write(name, to: bytes, behind: start) }
            bytes[count] = 0
            return body(UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self))
        }
    }

    /// Two digits, a slash and 32 digits.
    private static let hashedLength = 35

    /// Writes the path of a file whose name is a hash.
    private static func write(
        _ name: EntryName, to bytes: UnsafeMutablePointer<UInt8>, behind start: UnsafeRawBufferPointer
    ) {
        let folder = start.count
        if let first = start.baseAddress { memcpy(bytes, first, folder) }
        name.write(to: bytes + folder + 3)
        bytes[folder] = bytes[folder + 3]
        bytes[folder + 1] = bytes[folder + 4]
        bytes[folder + 2] = UInt8(ascii: "/")
    }

    /// A name in one of the folders for a file that is still being written.
    ///
    /// - Parameter number: one that nobody else uses.
    func temporaryFile(in folder: UInt8, number: UInt64) -> String {
        var path: [UInt8] = []
        path.reserveCapacity(start.count + 32)
        withExtendedLifetime(self) { path += start }
        path += EntryName.folderName(folder).utf8
        path.append(UInt8(ascii: "/"))
        path += Self.temporaryPrefix.utf8
        path += EntryName(high: 0, low: number).fileName.utf8.suffix(16)
        return String(decoding: path, as: UTF8.self)
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
