import Halcyon

/// A built-in processor: how it is spelled on the command line, and what the documentation says of it.
struct ProcessorEntry: Sendable {
    /// A part of the value.
    struct Part: Sendable {
        /// As in a form: `RADIUS`.
        let spelling: String
        /// What the Swift call names it.
        let argument: String
        /// Unit, default and limits.
        let text: String

        init(_ spelling: String, _ argument: String, _ text: String) {
            self.spelling = spelling
            self.argument = argument
            self.text = text
        }
    }

    /// What the pictures show the processor at work on.
    enum Scene: Sendable {
        case opaque
        /// With a clear edge.
        case cutOut
    }

    let name: String
    let title: String
    /// The Swift type.
    let type: String
    /// A paragraph.
    let text: String
    /// All that can be written.
    let forms: [String]
    /// What `--help` says; the name and what it cannot do without.
    let brief: String
    var parts: [Part] = []
    /// The spelling that the picture is made with.
    let example: String
    /// The same in Swift.
    let call: String
    var scene = Scene.opaque
    /// Takes what the processor needs; what is left over is refused afterwards.
    let read: @Sendable (inout ProcessorParts) throws -> any ImageProcessor
}
