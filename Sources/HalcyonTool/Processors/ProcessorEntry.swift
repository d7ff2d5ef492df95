import Halcyon

/// A built-in processor: its spelling on the command line, and its documentation.
struct ProcessorEntry: Sendable {
    /// A part of the value.
    struct Part: Sendable {
        /// The placeholder, as in a form: `RADIUS`.
        let spelling: String
        /// The argument's name in the Swift call.
        let argument: String
        /// The unit, the default and the limits.
        let text: String

        init(_ spelling: String, _ argument: String, _ text: String) {
            self.spelling = spelling
            self.argument = argument
            self.text = text
        }
    }

    /// The scene that the processor's picture is made of.
    enum Scene: Sendable {
        case opaque
        /// The scene with a clear edge.
        case cutOut
    }

    let name: String
    let title: String
    /// The name of the Swift type.
    let type: String
    /// The description, a paragraph.
    let text: String
    /// All forms of the spelling.
    let forms: [String]
    /// The short form for `--help`: the name and the required parts.
    let brief: String
    var parts: [Part] = []
    /// The spelling that the picture is made with.
    let example: String
    /// The Swift call that is equivalent to the example.
    let call: String
    var scene = Scene.opaque
    /// Takes the parts that the processor needs and makes it; parts that are left over are rejected afterwards.
    let read: @Sendable (inout ProcessorParts) throws -> any ImageProcessor
}
