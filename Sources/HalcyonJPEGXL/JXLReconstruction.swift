import HalcyonCodecs

/// The head of the data from which a JPEG is rebuilt (ISO/IEC 18181-2, annex A), as far as it decides on memory, time and safety.
///
/// libjxl 0.7 allocates by it without a limit, writes a scan for every one that it names, and writes beyond its memory if it contradicts
/// the frame, or if a scan refines what no scan has written, so it is read and checked here first.
struct JXLReconstruction {
    /// The fields that decide what a scan writes.
    struct Scan {
        /// The channels, by their place in the JPEG.
        let components: [Int]
        /// The coefficients, in the order of the JPEG.
        let band: ClosedRange<Int>
        /// Whether it adds a bit to coefficients that earlier scans have begun.
        let isRefinement: Bool
    }

    /// The most markers that libjxl reads.
    private static let maximumMarkers = 1 << 14
    /// The most bytes behind the end of the JPEG that it may name.
    static let tailBytes = 65_793 + 1 << 22
    private static let endOfImage = 0xD9
    /// The most symbols of a Huffman code, with one for the code that none has.
    private static let maximumSymbols = 257

    /// The number of channels of the JPEG.
    private(set) var componentCount = 1
    private(set) var scans: [Scan] = []
    /// The most bytes of segments and other data beside its header and pixels, without those behind its end.
    private(set) var segmentBytes = 0
    private var order = MarkerOrder()
    /// Whether the markers are those of one frame of baseline or progressive Huffman coding, before whose scans there are tables.
    ///
    /// libjxl writes the frame header with any marker that it is told, and the pixels without a look at it.
    var hasOneFrame: Bool { order.isSound && order.frames == 1 }

    /// - Throws: `CodecError.encodingFailed`.
    init(_ box: ByteReader) throws {
        var reader = JXLBitReader(box)
        reader.skip(1)
        let counts = try readMarkers(&reader)
        for _ in 0..<counts.segments {
            _ = reader.number(.value(0), .value(1), .bits(1, from: 2), .bits(2, from: 4))
            segmentBytes += 1 + reader.bits(16)
        }
        for _ in 0..<counts.comments { segmentBytes += 1 + reader.bits(16) }
        let tables = reader.number(.value(1), .value(2), .value(3), .value(4))
        // The precision of each table, its number, and whether its segment ends.
        reader.skip(tables * 4)
        readComponents(&reader)
        try Self.skipCodes(&reader)
        for _ in 0..<counts.scans { scans.append(try Self.readScan(&reader)) }
        guard !reader.isOver, scans.allSatisfy({ $0.components.allSatisfy { $0 < componentCount } }) else {
            throw Self.invalid
        }
    }

    /// Whether each scan that refines coefficients of detail does so with those of one channel that earlier scans have written.
    ///
    /// libjxl checks the values of coefficients as it writes them for the first time, and relies on it for every later bit. A scan of
    /// several channels also has blocks beyond the edge, which scans of one channel do not check.
    var refinesWhatIsThere: Bool {
        var written = [Set<Int>](repeating: [], count: componentCount)
        for scan in scans {
            let detail = max(1, scan.band.lowerBound)..<max(1, scan.band.upperBound + 1)
            if !scan.isRefinement {
                for component in scan.components { written[component].formUnion(detail) }
            } else if !detail.isEmpty {
                guard scan.components.count == 1, written[scan.components[0]].isSuperset(of: detail) else {
                    return false
                }
            }
        }
        return true
    }

    // MARK: - Fields

    /// Reads the order of the markers.
    private mutating func readMarkers(
        _ reader: inout JXLBitReader
    ) throws -> (segments: Int, comments: Int, scans: Int) {
        var (segments, comments, scans) = (0, 0, 0)
        for _ in 0..<Self.maximumMarkers {
            let marker = 0xC0 + reader.bits(6)
            order.add(marker)
            switch marker {
            case Self.endOfImage: return (segments, comments, scans)
            case 0xDA: scans += 1
            case 0xE0...0xEF: segments += 1
            case 0xFE: comments += 1
            // Bytes between two markers, whose number follows much later.
            case 0xFF: segmentBytes += 1 << 16
            default: break
            }
            guard !reader.isOver else { throw Self.invalid }
        }
        throw Self.invalid
    }

    private mutating func readComponents(_ reader: inout JXLBitReader) {
        switch reader.bits(2) {
        case 0: componentCount = 1
        case 3:
            componentCount = reader.number(.value(1), .value(2), .value(3), .value(4))
            reader.skip(componentCount * 8)
        default: componentCount = 3
        }
        // The quantization table of each.
        reader.skip(componentCount * 2)
    }

    private static func skipCodes(_ reader: inout JXLBitReader) throws {
        let codes = reader.number(.value(4), .bits(3, from: 2), .bits(4, from: 10), .bits(6, from: 26))
        for _ in 0..<codes {
            // The kind of its table, its number, and whether its segment ends.
            reader.skip(4)
            var symbols = 0
            for _ in 0...16 { symbols += reader.number(.value(0), .value(1), .bits(3, from: 2), .bits(8)) }
            guard (1...maximumSymbols).contains(symbols) else { throw invalid }
            for _ in 0..<symbols {
                _ = reader.number(.bits(2), .bits(2, from: 4), .bits(4, from: 8), .bits(8, from: 1))
            }
        }
    }

    private static func readScan(_ reader: inout JXLBitReader) throws -> Scan {
        let count = reader.number(.value(1), .value(2), .value(3), .value(4))
        let (first, last) = (reader.bits(6), reader.bits(6))
        reader.skip(4)
        let isRefinement = reader.bits(4) > 0
        let components = (0..<count).map { _ in
            defer { reader.skip(4) }
            return reader.bits(2)
        }
        _ = reader.number(.value(0), .value(1), .value(2), .bits(3, from: 3))
        guard first <= last else { throw invalid }
        return Scan(components: components, band: first...last, isRefinement: isRefinement)
    }

    /// The markers of a JPEG up to some place, as far as they decide how the rest is read.
    private struct MarkerOrder {
        private(set) var frames = 0
        /// Whether every reader takes them.
        private(set) var isSound = true
        private var hasQuantization = false
        private var hasCodes = false

        mutating func add(_ marker: Int) {
            switch marker {
            case 0xC0, 0xC1, 0xC2: frames += 1
            case 0xC4: hasCodes = true
            case 0xDB: hasQuantization = true
            case 0xDA: isSound = isSound && frames == 1 && hasQuantization && hasCodes
            // Restarts, their interval, the end, segments, comments, and bytes between two markers.
            case 0xD0...0xD7, 0xDD, JXLReconstruction.endOfImage, 0xE0...0xEF, 0xFE, 0xFF: break
            default: isSound = false
            }
        }
    }

    static var invalid: CodecError { .encodingFailed(.jpeg, reason: "the JPEG in it cannot be rebuilt") }
}
