// The examples of docs/Isolation.md and docs/Coders.md, compiled. SnippetTests looks for each of their Swift blocks in this file.

import Foundation
import Halcyon
import HalcyonCodecs
import Testing

private let url = URL(string: "http://images.test/a.jpg")

private func show(_ image: Image) async throws {}

enum IsolatedProgram {
    struct Shop {
        static func main() async throws {
            DecodeWorker.runIfAsked()
            var configuration = ImagePipeline.Configuration()
            configuration.isolation = .isolated()
            let pipeline = ImagePipeline(configuration: configuration)
            try await show(pipeline.image(for: url))
        }
    }
}

func decodesIsolated(_ bytes: Data) throws -> Image {
    let options = DecodeOptions(isolation: .isolated(formats: [.svg, .heic, .avif]))
    let image = try Image(data: bytes, options: options)
    return image
}

func hasWorkersOfItsOwn(_ configuration: inout ImagePipeline.Configuration) {
    let workers = DecodeWorkers(count: 2, timeLimit: .seconds(10))
    configuration.isolation = .isolated(workers: workers)
}

func hasACoderInItsWorkers() {
    DecodeWorker.runIfAsked { CoderRegistry.standard().coders.reversed() + [FarbfeldCoder()] }
}
