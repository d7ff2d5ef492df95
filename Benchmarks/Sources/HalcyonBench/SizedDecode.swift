import CFloors
import Foundation
import Halcyon

/// Decodes one file to a size, or all frames of an animation, for scripts that compare the times and the pixels with those of other programs.
struct SizedDecode {
    let file: String
    /// The size; nil for all frames at their own.
    let size: PixelSize?
    /// The number of decodes that are timed; one before them warms up.
    let repeats: Int
    /// The path for the pixels of the last decode, red first; nil writes none.
    let output: String?

    private struct Report: Encodable {
        let width: Int
        let height: Int
        let frames: Int
        let repeats: Int
        /// The processor time of one decode, of all threads of the process.
        let cpuMilliseconds: Double
    }

    /// Runs the decodes, and prints one line of JSON.
    func run() throws {
        let data = try Data(contentsOf: URL(filePath: file))
        var image = try decode(data)
        let sample = try Sample.of {
            for _ in 0..<repeats { image = try decode(data) }
        }
        if let output { try Self.rgba(image).write(to: URL(filePath: output)) }
        let report = Report(
            width: image.width, height: image.height, frames: size == nil ? image.info.frameCount : 1, repeats: repeats,
            cpuMilliseconds: sample.cpu / 1e6 / Double(repeats))
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private func decode(_ data: Data) throws -> Image {
        guard size == nil else {
            return try CoderRegistry.shared.decode(data, options: DecodeOptions(target: size.map { TargetSize($0) }))
        }
        let image = try CoderRegistry.shared.decode(data)
        for index in 0..<(image.animation?.frameCount ?? 0) { _ = try image.animation?.frame(at: index) }
        return image
    }

    private static func rgba(_ image: Image) -> Data {
        image.bitmap.withPixels { pixels in
            var bytes = Data(pixels)
            for start in stride(from: 0, to: bytes.count, by: 4) { bytes.swapAt(start, start + 2) }
            return bytes
        }
    }
}
