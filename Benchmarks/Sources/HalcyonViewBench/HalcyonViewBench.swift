import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// Measures the cost of views: time on the main thread, and processor time while they play or are hidden.
///
///     halcyon-view-bench [timing|gif|hidden|scroll|zoom] ...
@main struct HalcyonViewBench {
    static func main() {
        let names = CommandLine.arguments.dropFirst()
        TimedMainQueue.attach()
        let loop = MainLoop()
        Task { @MainActor in
            do {
                guard gtk_init_check() != 0 else { throw BenchFailure("no screen: scripts/bench-views brings one") }
                for name in names.isEmpty ? ["timing", "gif", "hidden", "scroll", "zoom"] : Array(names) {
                    switch name {
                    case "timing": try await Playing.timing()
                    case "gif": try await Playing.cost()
                    case "hidden": try await Playing.hidden()
                    case "scroll": try await Scrolling.run()
                    case "zoom": try await Zooming.run(URL(filePath: ".build/memory/baseline.jpg"))
                    default: throw BenchFailure("no benchmark is called \(name)")
                    }
                }
                exit(0)
            } catch {
                FileHandle.standardError.write(Data("halcyon-view-bench: \(error)\n".utf8))
                exit(1)
            }
        }
        g_main_loop_run(loop.pointer)
    }

    /// `@unchecked Sendable`: GLib's loops may be used from any thread.
    private struct MainLoop: @unchecked Sendable {
        let pointer = g_main_loop_new(nil, 0)
    }
}

struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
