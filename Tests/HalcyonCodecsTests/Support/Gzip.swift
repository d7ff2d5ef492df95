import CZlib
import Foundation

/// Data packed with gzip, for tests.
enum Gzip {
    static func packed(_ data: Data) -> Data {
        var packed = [UInt8](repeating: 0, count: data.count + data.count / 1000 + 1000)
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        data.withUnsafeBytes { source in
            packed.withUnsafeMutableBufferPointer { target in
                stream.next_in = UnsafeMutablePointer(mutating: source.bindMemory(to: UInt8.self).baseAddress)
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                deflate(&stream, Z_FINISH)
            }
        }
        defer { deflateEnd(&stream) }
        return Data(packed.prefix(Int(stream.total_out)))
    }
}
