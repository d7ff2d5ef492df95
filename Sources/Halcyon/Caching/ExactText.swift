import Glibc

/// A string compared by its bytes. `String` treats composed and decomposed letters as equal.
struct ExactText: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactText, right: ExactText) -> Bool {
        var (left, right) = (left.text, right.text)
        // Native strings, which nearly all are, are not copied for this.
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count else { return false }
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A terminator separates the text from the value that is hashed next.
        hasher.combine(0xFF as UInt8)
    }
}
