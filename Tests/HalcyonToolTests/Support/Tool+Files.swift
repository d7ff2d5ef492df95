import Foundation
import TestSupport

extension Tool {
    /// Copies a file of `Tests/Fixtures` into the folder, below folders that are made.
    func add(_ fixture: String, as names: String...) throws {
        for name in names {
            let url = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try TestFiles.data(fixture).write(to: url)
        }
    }

    /// Sets the time of a file's last change, in seconds before now.
    func age(_ name: String, by seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: path(name))
    }

    func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// All files below a folder, sorted, as paths below it.
    func tree(_ name: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path(name)).sorted()
            .filter { !isFolder(name + "/" + $0) }
    }

    private func isFolder(_ name: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path(name), isDirectory: &isFolder) && isFolder.boolValue
    }
}
