/// The threads of the process that block, so that neither actors nor the program's own tasks ever do.
///
/// Coordination runs on a pipeline's actor, which has a `SerialThreadExecutor`; the two pools here are the other two
/// domains. They are shared by all pipelines, since the disk and the cores are.
package enum ExecutionDomains {
    /// Blocking file input and output.
    package static let io = ThreadPool(name: "halcyon-io", threads: 2)
    /// Decoding, processing and encoding: as many as the system grants cores.
    package static let cpu = ThreadPool(name: "halcyon-cpu", threads: SystemGrant.current.cores)
}
