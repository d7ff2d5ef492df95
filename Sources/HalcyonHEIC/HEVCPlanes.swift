import CDE265
import Foundation

/// The memory that libde265 decodes pictures into, filled with noise before it is written.
///
/// libde265 leaves memory as it was where no slice of a file covers the picture, which would show what this process
/// held before. Noise that nobody outside knows takes its place, and tells where it remains.
final class HEVCPlanes {
    private struct Luma {
        let width: Int
        let height: Int
        /// The number of samples from one row to the next.
        let stride: Int
        let noise: HEVCNoise
    }

    /// The planes of brightness that libde265 holds, by their addresses.
    private var lumas: [UnsafeMutableRawPointer: Luma] = [:]

    private var decoder: UnsafeMutableRawPointer?

    /// Makes a decoder take the memory of its first picture from here; the decoder must be freed first.
    func serve(_ decoder: UnsafeMutableRawPointer) {
        self.decoder = decoder
        var functions = de265_image_allocation(
            get_buffer: { _, spec, image, planes in
                guard let spec, let image, let planes else { return 0 }
                return Unmanaged<HEVCPlanes>.fromOpaque(planes).takeUnretainedValue().add(spec.pointee, to: image)
            },
            release_buffer: { _, image, planes in
                guard let image, let planes else { return }
                Unmanaged<HEVCPlanes>.fromOpaque(planes).takeUnretainedValue().remove(from: image)
            })
        de265_set_image_allocation_functions(decoder, &functions, Unmanaged.passUnretained(self).toOpaque())
        // libde265 asks these functions only for pictures that it does not filter by sample adaptive offset.
        filters(false)
    }

    private func filters(_ isOn: Bool) {
        guard let decoder else { return }
        de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_SAO, isOn ? 0 : 1)
    }

    /// Gives a picture its planes. Returns 1, or 0 without memory.
    private func add(_ spec: de265_image_spec, to image: OpaquePointer) -> Int32 {
        // The picture is decoded before it is filtered.
        filters(true)
        let isNarrow = spec.format == de265_image_format_YUV420P8 || spec.format == de265_image_format_YUV422P8
        let isLow = spec.format == de265_image_format_YUV420P8
        let alignment = max(1, Int(spec.alignment))
        for channel in 0..<(spec.format == de265_image_format_mono8 ? 1 : 3) {
            let width = channel > 0 && isNarrow ? (Int(spec.width) + 1) / 2 : Int(spec.width)
            let height = channel > 0 && isLow ? (Int(spec.height) + 1) / 2 : Int(spec.height)
            let stride = (width + alignment - 1) / alignment * alignment
            let noise = HEVCNoise(bits: Int(de265_get_bits_per_pixel(image, Int32(channel))))
            var plane: UnsafeMutableRawPointer?
            // Vector code reads some bytes beyond the last row.
            let length = stride * height * noise.sampleBytes + 64
            guard posix_memalign(&plane, 64, length) == 0, let plane else {
                remove(from: image)
                return 0
            }
            memset(plane + length - 64, 0, 64)
            noise.fill(plane, stride: stride, height: height)
            de265_set_image_plane(image, Int32(channel), plane, Int32(stride * noise.sampleBytes), plane)
            if channel == 0 {
                lumas[plane] = Luma(width: width, height: height, stride: stride, noise: noise)
            }
        }
        return 1
    }

    private func remove(from image: OpaquePointer) {
        for channel in Int32(0)..<3 {
            guard let plane = de265_get_image_plane_user_data(image, channel) else { continue }
            lumas[plane] = nil
            free(plane)
            de265_set_image_plane(image, channel, nil, 0, nil)
        }
    }

    /// Whether a picture has its memory from here, and slices cover the whole of it: no block of 16 x 16 samples, the
    /// smallest that is coded on its own, is as it was before.
    func isWritten(_ image: OpaquePointer) -> Bool {
        guard let plane = de265_get_image_plane_user_data(image, 0), let luma = lumas[plane] else { return false }
        for top in stride(from: 0, to: luma.height, by: 16) {
            for left in stride(from: 0, to: luma.width, by: 16) {
                // Smoothing between blocks of 8 x 8 changes three samples on either side, and so none of these.
                let rows = [3, 4, 11, 12].lazy.map { top + $0 }.filter { $0 < luma.height }
                let columns = [3, 4, 11, 12].lazy.map { left + $0 }.filter { $0 < luma.width }
                let remains = rows.allSatisfy { y in
                    columns.allSatisfy { x in luma.noise.remains(in: plane, stride: luma.stride, x: x, y: y) }
                }
                if remains { return false }
            }
        }
        return true
    }
}

/// Samples that nobody outside this process can foretell, in the range of a number of bits.
struct HEVCNoise {
    let sampleBytes: Int
    private let samples: [UInt8]

    private static let count = 4096
    private static let seed: [UInt16] = {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }()

    init(bits: Int) {
        sampleBytes = bits > 8 ? 2 : 1
        // A sample out of range would be read beyond libde265's tables.
        samples =
            bits > 8
            ? Self.seed.flatMap { value in
                let value = value >> UInt16(max(0, 16 - bits))
                return [UInt8(value & 255), UInt8(value >> 8)]
            } : Self.seed.map { UInt8($0 >> UInt16(16 - bits)) }
    }

    /// Returns the index of the noise of a place. Rows differ, so that a block is not like another one.
    private func index(x: Int, y: Int) -> Int { (x + 61 * y) % Self.count }

    func fill(_ plane: UnsafeMutableRawPointer, stride: Int, height: Int) {
        samples.withUnsafeBytes { noise in
            guard let start = noise.baseAddress else { return }
            for y in 0..<height {
                var x = 0
                while x < stride {
                    let index = index(x: x, y: y)
                    let count = min(stride - x, Self.count - index)
                    let target = plane + (y * stride + x) * sampleBytes
                    memcpy(target, start + index * sampleBytes, count * sampleBytes)
                    x += count
                }
            }
        }
    }

    func remains(in plane: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int) -> Bool {
        let sample = plane + (y * stride + x) * sampleBytes
        return samples.withUnsafeBytes { noise in
            guard let start = noise.baseAddress else { return false }
            return memcmp(sample, start + index(x: x, y: y) * sampleBytes, sampleBytes) == 0
        }
    }
}
