import Foundation

/// The partial bodies of interrupted downloads, in a folder within the cache's own.
extension DiskCache {
    package static let partialBodyFolder = "partial"

    /// The secret with which credentials are hashed in the cache's folder.
    package var secret: FolderSecret { store.secret }

    /// Returns whether a file in that folder has the name of a partial body: 32 digits, a dash, and up to 16 more, all
    /// hexadecimal.
    package static func isPartialBody(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 32 && (1...16).contains(parts[1].utf8.count)
            && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    /// Removes all partial bodies, including those of other processes. A download that is writing to one continues with a
    /// file that has no name and is not found later.
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
