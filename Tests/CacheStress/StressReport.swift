import Foundation
import HalcyonSystem

/// What a child tells its parent while it works: a line each, given to the system whole before what it announces
/// begins, so that it outlives the process that wrote it.
enum StressReport: Equatable {
    /// A version is about to be written: from now on it may be there.
    case begun(key: Int, version: Int)
    /// The key is about to be removed: from now on it may be gone.
    case removing(key: Int)
    /// What was begun last for the key has been done.
    case done(key: Int)
    /// Everything that this worker has begun so far is on the disk.
    case flushed(worker: Int)
    /// The child ends itself in this call of the file system.
    case dying(in: String)
    /// Something that must not be.
    case wrong(String)
    /// Figures at the end of a run that nobody cut off.
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

    /// Nil for what no child says.
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

    /// The lines that have come whole. What a cut left of the last one announced something that never began.
    static func lines(_ bytes: Data) -> [Substring] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.lastIndex(of: "\n") else { return [] }
        return text[..<end].split(separator: "\n")
    }

    /// Says it to the parent, past every buffer, in one call: lines of several threads do not mix.
    func send() {
        let bytes = Array(line.utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            // Without a parent there is nobody to work for.
            if count < 0, errno != EINTR { exit(3) }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
