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
        let loop = MainLoop()
        Task { @MainActor in
            await load(file)
            // All that is under way ends, and the loop is left by its own means.
            _ = await ImagePipeline.shared.shutdown()
            g_main_loop_quit(loop.pointer)
        }
        g_timeout_add_seconds(60, { _ in exit(1) }, nil)
        g_main_loop_run(loop.pointer)
        g_main_loop_unref(loop.pointer)
    }

    @MainActor private static func load(_ file: URL) async {
        let target = ImageTarget { content in
            if let image = content.image { print(image.size) }
        }
        await withCheckedContinuation { continuation in
            target.setImage(ImageRequest(file)) { _ in continuation.resume() }
        }
    }

    /// `@unchecked Sendable`: GLib's loops may be used from any thread.
    private struct MainLoop: @unchecked Sendable {
        let pointer = g_main_loop_new(nil, 0)
    }
}
