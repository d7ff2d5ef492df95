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
        for format in [ImageFormat.avif, .heic, .tiff, .bmp] {
            let name = "kingfisher.\(format.fileExtension)"
            let file = folder.appending(path: name)
            if !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) {
                guard let data = try data(of: picture, as: format) else { continue }
                try data.write(to: file, options: .atomic)
            }
            made.append(name)
        }
        try Data(drawing.utf8).write(to: folder.appending(path: "sailing-boat.svg"), options: .atomic)
        return made + ["sailing-boat.svg"]
    }

    /// Returns the encoded picture, or nil if this build has no coder for the format.
    private static func data(of picture: URL, as format: ImageFormat) throws -> Data? {
        let bytes = try Data(contentsOf: picture)
        guard format == .tiff || format == .bmp else { return try? Image(data: bytes).data(as: format) }
        let small = try Image(data: bytes, options: DecodeOptions(target: TargetSize(PixelSize(600, 600))))
        let plain = format == .tiff ? PlainFiles.tiff(small) : PlainFiles.bmp(small)
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
