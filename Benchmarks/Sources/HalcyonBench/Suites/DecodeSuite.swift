import CFloors
import Foundation
import Halcyon

/// Compares decodes with direct calls of the C libraries.
struct DecodeSuite: Suite {
    let names = ["jpeg-decode", "png-decode", "webp-decode", "gif-decode", "avif-decode", "jxl-decode", "deep-decode"]
    private let size = PixelSize(1024, 768)
    private let quarter = PixelSize(256, 192)

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        try (jpegs() + pngs() + webps() + [gif(), avif()] + jpegXLs() + deep()).map { try $0.checked() }
    }

    private func jpegs() throws -> [DecodeComparison] {
        try [("12 Mpx", PixelSize(4000, 3000), 1), ("1024x768", size, 8)].flatMap {
            title, size, repeats -> [DecodeComparison] in
            let file = try Self.file(size, as: .jpeg)
            let quarter = PixelSize(size.width / 4, size.height / 4)
            return [
                DecodeComparison(
                    name: "jpeg-decode", variant: "\(title), full", file: file, size: size, repeats: repeats
                ) { bench_decode_jpeg($0, $1, 8, $2) },
                DecodeComparison(
                    name: "jpeg-decode", variant: "\(title), to a quarter", file: file, size: quarter,
                    options: DecodeOptions(target: TargetSize(quarter)), repeats: repeats
                ) { bench_decode_jpeg($0, $1, 2, $2) },
            ]
        }
    }

    private func pngs() throws -> [DecodeComparison] {
        let opaque = try Self.file(size, as: .png)
        return try [
            DecodeComparison(
                name: "png-decode", variant: "1024x768, opaque", file: opaque, size: size, repeats: 2
            ) { bench_decode_png($0, $1, $2) },
            DecodeComparison(
                name: "png-decode", variant: "1024x768, alpha",
                file: try Self.file(size, as: .png, isOpaque: false), size: size, repeats: 2, comparesPixels: false
            ) { bench_decode_png($0, $1, $2) },
            // libpng cannot reduce: its whole decode is compared with Halcyon's decode and reduction.
            DecodeComparison(
                name: "png-decode", variant: "1024x768, to a quarter", file: opaque, size: quarter,
                options: DecodeOptions(target: TargetSize(quarter)), floorSize: size, repeats: 2,
                comparesPixels: false
            ) { bench_decode_png($0, $1, $2) },
        ] + drawings()
    }

    /// Photographs, which are hard to compress, stand for one end; what programs draw for the other.
    private func drawings() throws -> [DecodeComparison] {
        let large = PixelSize(4000, 3000)
        return try [
            ("screen, 1920x1080", DrawnImage.screen(PixelSize(1920, 1080))),
            ("screen, 12 Mpx", DrawnImage.screen(large)),
            ("flat drawing, 1920x1080", DrawnImage.flat(PixelSize(1920, 1080))),
            ("flat drawing, 12 Mpx", DrawnImage.flat(large)), ("noise, 12 Mpx", NoiseImage.make(large, seed: 7)),
        ].map { variant, image in
            DecodeComparison(
                name: "png-decode", variant: variant, file: try CoderRegistry.shared.encode(image, as: .png),
                size: image.size, repeats: image.width < 4000 ? 2 : 1
            ) { bench_decode_png($0, $1, $2) }
        }
    }

    private func webps() throws -> [DecodeComparison] {
        let lossy = try Self.file(size, as: .webp)
        return [
            DecodeComparison(
                name: "webp-decode", variant: "1024x768, lossy", file: lossy, size: size, repeats: 2
            ) { bench_decode_webp($0, $1, $2) },
            DecodeComparison(
                name: "webp-decode", variant: "1024x768, lossless",
                file: try Self.file(size, as: .webp, EncodeOptions(isLossless: true)), size: size, repeats: 2
            ) { bench_decode_webp($0, $1, $2) },
            DecodeComparison(
                name: "webp-decode", variant: "1024x768, to a quarter", file: lossy, size: quarter,
                options: DecodeOptions(target: TargetSize(quarter)), repeats: 2, comparesPixels: false
            ) { bench_decode_webp_scaled($0, $1, 4, $2) },
        ]
    }

    private func gif() throws -> DecodeComparison {
        let size = PixelSize(800, 600)
        return DecodeComparison(
            name: "gif-decode", variant: "800x600, one frame", file: try Self.file(size, as: .gif), size: size,
            repeats: 4
        ) { bench_decode_gif($0, $1, $2) }
    }

    private func avif() throws -> DecodeComparison {
        DecodeComparison(
            name: "avif-decode", variant: "1024x768", file: try Self.file(size, as: .avif), size: size, repeats: 2
        ) { bench_decode_avif($0, $1, $2) }
    }

    private func jpegXLs() throws -> [DecodeComparison] {
        let lossless = EncodeOptions(isLossless: true, effort: 0.25)
        return try [
            ("1024x768, lossy", size, EncodeOptions()), ("1024x768, lossless", size, lossless),
            ("12 Mpx, lossy", PixelSize(4000, 3000), EncodeOptions(effort: 0.25)),
        ].map { variant, size, options in
            DecodeComparison(
                name: "jxl-decode", variant: variant, file: try Self.file(size, as: .jpegXL, options), size: size,
                repeats: size == self.size ? 2 : 1, comparesPixels: false
            ) { bench_decode_jxl($0, $1, $2) }
        }
    }

    /// Pixels of 16 bits a channel beside those of 8, in sRGB. The floors make the former alone, in a bitmap of twice the width.
    private func deep() throws -> [DecodeComparison] {
        let noise = try NoiseImage.make(size, seed: 7).bitmap
        let words = try DeepBitmap(size: size, format: .init(), isOpaque: true) { words in
            noise.withPixels { bytes in
                for place in bytes.indices {
                    let word = place & 3 == 3 ? 65_535 : UInt16(bytes[place]) << 8 | UInt16(bytes[place ^ 1])
                    words.storeBytes(of: word, toByteOffset: place * 2, as: UInt16.self)
                }
            }
        }
        let image = try Image(words)
        func comparison(
            _ variant: String, _ format: ImageFormat, _ bits: Int, _ floor: @escaping DecodeComparison.Floor
        ) throws -> DecodeComparison {
            DecodeComparison(
                name: "deep-decode", variant: variant,
                file: try CoderRegistry.shared.encode(
                    image, as: format, options: EncodeOptions(bitsPerChannel: bits)), size: size,
                options: DecodeOptions(depth: .init()), floorSize: PixelSize(size.width * 2, size.height), repeats: 2,
                floor: floor)
        }
        return [
            try comparison("PNG, 16 bits, 1024x768", .png, 16) { bench_decode_deep_png($0, $1, $2) },
            try comparison("AVIF, 10 bits, 1024x768", .avif, 10) { bench_decode_deep_avif($0, $1, $2) },
        ]
    }

    private static func file(
        _ size: PixelSize, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions(), isOpaque: Bool = true
    ) throws -> Data {
        try CoderRegistry.shared.encode(
            NoiseImage.make(size, seed: 7, isOpaque: isOpaque), as: format, options: options)
    }
}
