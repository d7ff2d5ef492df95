import Foundation
import Halcyon

/// Makes pictures in formats that the gallery's folder does not have, as far as this build can write them.
enum FurtherFormats {
    /// Makes the files that do not exist yet.
    ///
    /// - Returns: The names of the files.
    static func make(of picture: URL, in folder: URL) throws -> [String] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var made: [String] = []
        for format in [ImageFormat.avif, .heic, .jpegXL, .qoi, .tiff, .raw, .bmp, .ico] {
            let name = "kingfisher.\(format.fileExtension)"
            let file = folder.appending(path: name)
            if !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) {
                guard let data = try data(of: picture, as: format) else { continue }
                try data.write(to: file, options: .atomic)
            }
            made.append(name)
        }
        let bright = folder.appending(path: "kingfisher-hdr.jpg")
        if !FileManager.default.fileExists(atPath: bright.path(percentEncoded: false)) {
            try ultraHDR(of: picture).write(to: bright, options: .atomic)
        }
        made.append(bright.lastPathComponent)
        try Data(drawing.utf8).write(to: folder.appending(path: "sailing-boat.svg"), options: .atomic)
        return made + ["sailing-boat.svg"]
    }

    /// Returns the picture as a JPEG with a gain map, by which bright displays show its lights two stops brighter.
    private static func ultraHDR(of picture: URL) throws -> Data {
        var image = try Image(data: Data(contentsOf: picture))
        let side = PixelSize(image.width / 4, image.height / 4)
        let small = try image.processed(by: [.resize(to: side, mode: .stretch)]).bitmap
        let lights = try Bitmap(size: small.size, isOpaque: true) { gains in
            small.withPixels { pixels in
                for start in stride(from: 0, to: pixels.count, by: 4) {
                    let light = UInt8(max(0, 2 * Int(pixels[start + 1]) - 255))
                    (gains[start], gains[start + 1], gains[start + 2], gains[start + 3]) = (light, light, light, 255)
                }
            }
        }
        let channel = GainMap.Channel(maximum: 2)
        if let metadata = GainMap.Metadata(red: channel, green: channel, blue: channel, alternateHeadroom: 2) {
            image.gainMap = GainMap(bitmap: lights, isMonochrome: true, metadata: metadata)
        }
        return try image.data(as: .jpeg)
    }

    /// Returns the encoded picture, or nil if this build has no coder for the format.
    private static func data(of picture: URL, as format: ImageFormat) throws -> Data? {
        let bytes = try Data(contentsOf: picture)
        guard [.tiff, .raw, .bmp, .ico].contains(format) else { return try? Image(data: bytes).data(as: format) }
        let side = format == .ico ? 256 : 600
        let small = try Image(data: bytes, options: DecodeOptions(target: TargetSize(PixelSize(side, side))))
        let plain =
            switch format {
            case .tiff: PlainFiles.tiff(small)
            case .raw: PlainFiles.dng(try small.data(as: .jpeg))
            case .bmp: PlainFiles.bmp(small)
            default: try PlainFiles.ico(small)
            }
        return (try? Image(data: plain)) == nil ? nil : plain
    }

    private static let drawing = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" width="400" height="300">
        <rect width="400" height="300" fill="#9fd3e8"/>
        <circle cx="320" cy="70" r="34" fill="#ffd65c"/>
        <path d="M0 210 Q50 195 100 210 T200 210 T300 210 T400 210 V300 H0 Z" fill="#2f7fa8"/>
        <path d="M196 60 V190 H100 Z" fill="#ffffff"/>
        <path d="M206 80 V190 H290 Z" fill="#f0544f"/>
        <path d="M90 200 H300 L270 235 H125 Z" fill="#6b4226"/>
        </svg>
        """
}

/// Writers of simple files for opaque pictures, in formats that are hardly written today.
enum PlainFiles {
    /// Returns a BMP file: rows from the bottom, each padded to a multiple of four bytes.
    static func bmp(_ image: Image) -> Data {
        let row = (image.width * 3 + 3) & ~3
        var file = Data("BM".utf8)
        for value in [54 + row * image.height, 0, 54, 40, image.width, image.height] { file.append32(value) }
        file.append16(1)
        file.append16(24)
        for value in [0, row * image.height, 0, 0, 0, 0] { file.append32(value) }
        for y in (0..<image.height).reversed() {
            for x in 0..<image.width {
                guard let pixel = image.bitmap.pixel(x: x, y: y) else { continue }
                file.append(contentsOf: [pixel.blue, pixel.green, pixel.red])
            }
            file.append(contentsOf: [UInt8](repeating: 0, count: row - image.width * 3))
        }
        return file
    }

    /// Returns an icon: a directory of one picture of at most 256 pixels a side, which is a PNG.
    static func ico(_ image: Image) throws -> Data {
        let picture = try image.data(as: .png)
        var file = Data()
        for value in [0, 1, 1] { file.append16(value) }
        // A side of 256 is 0.
        file.append16(image.width & 255 | (image.height & 255) << 8)
        for value in [0, 1, 32] { file.append16(value) }
        for value in [picture.count, 22] { file.append32(value) }
        return file + picture
    }

    /// Returns a raw file that has nothing but its preview: the version that makes it a DNG, and the place of the JPEG.
    static func dng(_ preview: Data) -> Data {
        var file = Data("II".utf8)
        file.append16(42)
        file.append32(8)
        let entries = [(513, 4, 1, 8 + 2 + 3 * 12 + 4), (514, 4, 1, preview.count), (50_706, 1, 4, 0x0401)]
        file.appendDirectory(entries)
        return file + preview
    }

    /// Returns a TIFF file: one strip, followed by its directory.
    static func tiff(_ image: Image) -> Data {
        let count = image.width * image.height * 3
        let (bits, directory) = (8 + count, 8 + count + 6)
        var file = Data("II".utf8)
        file.append16(42)
        file.append32(directory + directory % 2)
        for y in 0..<image.height {
            for x in 0..<image.width {
                guard let pixel = image.bitmap.pixel(x: x, y: y) else { continue }
                file.append(contentsOf: [pixel.red, pixel.green, pixel.blue])
            }
        }
        for _ in 0..<3 { file.append16(8) }
        if directory % 2 == 1 { file.append(0) }
        let entries = [
            (256, 4, 1, image.width), (257, 4, 1, image.height), (258, 3, 3, bits), (259, 3, 1, 1), (262, 3, 1, 2),
            (273, 4, 1, 8), (277, 3, 1, 3), (278, 4, 1, image.height), (279, 4, 1, count),
        ]
        file.appendDirectory(entries)
        return file
    }
}

extension Data {
    fileprivate mutating func append16(_ value: Int) {
        append(contentsOf: [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)])
    }

    fileprivate mutating func append32(_ value: Int) {
        append16(value)
        append16(value >> 16)
    }

    /// Appends the only directory of a TIFF. Each entry has the tag, the type (1 is a byte, 3 is 16 bits, 4 is 32), the number of
    /// values, and the value or its offset.
    fileprivate mutating func appendDirectory(_ entries: [(Int, Int, Int, Int)]) {
        append16(entries.count)
        for (tag, type, count, value) in entries {
            append16(tag)
            append16(type)
            append32(count)
            append32(value)
        }
        append32(0)
    }
}
