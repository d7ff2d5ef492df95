import CZlib
import Foundation

/// The content codings of servers.
enum Packing: Int32, CaseIterable {
    /// The raw value is zlib's parameter for the coding.
    case gzip = 31
    case zlib = 15
    case raw = -15

    func pack(_ data: Data) -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, 9, Z_DEFLATED, rawValue, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        defer { deflateEnd(&stream) }
        var packed = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(data.count))) + 64)
        var input = Array(data)
        let count = input.withUnsafeMutableBufferPointer { input in
            packed.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Data(packed[..<count])
    }
}
