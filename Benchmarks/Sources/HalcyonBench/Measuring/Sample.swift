import CFloors

/// What one run took.
struct Sample: Sendable {
    /// Nanoseconds by the clock on the wall.
    var wall: Double
    /// Nanoseconds of processor time of all threads of this process.
    var cpu: Double
    /// Bytes by which resident memory was higher at its peak than before the run; nil where nobody looked.
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

    /// What another process has timed.
    init(wall: Double, cpu: Double) {
        self.wall = wall
        self.cpu = cpu
    }

    private init(since wall: Int64, _ cpu: Int64) {
        self.cpu = Double(bench_cpu_time() - cpu)
        self.wall = Double(bench_wall_time() - wall)
    }
}
