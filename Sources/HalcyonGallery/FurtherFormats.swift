import Foundation
import Halcyon

/// Makes pictures in formats that the gallery's folder does not have, as far as this build can write and read them.
enum FurtherFormats {
    /// A file that is made, and the title of what it shows.
    struct Made {
        let file: String
        let title: String
    }

    /// Makes the files that do not exist yet.
    ///
    /// - Parameters:
    ///   - pictures: The gallery's folder.
    ///   - folder: The folder of the files.
    /// - Throws: The error of a coder, so that no format is missing without a word.
    static func make(of pictures: URL, in folder: URL) throws -> [Made] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let kingfisher = pictures.appending(path: "kingfisher.jpg")
        var made: [Made] = []
        func add(_ file: String, _ title: String = "Kingfisher", _ data: () throws -> Data) throws {
            let place = folder.appending(path: file)
            if !FileManager.default.fileExists(atPath: place.path(percentEncoded: false)) {
                try data().write(to: place, options: .atomic)
            }
            made.append(Made(file: file, title: title))
        }
        for format in [ImageFormat.avif, .heic, .jpegXL, .qoi] where canShow(format) {
            try add("kingfisher.\(format.fileExtension)") { try Image(contentsOf: kingfisher).data(as: format) }
        }
        // Every frame of an animation, which the pictures have as a GIF.
        for (name, title, format) in [("pond", "Rain on a pond", ImageFormat.avif), ("orbit", "Orbit", .jpegXL)]
        where canShow(format) {
            try add("\(name).\(format.fileExtension)", title) {
                try Image(contentsOf: pictures.appending(path: "\(name).gif")).data(as: format)
            }
        }
        for format in [ImageFormat.tiff, .raw, .bmp, .ico] where CoderRegistry.shared.capabilities(of: format).decodes {
            try add("kingfisher.\(format.fileExtension)") { try plain(kingfisher, as: format) }
        }
        try add("kingfisher.cur") { try PlainFiles.icon(small(kingfisher, 64), isCursor: true) }
        try add("kingfisher-hdr.jpg") { try ultraHDR(of: kingfisher) }
        try add("sailing-boat.svg", "Sailing boat") { Data(drawing.utf8) }
        return made
    }

    /// Returns whether this build writes a format and reads it.
    private static func canShow(_ format: ImageFormat) -> Bool {
        let capabilities = CoderRegistry.shared.capabilities(of: format)
        return capabilities.decodes && capabilities.encodes
    }

    /// Returns the picture as a JPEG with a gain map, by which bright displays show its lights two stops brighter.
    private static func ultraHDR(of picture: URL) throws -> Data {
        var image = try Image(contentsOf: picture)
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

    /// Returns the picture in a format that no coder writes.
    private static func plain(_ picture: URL, as format: ImageFormat) throws -> Data {
        let image = try small(picture, format == .ico ? 256 : 600)
        return switch format {
        case .tiff: PlainFiles.tiff(image)
        case .raw: PlainFiles.dng(try image.data(as: .jpeg))
        case .bmp: PlainFiles.bmp(image)
        default: try PlainFiles.icon(image)
        }
    }

    private static func small(_ picture: URL, _ side: Int) throws -> Image {
        try Image(contentsOf: picture, options: DecodeOptions(target: TargetSize(PixelSize(side, side))))
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

    /// Returns an icon, or a cursor that points with its upper left corner: a directory of one picture of at most 256 pixels a side,
    /// which is a PNG.
    static func icon(_ image: Image, isCursor: Bool = false) throws -> Data {
        let picture = try image.data(as: .png)
        var file = Data()
        for value in [0, isCursor ? 2 : 1, 1] { file.append16(value) }
        // A side of 256 is 0.
        file.append16(image.width & 255 | (image.height & 255) << 8)
        for value in isCursor ? [0, 0, 0] : [0, 1, 32] { file.append16(value) }
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
