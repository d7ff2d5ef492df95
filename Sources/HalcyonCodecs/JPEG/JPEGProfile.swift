#if JPEG
    import Foundation

    /// The parts of an ICC profile, each in a segment of its own because a segment holds at most 64 KiB.
    struct JPEGProfile {
        /// The parts by their numbers, which begin with 1.
        private var parts: [Int: Data] = [:]
        private var count = 0

        var isEmpty: Bool { parts.isEmpty }

        /// Adds the contents of an APP2 segment: a name of 12 bytes, the number of this part, the number of parts, and
        /// the part.
        mutating func add(_ body: ByteReader) {
            guard let number = body.byte(12), let total = body.byte(13), number >= 1, parts[number] == nil else {
                return
            }
            count = max(count, total)
            parts[number] = Data(body.part(at: 14, length: body.count - 14).bytes)
        }

        /// The whole profile; nil if a part is missing.
        var data: Data? {
            guard count > 0, parts.count == count else { return nil }
            var whole = Data()
            for number in 1...count {
                guard let part = parts[number] else { return nil }
                whole.append(part)
            }
            return whole
        }

        /// The name of the profile, which is usually in the first part already.
        var name: String { (data ?? parts[1]).map { $0.read { ICCProfile.name(of: $0) } } ?? "" }
    }
#endif
