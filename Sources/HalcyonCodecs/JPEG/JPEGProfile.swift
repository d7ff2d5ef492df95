#if JPEG
    import Foundation

    /// The parts of an ICC profile, each in a segment of its own because one holds no more than 64 KiB.
    struct JPEGProfile {
        /// By number, the first is 1.
        private var parts: [Int: Data] = [:]
        private var count = 0

        var isEmpty: Bool { parts.isEmpty }

        /// Takes what stands in an APP2 segment: a name of 12 bytes, the number of this part, the number of parts.
        mutating func add(_ body: ByteReader) {
            guard let number = body.byte(12), let total = body.byte(13), number >= 1, parts[number] == nil else {
                return
            }
            count = max(count, total)
            parts[number] = Data(body.part(at: 14, length: body.count - 14).bytes)
        }

        /// Nil where a part is missing.
        var data: Data? {
            guard count > 0, parts.count == count else { return nil }
            var whole = Data()
            for number in 1...count {
                guard let part = parts[number] else { return nil }
                whole.append(part)
            }
            return whole
        }

        /// Mostly stands in the first part already.
        var name: String { (data ?? parts[1]).map { $0.read { ICCProfile.name(of: $0) } } ?? "" }
    }
#endif
