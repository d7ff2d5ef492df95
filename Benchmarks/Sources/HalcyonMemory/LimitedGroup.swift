import BenchSupport
import Foundation
import Halcyon

/// Runs 1,000 requests of a pipeline, 50 of them bombs, in a control group of 256 MiB.
struct LimitedGroup {
    let folder: URL

    private static let limit = 256 << 20
    private static let count = 1000

    /// Makes a group, runs a child in it, and prints whether the kernel had to kill it.
    func measure() throws {
        let group = try ControlGroup(limit: Self.limit)
        defer { group.remove() }
        _ = try requests()
        let output = try Child.run(["requests", folder.path, group.membership])
        print("group: \(output); \(group.version), peak \(mebibytes(group.peak)), \(group.kills) kills")
    }

    /// Runs the requests, in the child.
    func request() async throws {
        if CommandLine.arguments.count > 3 {
            try Data("\(ProcessInfo.processInfo.processIdentifier)".utf8).write(
                to: URL(filePath: CommandLine.arguments[3]))
        }
        let sources = try requests()
        let pipeline = ImagePipeline(configuration: ImagePipeline.Configuration())
        var codes: [String: Int] = [:]
        await withTaskGroup(of: String.self) { tasks in
            for (index, source) in sources.enumerated() {
                tasks.addTask {
                    var request = ImageRequest(source)
                    if index % 3 != 0 { request.decode.target = TargetSize(PixelSize(400, 300)) }
                    do {
                        _ = try await pipeline.image(for: request)
                        return "image"
                    } catch {
                        return (error as? ImagePipelineError)?.code ?? "\(error)"
                    }
                }
            }
            for await code in tasks { codes[code, default: 0] += 1 }
        }
        let outcomes = codes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("\(sources.count) requests at once: \(outcomes)")
    }

    /// Returns files on disk: small ones, twenty photographs of 12 million pixels, and bombs.
    private func requests() throws -> [ImageSource] {
        let list = folder.appending(path: "group")
        if !FileManager.default.fileExists(atPath: list.path) {
            try FileManager.default.createDirectory(at: list, withIntermediateDirectories: true)
            let bombs = Bombs.all.filter { $0.file != nil }.prefix(50)
            for (index, bomb) in bombs.enumerated() { try bomb.data().write(to: name(list, index * 20)) }
            for index in 0..<20 {
                let format = [ImageFormat.jpeg, .png, .webp, .jpeg][index % 4]
                let image = try Picture.make(PixelSize(4000, 3000), shift: index)
                let data = try CoderRegistry.shared.encode(
                    image, as: format, options: EncodeOptions(isProgressive: index % 4 == 3))
                try data.write(to: name(list, index * 50 + 1))
            }
            let files = try MixedDecodes.files()
            for index in 0..<Self.count where !FileManager.default.fileExists(atPath: name(list, index).path) {
                try files[index % files.count].write(to: name(list, index))
            }
        }
        return (0..<Self.count).map { .file(name(list, $0)) }
    }

    private func name(_ list: URL, _ index: Int) -> URL { list.appending(path: "\(index)") }
}
