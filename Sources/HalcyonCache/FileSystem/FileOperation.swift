/// The calls of a `FileSystem`. An error names the call that failed, and a test chooses the call that is to fail.
public enum FileOperation: String, Sendable, Hashable, CaseIterable {
    case open, status, read, write, setTimes, close, rename, unlink, makeDirectory, list, freeSpace
    case map, synchronize, synchronizeFolder
}
