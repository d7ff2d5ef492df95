import CZlib
import Foundation

/// A streaming decompressor for gzip and deflate, based on zlib. It uses a buffer of 64 KiB and zlib's 40 KB, whatever
/// the input.
package final class Inflater {
    package enum Coding {
        case gzip
        /// In the zlib format, as the protocol defines it, or raw, as some servers send it.
        case deflate
    }

    package enum Failure: Error {
        case broken, tooLarge, noMemory
    }

    private enum Phase {
        case start, inside
        /// After a complete gzip member, which another one may follow.
        case between
        /// After the end; further bytes are ignored.
        case ended
    }

    private static let pieceSize = 64 * 1024

    private let coding: Coding
    private let limit: Int
    private var produced = 0
    private var phase = Phase.start
    /// The bytes that are not used yet.
    private var input = Data()
    /// Whether zlib has more output without further input.
    private var hasMore = false
    /// On the heap, as zlib keeps its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let piece = UnsafeMutablePointer<UInt8>.allocate(capacity: pieceSize)

    package init(_ coding: Coding, limit: Int) {
        self.coding = coding
        self.limit = limit
        stream.initialize(to: z_stream())
    }

    deinit {
        // Before the first byte there is no state, and it does nothing.
        inflateEnd(stream)
        stream.deallocate()
        piece.deallocate()
    }

    /// Whether the bytes so far are complete; no bytes at all are.
    package var isComplete: Bool {
        switch phase {
        case .start: input.isEmpty
        case .inside: false
        case .between, .ended: true
        }
    }

    /// Takes more bytes, once `next` has returned nil for the previous ones.
    package func feed(_ packed: Data) {
        input = phase == .start && !input.isEmpty ? input + packed : packed
    }

    /// Returns the next piece of output; nil if the input is used up. The work of a call is bounded by its input and
    /// one piece.
    ///
    /// - Throws: `Failure`.
    package func next() throws -> Data? {
        if phase == .start {
            // Fewer bytes do not identify the format.
            guard input.count >= 2 else { return nil }
            try begin(input)
        }
        while !input.isEmpty || hasMore {
            let (piece, used) = try input.withUnsafeBytes { bytes in
                // zlib does not write to its input.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(bytes.count)
                defer { (stream.pointee.next_in, stream.pointee.avail_in) = (nil, 0) }
                let piece = try step()
                return (piece, bytes.count - Int(stream.pointee.avail_in))
            }
            input = phase == .ended ? Data() : input.dropFirst(used)
            if let piece { return piece }
        }
        return nil
    }

    private func begin(_ input: Data) throws {
        let (high, low) = (Int(input[input.startIndex]), Int(input[input.startIndex + 1]))
        // The header of the zlib format: method 8, a window of up to 32 KiB, and a checksum of the two bytes.
        let isWrapped = high & 0x0F == 8 && high >> 4 <= 7 && (high << 8 | low) % 31 == 0
        let windowBits: Int32 = coding == .gzip ? 15 + 16 : isWrapped ? 15 : -15
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { throw Failure.noMemory }
        phase = .inside
    }

    /// Calls zlib once; returns nil if there was no output.
    private func step() throws -> Data? {
        switch phase {
        case .start, .ended: return nil
        case .inside: break
        case .between:
            guard coding == .gzip, stream.pointee.next_in?.pointee == 0x1F, inflateReset(stream) == Z_OK else {
                phase = .ended
                return nil
            }
            phase = .inside
        }
        stream.pointee.next_out = piece
        stream.pointee.avail_out = UInt32(Self.pieceSize)
        let status = inflate(stream, Z_NO_FLUSH)
        let count = Self.pieceSize - Int(stream.pointee.avail_out)
        guard count <= limit - produced else { throw Failure.tooLarge }
        produced += count
        // If the output did not fit into the piece, more is available without input.
        hasMore = status == Z_OK && stream.pointee.avail_out == 0
        switch status {
        // Z_BUF_ERROR: no more output from this input.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: phase = .between
        case Z_MEM_ERROR: throw Failure.noMemory
        default: throw Failure.broken
        }
        return count > 0 ? Data(bytes: piece, count: count) : nil
    }
}
