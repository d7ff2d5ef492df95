import Foundation

/// A file to decode, and the damage that is done to it before.
struct DecodeCase: Codable, Hashable {
    let path: String
    /// The seed of the `Mutation`; 0 leaves the file as it is.
    var seed: UInt64 = 0
    /// Capacity of the decode budget in bytes: what needs more is refused.
    var budget = 256 << 20

    var name: String { "\(URL(filePath: path).lastPathComponent)#\(seed)" }
}

/// A child's report of one case, in a line of JSON.
struct DecodeReport: Codable {
    /// One way to read the file.
    struct Step: Codable {
        let name: String
        /// `image`, the code of a typed error, or `untyped: ` and what was thrown.
        let outcome: String
        /// The checksum of all pixels that were decoded; 0 without any.
        let checksum: UInt
        /// Bytes that the plan, or what the budget lent, came to.
        let reserved: Int
        /// The most bytes that were resident at once beyond those before the step.
        let peak: Int
        /// Processor time of the whole process in seconds.
        let seconds: Double
    }

    /// Nil in the line that announces a case.
    var steps: [Step]?
    /// How the child ended that left no more than the announcement.
    var status: Int32?
    let decodeCase: DecodeCase
    /// The file's bytes, after the damage.
    let bytes: Int
    /// Pixels of all frames; 0 where the header is refused.
    let pixels: Int
    /// Bytes of a bitmap of one frame; 0 where the header is refused.
    let frameBytes: Int
    /// Processor time of `ReferenceDrawing` in the same process, in seconds: the measure of the machine.
    var reference = 0.0
}
