/// The threads on which a pipeline decodes, processes and encodes images.
///
/// All pipelines use `shared` by default. A pipeline with threads of its own waits for no other one's work, and one thread
/// leaves a machine of two cores half of its time for the rest of the program:
///
///     configuration.processingThreads = ProcessingThreads(count: 1)
///
/// Copies are the same threads, so several pipelines and frame pools can be given them. Each runs the work of the highest
/// priority first. Only the time of processors is divided: the memory of decodes is reserved from the budget of the coders,
/// which pipelines share unless `CoderRegistry` was given another one, and a decode that waits for memory holds no thread.
public struct ProcessingThreads: Sendable {
    /// The most threads of one value. More than a machine has cores gain nothing.
    public static let maximumCount = 256

    /// The threads of all that were given none: as many as the system grants cores, and they never end.
    public static let shared = ProcessingThreads(pool: ThreadPools.cpu)

    package let pool: ThreadPool

    /// Starts threads.
    ///
    /// They end once the last copy is released and the work is done that was queued until then. Cost: a thread has 8 MiB
    /// of address space for its stack, of which only the pages that are used take memory.
    ///
    /// - Parameter count: the number of threads; less than 1 counts as 1, more than `maximumCount` as that.
    public init(count: Int) {
        self.init(pool: ThreadPool(name: "halcyon-own", threads: min(count, Self.maximumCount)))
    }

    private init(pool: ThreadPool) {
        self.pool = pool
    }

    /// The number of threads.
    public var count: Int { pool.threadCount }
}
