import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// A program of GLib's main loop, without a screen: loads the file that it is given on the main actor, prints its size and
/// ends. Ends with 1 where the main actor never runs.
@main struct MainLoopProgram {
    static func main() {
        GTKMainLoop.attach()
        // A second binding that does the same.
        GTKMainLoop.attach()
        let file = URL(filePath: CommandLine.arguments.last ?? "")
        Task { @MainActor in
            var targets: [ImageTarget] = []
            await withCheckedContinuation { continuation in
                let target = ImageTarget { content in
                    if let image = content.image { print(image.size) }
                }
                targets.append(target)
                target.setImage(ImageRequest(file)) { _ in continuation.resume() }
            }
            try? await Task.sleep(for: .milliseconds(5))
            withExtendedLifetime(targets) {}
            exit(0)
        }
        g_timeout_add_seconds(60, { _ in exit(1) }, nil)
        g_main_loop_run(g_main_loop_new(nil, 0))
    }
}
