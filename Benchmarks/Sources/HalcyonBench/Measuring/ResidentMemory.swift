import CFloors
import Foundation

/// Measures this process's resident memory, as the kernel counts it.
enum ResidentMemory {
    /// Times `body`, and records how far resident memory rose above its level before.
    static func growth(of body: () async throws -> Sample) async rethrows -> Sample {
        bench_trim_heap()
        resetPeak()
        let before = field("VmRSS")
        var sample = try await body()
        if let before, let peak = field("VmHWM") { sample.residentGrowth = max(0, peak - before) }
        return sample
    }

    /// Makes the kernel forget the peak, which otherwise holds for the life of the process.
    private static func resetPeak() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }

    private static func field(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }
}
