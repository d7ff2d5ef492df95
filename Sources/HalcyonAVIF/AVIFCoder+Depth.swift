import CAVIF
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension AVIFCoder: DeepImageDecoder {
    package func deepPixels(of data: Data, info: ImageInfo, for format: DeepBitmap.Format) -> DeepPixels? {
        data.withUnsafeBytes { bytes in
            try? AVIFFile.read(bytes) { $0.isDeep ? DeepPixels(profile: $0.colorProfile) : nil }
        }
    }

    package func decodeDeep(
        _ data: Data, plan: DecodePlan, format: DeepBitmap.Format, into words: UnsafeMutableRawBufferPointer,
        context: WorkContext
    ) throws {
        try Self.decode(data, hasAlpha: plan.info.hasAlpha, context: context) { file, pixels in
            let (crop, size) = (file.crop, pixels.size)
            guard (crop?.size ?? size) == plan.nativeSize else {
                throw CodecError.damaged(.avif, reason: "the decoded size differs from the header")
            }
            guard let crop else { return try pixels.write(to: words) }
            let count = 0.adding(2, times: size.bitmapBytes)
            guard let memory = malloc(count) else { throw BitmapError.outOfMemory(bytes: count) }
            defer { free(memory) }
            try pixels.write(to: UnsafeMutableRawBufferPointer(start: memory, count: count))
            let rowBytes = crop.size.width * 8
            for row in 0..<crop.size.height {
                let start = ((crop.y + row) * size.width + crop.x) * 8
                UnsafeMutableRawBufferPointer(rebasing: words[row * rowBytes..<(row + 1) * rowBytes]).copyMemory(
                    from: UnsafeRawBufferPointer(start: memory + start, count: rowBytes))
            }
        }
    }
}
