/// A text that equals no other of different bytes, as one of composed and decomposed letters would.
struct ExactText: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // So that a text does not run into what is hashed behind it.
        hasher.combine(0xFF as UInt8)
    }
}
