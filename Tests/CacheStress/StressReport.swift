import Foundation
import HalcyonSystem

/// A message that a child sends its parent during the work: one line, handed to the system whole before the action that it
/// announces begins, so that it outlives the process that wrote it.
enum StressReport: Equatable {
    /// A version is about to be written: from now on it may be there.
    case begun(key: Int, version: Int)
    /// The key is about to be removed: from now on it may be gone.
    case removing(key: Int)
    /// The action that was begun last for the key is done.
    case done(key: Int)
    /// Everything that this worker has begun so far is on the disk.
    case flushed(worker: Int)
    /// The child ends itself in this call of the file system.
    case dying(in: String)
    /// A fault that was found.
    case wrong(String)
    /// Figures at the end of a run that was not cut off.
    case finished([Int])

    var line: String {
        switch self {
        case .begun(let key, let version): "b \(key) \(version)\n"
        case .removing(let key): "r \(key)\n"
        case .done(let key): "d \(key)\n"
        case .flushed(let worker): "f \(worker)\n"
        case .dying(let call): "k \(call)\n"
        case .wrong(let text): "w \(text)\n"
        case .finished(let figures): "e \(figures.map(String.init).joined(separator: " "))\n"
        }
    }

    /// Parses a line; nil for a line that is not a child's message.
    init?(_ line: some StringProtocol) {
        let text = line.dropFirst(2)
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        switch (line.prefix(2), numbers.count) {
        case ("b ", 2): self = .begun(key: numbers[0], version: numbers[1])
        case ("r ", 1): self = .removing(key: numbers[0])
        case ("d ", 1): self = .done(key: numbers[0])
        case ("f ", 1): self = .flushed(worker: numbers[0])
        case ("k ", _): self = .dying(in: String(text))
        case ("w ", _): self = .wrong(String(text))
        case ("e ", _): self = .finished(numbers)
        default: return nil
        }
    }

    /// Returns the lines that have arrived whole. The cut-off rest of the last one announced an action that never began.
    static func lines(_ bytes: Data) -> [Substring] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.lastIndex(of: "\n") else { return [] }
        return text[..<end].split(separator: "\n")
    }

    /// Sends the message to the parent, past every buffer, in one call: lines of several threads do not mix.
    func send() {
        let bytes = Array(line.utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            // Without a parent the work has no purpose.
            if count < 0, errno != EINTR { exit(3) }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
