import Foundation

/// What came of downloads that broke off, in a folder within the cache's own.
extension DiskCache {
    package static let partialBodyFolder = "partial"

    /// The key by which credentials are hashed in the cache's folder.
    package var secret: FolderSecret { store.secret }

    /// Whether a file there has a name of ours: 32 digits, a dash, and up to 16 more, all hexadecimal.
    package static func isPartialBody(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 32 && (1...16).contains(parts[1].utf8.count)
            && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    /// Removes them all, of every process. A download that writes to one goes on with a file that has no name, and that
    /// nobody finds later.
    func removePartialBodies() async {
        await perform { [store] in
            guard store.mayUseFolder() else { return }
            let path = "\(store.folder.path)/\(Self.partialBodyFolder)"
            var names: [String] = []
            try? store.files.list(path) { name, status in
                if status.kind == .regular, Self.isPartialBody(name) { names.append(name) }
            }
            for name in names { try? store.files.unlink("\(path)/\(name)") }
        }
    }
}
