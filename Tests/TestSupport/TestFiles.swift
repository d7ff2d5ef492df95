import Foundation

/// The files of `Tests/Fixtures`.
public enum TestFiles {
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    public static func url(_ name: String) -> URL {
        folder.appending(path: name)
    }

    public static func data(_ name: String) throws -> Data {
        try Data(contentsOf: url(name))
    }
}
