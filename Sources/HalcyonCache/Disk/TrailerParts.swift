import Foundation

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

    func isKey(_ other: DiskKey) -> Bool {
        other.bytes.withUnsafeBytes { other in
            guard other.count == key.count else { return false }
            guard let left = other.baseAddress, let right = key.baseAddress else { return other.isEmpty }
            return memcmp(left, right, key.count) == 0
        }
    }
}
