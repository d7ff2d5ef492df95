import Glibc
import HalcyonCache

extension FileSystem {
    /// Gives a file's lock back and closes it.
    ///
    /// Closing alone is not enough: a process that is being started at this moment has the file too until it begins its
    /// program, and the lock would be its own so long.
    func release(_ file: Int32) {
        flock(file, LOCK_UN)
        try? close(file)
    }
}
