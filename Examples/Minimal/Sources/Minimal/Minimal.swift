import Foundation
import Halcyon

/// Makes a thumbnail: `Minimal URL-OR-FILE OUTPUT.png`.
@main
struct Minimal {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            print("usage: Minimal URL-OR-FILE OUTPUT.png")
            exit(64)
        }
        let source = CommandLine.arguments[1]
        let request = ImageRequest(
            source.contains("://") ? ImageSource(string: source) : .file(URL(filePath: source)),
            processors: [.resize(to: PixelSize(256, 256), mode: .fit), .roundCorners(radius: 16)])
        do {
            let response = try await ImagePipeline.shared.response(for: request)
            try response.image.write(to: URL(filePath: CommandLine.arguments[2]))
            print("\(response.image.size) pixels from \(response.origin)")
        } catch let error as ImagePipelineError {
            print("\(error.code): \(error)")
            exit(1)
        }
        await ImagePipeline.shared.shutdown()
    }
}
