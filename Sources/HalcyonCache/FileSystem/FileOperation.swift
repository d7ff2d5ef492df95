/// The calls of a `FileSystem`, by which errors say where they come from and tests choose where to fail.
public enum FileOperation: String, Sendable, Hashable, CaseIterable {
    case open, status, read, write, setTimes, close, rename, unlink, makeDirectory, list, freeSpace
    case map, synchronize, synchronizeFolder
}
