import ArgumentParser
import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// The command `halcyon-gallery`: a window with a thousand pictures by default.
@main
struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon-gallery", abstract: "Shows a gallery of pictures from its own server.")

    @Option(help: "The folder of the pictures, with a gallery.json.")
    var gallery = "demo/gallery"

    @Option(help: "The folder for generated pictures in further formats.")
    var generated = ".build/gallery"

    @Option(help: "The number of pictures; files repeat under another URL each time.")
    var count = 1000

    @Option(help: "The maximum delay of the server's answers in milliseconds.")
    var latency = 300

    @Option(help: "A picture file that is shown first.")
    var picture: String?

    @Option(help: "Writes screenshots of the window's pages into this folder, then exits.")
    var screenshots: String?

    @Option(
        help: "Opens and closes the window this number of times, prints the remaining objects each time, then exits.")
    var cycles: Int?

    func validate() throws {
        guard count > 0 else { throw ValidationError("--count must be 1 or more.") }
        guard (0...60_000).contains(latency) else { throw ValidationError("--latency must be 0 to 60000.") }
        if let cycles, cycles < 1 { throw ValidationError("--cycles must be 1 or more.") }
    }

    func run() throws {
        GTKMainLoop.attach()
        let status = MainActor.assumeIsolated {
            let application = GalleryApplication(self)
            // GTK's signal handlers hold the application weakly, and its loop runs within this call.
            return withExtendedLifetime(application) { application.run() }
        }
        if status != 0 { throw ExitCode(status) }
    }
}
