import CXXHash
import Foundation

/// The fixed end of an entry's file, from which a reader finds everything else.
///
///     payload | key | metadata | extended data | footer
///
///     footer   0  payload length            8
///              8  extended data length      8
///             16  key length                4
///             20  metadata length           4
///             24  stored at, ns since 1970  8
///             32  lifetime, ns, -1 never    8
///             40  XXH3-64 of the payload    8
///             48  XXH3-64 of key to here    8
///             56  version                   4
///             60  magic                     8
///
/// All numbers are little-endian. The payload comes first, so that any viewer opens the file.
struct EntryFooter: Hashable {
    static let size = 68
    static let version: UInt32 = 1
    /// "\x89HALCYON" as a number: the first byte is not ASCII, so that no text ends with it.
    static let magic: UInt64 = 0x4E4F_5943_4C41_4889
    static let neverEnds: Int64 = -1
    /// The number of bytes of the footer that its checksum covers; the checksum, version and magic behind them are
    /// compared.
    private static let covered = 48

    var payloadLength: Int
    var extendedLength: Int
    var keyLength: Int
    var metadataLength: Int
    var storedAt: Int64
    var lifetime: Int64
    var payloadChecksum: UInt64

    /// The number of bytes behind the payload.
    var trailerLength: Int { keyLength + metadataLength + extendedLength + Self.size }

    /// Reads the footer at the end of `bytes`, which must be the last bytes of a file.
    ///
    /// - Returns: nil unless it is a footer of this version whose lengths add up to the file's length.
    init?(endOf bytes: UnsafeRawBufferPointer, fileSize: Int) {
        guard bytes.count >= Self.size else { return nil }
        let footer = UnsafeRawBufferPointer(rebasing: bytes.suffix(Self.size))
        guard footer.number(at: 60, UInt64.self) == Self.magic, footer.number(at: 56, UInt32.self) == Self.version,
            let payload = Int(exactly: footer.number(at: 0, UInt64.self)),
            let extended = Int(exactly: footer.number(at: 8, UInt64.self)),
            payload <= fileSize, extended <= fileSize
        else { return nil }
        payloadLength = payload
        extendedLength = extended
        keyLength = Int(footer.number(at: 16, UInt32.self))
        metadataLength = Int(footer.number(at: 20, UInt32.self))
        storedAt = footer.number(at: 24, Int64.self)
        lifetime = footer.number(at: 32, Int64.self)
        payloadChecksum = footer.number(at: 40, UInt64.self)
        // The four lengths are each below 2^63 / 4, as is the file's length, or below 2^32: the sum cannot overflow.
        guard fileSize < Int.max / 4, payloadLength + trailerLength == fileSize else { return nil }
    }

    init(
        payloadLength: Int, extendedLength: Int, keyLength: Int, metadataLength: Int, storedAt: Int64, lifetime: Int64,
        payloadChecksum: UInt64
    ) {
        self.payloadLength = payloadLength
        self.extendedLength = extendedLength
        self.keyLength = keyLength
        self.metadataLength = metadataLength
        self.storedAt = storedAt
        self.lifetime = lifetime
        self.payloadChecksum = payloadChecksum
    }

    /// Appends the footer to the variable part of a trailer, with the checksum of both.
    func append(to trailer: inout [UInt8]) {
        trailer.append(number: UInt64(payloadLength))
        trailer.append(number: UInt64(extendedLength))
        trailer.append(number: UInt32(truncatingIfNeeded: keyLength))
        trailer.append(number: UInt32(truncatingIfNeeded: metadataLength))
        trailer.append(number: storedAt)
        trailer.append(number: lifetime)
        trailer.append(number: payloadChecksum)
        trailer.append(number: trailer.withUnsafeBytes { Self.checksum($0) })
        trailer.append(number: Self.version)
        trailer.append(number: Self.magic)
    }

    /// Returns whether a complete trailer, from the key to the magic, matches its checksum.
    static func isIntact(trailer: UnsafeRawBufferPointer) -> Bool {
        let end = trailer.count - size + covered
        return checksum(UnsafeRawBufferPointer(rebasing: trailer[..<end])) == trailer.number(at: end, UInt64.self)
    }

    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        XXH3_64bits(bytes.baseAddress, bytes.count)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

/// The variable parts of a trailer, in place. Valid as long as the bytes of the trailer are.
struct TrailerParts {
    let key: UnsafeRawBufferPointer
    private let metadataBytes: UnsafeRawBufferPointer
    private let extendedBytes: UnsafeRawBufferPointer

    init(_ trailer: UnsafeRawBufferPointer, _ footer: EntryFooter) {
        let metadataStart = footer.keyLength
        let extendedStart = metadataStart + footer.metadataLength
        key = UnsafeRawBufferPointer(rebasing: trailer[..<metadataStart])
        metadataBytes = UnsafeRawBufferPointer(rebasing: trailer[metadataStart..<extendedStart])
        extendedBytes = UnsafeRawBufferPointer(rebasing: trailer[extendedStart...].prefix(footer.extendedLength))
    }

    var metadata: Data { Data(metadataBytes) }
    var extended: Data { Data(extendedBytes) }

    func isKey(_ other: CacheKey) -> Bool {
        other.bytes.withUnsafeBytes { other in
            guard other.count == key.count else { return false }
            guard let left = other.baseAddress, let right = key.baseAddress else { return other.isEmpty }
            return memcmp(left, right, key.count) == 0
        }
    }
}

/// The conversion of times and lifetimes to and from those in an entry's footer.
enum EntryTimes {
    /// Returns seconds as nanoseconds. More than fits, 292 years, becomes `EntryFooter.neverEnds`.
    static func nanoseconds(_ seconds: TimeInterval) -> Int64 {
        let nanoseconds = seconds * 1e9
        return nanoseconds < 9.2e18 ? max(0, Int64(max(0, nanoseconds))) : EntryFooter.neverEnds
    }

    static func seconds(_ nanoseconds: Int64) -> TimeInterval {
        nanoseconds < 0 ? .infinity : TimeInterval(nanoseconds) * 1e-9
    }
}
