import Foundation

/// The paths of a disk cache's files.
///
/// `@unchecked Sendable` because `start` is never written after `init`.
final class CacheFolder: @unchecked Sendable {
    /// The folder's path without a slash at the end.
    let path: String
    /// The folder's path with a slash at the end. Not an array, which would be retained for each path that is made from it.
    private let start: UnsafeRawBufferPointer

    init(_ url: URL) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        // A URL without a path does not name a folder, and must not become the root of the file system.
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

    /// The path without components such as "..".
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

    /// Calls `body` with the path of a file whose name is a hash, as a null-terminated string that is valid until `body`
    /// returns.
    ///
    /// The path is made on the stack: a `String` would be a considerable part of the cost of checking whether an entry
    /// exists.
    @inline(__always)  // Otherwise the body's captures are retained for the call.
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

    /// The length of two digits, a slash and 32 digits.
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

    /// Returns the path in one of the 256 folders for a file that is still being written.
    ///
    /// - Parameter number: a number that is not used for any other such file.
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

    /// The path of the file by which backup programs recognize a folder whose contents can be obtained again. It was modified
    /// when the expired entries were last removed.
    var tag: String { "\(path)/CACHEDIR.TAG" }

    static let tagContents = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This folder is a cache; its contents can be deleted at any time.
        # See https://bford.info/cachedir/

        """

    /// Returns the cache folder of a program according to the XDG base directory specification.
    static func standard(for application: String, environment: [String: String]) -> URL {
        // The specification requires that a path that is not absolute is ignored.
        if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") {
            return URL(filePath: base, directoryHint: .isDirectory).appending(path: application)
        }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return URL(filePath: home, directoryHint: .isDirectory).appending(path: ".cache").appending(path: application)
    }
}
