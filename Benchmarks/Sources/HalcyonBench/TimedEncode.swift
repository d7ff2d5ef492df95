import CFloors
import Foundation
import Halcyon

/// Encodes the picture of one file, for scripts that compare the times and the sizes with those of other programs.
struct TimedEncode {
    let file: String
    let format: ImageFormat
    let options: EncodeOptions
    /// The number of encodes that are timed; one before them warms up.
    let repeats: Int

    private struct Report: Encodable {
        let bytes: Int
        let repeats: Int
        /// The processor time of one encode, of all threads of the process.
        let cpuMilliseconds: Double
    }

    /// Runs the encodes, and prints one line of JSON.
    func run() throws {
        let image = try Image(data: Data(contentsOf: URL(filePath: file)))
        var data = try image.data(as: format, options: options)
        let sample = try Sample.of {
            for _ in 0..<repeats { data = try image.data(as: format, options: options) }
        }
        let report = Report(
            bytes: data.count, repeats: repeats, cpuMilliseconds: sample.cpu / 1e6 / Double(repeats))
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }
}
