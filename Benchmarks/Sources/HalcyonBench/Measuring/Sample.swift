import CFloors

/// The measurements of one run.
struct Sample: Sendable {
    /// Wall time in nanoseconds.
    var wall: Double
    /// Processor time of all threads of this process, in nanoseconds.
    var cpu: Double
    /// The growth of resident memory from before the run to its peak, in bytes; nil if it was not measured.
    var residentGrowth: Int?

    /// Times `body`.
    static func of(_ body: () throws -> Void) rethrows -> Sample {
        let wall = bench_wall_time()
        let cpu = bench_cpu_time()
        try body()
        return Sample(since: wall, cpu)
    }

    /// Times `body`, from its call to its return.
    static func of(_ body: () async throws -> Void) async rethrows -> Sample {
        let wall = bench_wall_time()
        let cpu = bench_cpu_time()
        try await body()
        return Sample(since: wall, cpu)
    }

    /// Creates a sample from times that another process measured.
    init(wall: Double, cpu: Double) {
        self.wall = wall
        self.cpu = cpu
    }

    private init(since wall: Int64, _ cpu: Int64) {
        self.cpu = Double(bench_cpu_time() - cpu)
        self.wall = Double(bench_wall_time() - wall)
    }
}
