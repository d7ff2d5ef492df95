/// What the files in each of the 256 folders occupy, as far as is known.
///
/// By folder, so that a scan can put a folder right at once, and knows whether anything changed while it looked.
struct FolderSizes: Sendable {
    private var bytes = [Int](repeating: 0, count: 256)
    private var changes = [Int](repeating: 0, count: 256)
    /// Below zero when files went that no scan had found.
    private(set) var total = 0

    mutating func change(_ folder: UInt8, by difference: Int) {
        bytes[Int(folder)] += difference
        changes[Int(folder)] += 1
        total += difference
    }

    /// Grows with every change in a folder.
    func changes(in folder: UInt8) -> Int {
        changes[Int(folder)]
    }

    mutating func set(_ folder: UInt8, to size: Int) {
        total += size - bytes[Int(folder)]
        bytes[Int(folder)] = size
    }
}
