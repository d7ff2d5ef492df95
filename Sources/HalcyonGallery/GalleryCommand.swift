import ArgumentParser
import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// The command `halcyon-gallery`: a window with a thousand pictures by default.
@main
struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon-gallery", abstract: "Shows a gallery of pictures from a server of its own.")

    @Option(help: "The folder of the pictures, with a gallery.json.")
    var gallery = "demo/gallery"

    @Option(help: "Where pictures in further formats are made.")
    var generated = ".build/gallery"

    @Option(help: "How many pictures there are; the files repeat, under a URL of their own each time.")
    var count = 1000

    @Option(help: "The most milliseconds that the server holds an answer back.")
    var latency = 300

    @Option(help: "A picture of your own, which comes first.")
    var picture: String?

    @Option(help: "Writes pictures of the window's pages into this folder, and ends.")
    var screenshots: String?

    @Option(help: "Opens and closes the window so often, says what is left each time, and ends.")
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
