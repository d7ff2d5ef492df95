/// The total size of the files in each of the 256 folders, as far as it is known.
///
/// The sizes are kept by folder, so that a scan can correct one folder at once, and detect whether it changed during the
/// scan.
struct FolderSizes: Sendable {
    private var bytes = [Int](repeating: 0, count: 256)
    private var changes = [Int](repeating: 0, count: 256)
    /// The total size in bytes; negative if files were removed that no scan had found.
    private(set) var total = 0

    mutating func change(_ folder: UInt8, by difference: Int) {
        bytes[Int(folder)] += difference
        changes[Int(folder)] += 1
        total += difference
    }

    /// Returns a number that increases with every change in a folder.
    func changes(in folder: UInt8) -> Int {
        changes[Int(folder)]
    }

    mutating func set(_ folder: UInt8, to size: Int) {
        total += size - bytes[Int(folder)]
        bytes[Int(folder)] = size
    }
}
