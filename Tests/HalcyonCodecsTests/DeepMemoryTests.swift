import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

/// The memory that decodes of more than 8 bits take is reserved before.
@Suite(.timeLimit(.minutes(5))) struct DeepMemoryTests {
    /// The rows of a wide image that is much lower afterwards are most of what its decode takes. Measured in a process of its own.
    @Test(.enabled(if: !Sanitizer.isOn)) func theRowsThatScalingGathersAreReserved() async {
        await #expect(processExitsWith: .success) {
            let registry = CoderRegistry.standard()
            let wide = PixelSize(16_000, 112)
            func file() throws -> Data {
                let deep = try DeepBitmap(size: wide, format: .init(), isOpaque: true) { bytes in
                    _ = bytes.initializeMemory(as: UInt8.self, repeating: 0xFF)
                }
                return try registry.encode(Image(deep), as: .png, options: EncodeOptions(bitsPerChannel: 16))
            }
            let data = try file()
            let target = TargetSize(PixelSize(wide.width, 6), mode: .stretch)
            let options = DecodeOptions(target: target, depth: .init())
            // Tables that are made at the first use do not count.
            _ = try registry.decode(data, options: options)
            HeapTrim.after(.max)
            ProcessMemory.resetPeak()
            let before = ProcessMemory.resident
            let image = try registry.decode(data, options: options)
            let taken = ProcessMemory.peak - before
            let reserved = try registry.plan(data, options: options).workingBytes
            #expect(image.deepBitmap?.size == PixelSize(wide.width, 6))
            #expect(taken <= reserved + 2 << 20, "\(taken) of \(reserved) bytes")
            // Without the rows, of 16 bytes a pixel, it would be too little.
            #expect(taken > reserved - wide.width * wide.height * 16 + 2 << 20, "\(taken) of \(reserved) bytes")
        }
    }
}
