import Foundation
import HalcyonCache

/// The true content of a disk cache's folder, read without the cache.
struct StressFolder {
    var entries = 0
    /// The lengths of the entries' files together.
    var bytes = 0
    var temporaries = 0

    init(_ folder: URL) {
        let path = folder.path(percentEncoded: false)
        var folders: [String] = []
        try? PosixFileSystem().list(path) { name, status in
            if status.kind == .directory, name.utf8.count == 2 { folders.append(name) }
        }
        for name in folders {
            try? PosixFileSystem().list("\(path)/\(name)") { fileName, status in
                if fileName.utf8.count == 32 {
                    entries += 1
                    bytes += status.size
                } else if fileName.hasPrefix(".halcyon-") {
                    temporaries += 1
                }
            }
        }
    }
}
