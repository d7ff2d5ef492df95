import CHalcyonCodecs
import CHalcyonPixels
import Foundation
import HalcyonImage
import HalcyonSystem

/// Runs one of the C codecs and turns its status into an error.
package enum CodecCall {
    /// Decodes into a new bitmap.
    package static func decode(
        _ format: ImageFormat, size: PixelSize, isOpaque: Bool, context: WorkContext,
        _ body: (halcyon_codec_bitmap, UnsafeMutablePointer<halcyon_codec_call>) -> halcyon_codec_status
    ) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: isOpaque) { pixels in
            let bitmap = halcyon_codec_bitmap(pixels, size: size)
            try run(context: context, bytes: pixels.count) {
                body(bitmap, $0)
            } fail: {
                CodecError.damaged(format, reason: $0)
            }
        }
    }

    /// Runs a step of a decode that fills no bitmap, or that fills memory of the caller.
    ///
    /// - Parameter bytes: the size that `BitmapError.outOfMemory` reports if the codec runs out of memory; 0, the
    ///   default, if it is unknown.
    package static func decode(
        _ format: ImageFormat, context: WorkContext, bytes: Int = 0,
        _ body: (UnsafeMutablePointer<halcyon_codec_call>) -> halcyon_codec_status
    ) throws {
        try run(context: context, bytes: bytes, body) { CodecError.damaged(format, reason: $0) }
    }

    /// Encodes a bitmap. The data takes over the buffer that the C code allocated, without a copy.
    package static func encode(
        _ bitmap: Bitmap, as format: ImageFormat, context: WorkContext,
        _ body: (
            halcyon_codec_bitmap, UnsafeMutablePointer<halcyon_codec_output>, UnsafeMutablePointer<halcyon_codec_call>
        ) -> halcyon_codec_status
    ) throws -> Data {
        var output = halcyon_codec_output()
        try bitmap.withPixels { pixels in
            // The encoders only read the pixels; the C code has one struct for reading and writing.
            let source = halcyon_codec_bitmap(UnsafeMutableRawBufferPointer(mutating: pixels), size: bitmap.size)
            try run(context: context, bytes: pixels.count) {
                body(source, &output, $0)
            } fail: {
                CodecError.encodingFailed(format, reason: $0)
            }
        }
        guard let bytes = output.bytes else {
            throw CodecError.encodingFailed(format, reason: "the encoder wrote nothing")
        }
        return Data(bytesNoCopy: bytes, count: output.count, deallocator: .free)
    }

    /// Encodes pixels of 16 bits a channel, without alpha if every one is full.
    static func encode(
        _ bitmap: DeepBitmap, as format: ImageFormat, context: WorkContext,
        _ body: (
            UnsafePointer<UInt16>?, (width: Int32, height: Int32), _ isOpaque: Bool,
            UnsafeMutablePointer<halcyon_codec_output>, UnsafeMutablePointer<halcyon_codec_call>
        ) -> halcyon_codec_status
    ) throws -> Data {
        var output = halcyon_codec_output()
        let size = (width: Int32(clamping: bitmap.width), height: Int32(clamping: bitmap.height))
        try bitmap.withPixels { pixels in
            try run(context: context, bytes: pixels.count) {
                body(
                    pixels.baseAddress?.assumingMemoryBound(to: UInt16.self), size, bitmap.hasOpaquePixelsOnly, &output,
                    $0
                )
            } fail: {
                CodecError.encodingFailed(format, reason: $0)
            }
        }
        guard let bytes = output.bytes else {
            throw CodecError.encodingFailed(format, reason: "the encoder wrote nothing")
        }
        return Data(bytesNoCopy: bytes, count: output.count, deallocator: .free)
    }

    private static func run(
        context: WorkContext, bytes: Int,
        _ body: (UnsafeMutablePointer<halcyon_codec_call>) -> halcyon_codec_status,
        fail: (String) -> CodecError
    ) throws {
        var call = halcyon_codec_call()
        let status = withUnsafePointer(to: context) { pointer in
            call.context = UnsafeMutableRawPointer(mutating: pointer)
            call.cancelled = { $0?.assumingMemoryBound(to: WorkContext.self).pointee.isCancelled ?? false }
            return body(&call)
        }
        switch status {
        case HALCYON_CODEC_OK: return
        case HALCYON_CODEC_CANCELLED: throw CancellationError()
        case HALCYON_CODEC_NO_MEMORY: throw BitmapError.outOfMemory(bytes: bytes)
        default: throw fail(message(of: call))
        }
    }

    private static func message(of call: halcyon_codec_call) -> String {
        withUnsafeBytes(of: call.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension halcyon_codec_rows {
    /// Creates a callback that puts rows into a sink, which must outlive it.
    package init(_ sink: RowSink) {
        guard let pointer = sink.pointer else {
            self.init(
                put: { sink, row, pixels in
                    guard let sink else { return }
                    let owner = Unmanaged<RowSink>.fromOpaque(sink).takeUnretainedValue()
                    owner.append(UnsafeRawBufferPointer(start: pixels, count: owner.sourceSize.width * 4))
                },
                place: { sink, _ in
                    guard let sink else { return nil }
                    let owner = Unmanaged<RowSink>.fromOpaque(sink).takeUnretainedValue()
                    return owner.place()?.assumingMemoryBound(to: UInt8.self)
                }, context: Unmanaged.passUnretained(sink).toOpaque())
            return
        }
        self.init(
            put: { sink, row, pixels in halcyon_row_sink_put(sink.map { OpaquePointer($0) }, row, pixels) },
            place: nil, context: UnsafeMutableRawPointer(pointer))
    }
}

extension halcyon_codec_bitmap {
    fileprivate init(_ bytes: UnsafeMutableRawBufferPointer, size: PixelSize) {
        self.init(
            pixels: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(clamping: size.width),
            height: Int32(clamping: size.height))
    }
}
