/// An encoded image format.
///
/// The set is open: a custom coder may add `ImageFormat("pcx", fileExtension: "pcx", mimeType: "image/x-pcx")`. Two formats
/// are equal when their names are equal.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
    /// The name in lower case, as the command-line tool spells it: `jpeg`.
    public let name: String
    /// The file extension without the dot: `jpg`.
    public let fileExtension: String
    /// The MIME type: `image/jpeg`.
    public let mimeType: String

    /// Creates a format. Only the name decides whether it equals another.
    public init(_ name: String, fileExtension: String, mimeType: String) {
        self.name = name
        self.fileExtension = fileExtension
        self.mimeType = mimeType
    }

    public static func == (left: ImageFormat, right: ImageFormat) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    public var description: String { name }

    /// The format of pixels that do not come from a file.
    public static let bitmap = ImageFormat("bitmap", fileExtension: "", mimeType: "application/octet-stream")

    /// JPEG, baseline or progressive.
    public static let jpeg = ImageFormat("jpeg", fileExtension: "jpg", mimeType: "image/jpeg")
    /// PNG, including animated PNG.
    public static let png = ImageFormat("png", fileExtension: "png", mimeType: "image/png")
    /// GIF, still or animated.
    public static let gif = ImageFormat("gif", fileExtension: "gif", mimeType: "image/gif")
    /// WebP, lossy or lossless, still or animated.
    public static let webp = ImageFormat("webp", fileExtension: "webp", mimeType: "image/webp")
    /// HEIC: HEVC pictures in an ISO media file.
    public static let heic = ImageFormat("heic", fileExtension: "heic", mimeType: "image/heic")
    /// AVIF: AV1 pictures in an ISO media file.
    public static let avif = ImageFormat("avif", fileExtension: "avif", mimeType: "image/avif")
    /// JPEG XL, named `jxl`.
    public static let jpegXL = ImageFormat("jxl", fileExtension: "jxl", mimeType: "image/jxl")
    /// TIFF.
    public static let tiff = ImageFormat("tiff", fileExtension: "tiff", mimeType: "image/tiff")
    /// The raw files of cameras: DNG, CR2, CR3, NEF, ARW, ORF, RW2, RAF, PEF and others of the same structure. The image is the
    /// camera's own preview.
    public static let raw = ImageFormat("raw", fileExtension: "dng", mimeType: "image/x-dcraw")
    /// BMP, the Windows bitmap.
    public static let bmp = ImageFormat("bmp", fileExtension: "bmp", mimeType: "image/bmp")
    /// ICO, the Windows icon, and CUR, the cursor.
    public static let ico = ImageFormat("ico", fileExtension: "ico", mimeType: "image/vnd.microsoft.icon")
    /// QOI, the "Quite OK Image" format.
    public static let qoi = ImageFormat("qoi", fileExtension: "qoi", mimeType: "image/qoi")
    /// SVG, a vector format.
    public static let svg = ImageFormat("svg", fileExtension: "svg", mimeType: "image/svg+xml")

    /// PNM, the portable bitmaps, greymaps and pixmaps: PBM, PGM and PPM.
    public static let pnm = ImageFormat("pnm", fileExtension: "pnm", mimeType: "image/x-portable-anymap")
    /// TGA, the format of Truevision.
    public static let tga = ImageFormat("tga", fileExtension: "tga", mimeType: "image/x-tga")
    /// XPM, the pixmaps of the X Window System.
    public static let xpm = ImageFormat("xpm", fileExtension: "xpm", mimeType: "image/x-xpixmap")
    /// XBM, the bitmaps of the X Window System.
    public static let xbm = ImageFormat("xbm", fileExtension: "xbm", mimeType: "image/x-xbitmap")
    /// ICNS, the icons of macOS.
    public static let icns = ImageFormat("icns", fileExtension: "icns", mimeType: "image/x-icns")
    /// ANI, the animated cursors of Windows.
    public static let ani = ImageFormat("ani", fileExtension: "ani", mimeType: "application/x-navi-animation")
    /// JPEG 2000, named `jp2`.
    public static let jpeg2000 = ImageFormat("jp2", fileExtension: "jp2", mimeType: "image/jp2")

    /// All formats that Halcyon has names for, whether or not a coder for them was built in.
    public static let known: [ImageFormat] = [
        jpeg, png, gif, webp, heic, avif, jpegXL, tiff, raw, bmp, ico, qoi, svg, pnm, tga, xpm, xbm, icns, ani,
        jpeg2000,
    ]

    /// Returns the known format with this name or file extension in any case (`jpeg`, `JPG`, `tif`); nil for others. A registry
    /// also finds those of its custom coders: `CoderRegistry.encodableFormat(named:)`.
    public init?(name: String) {
        guard let format = Self.known.first(where: { $0.isNamed(name) }) else { return nil }
        self = format
    }

    /// Returns whether a text is this format's name or file extension, in any case, or another usual extension of its files.
    package func isNamed(_ text: String) -> Bool {
        let text = text.lowercased()
        guard !text.isEmpty else { return false }
        return [name, fileExtension].contains { $0.lowercased() == text } || name == Self.aliases[text]
    }

    private static let aliases = [
        "jpe": "jpeg", "tif": "tiff", "heif": "heic", "cur": "ico", "cr2": "raw", "cr3": "raw", "nef": "raw",
        "nrw": "raw",
        "pbm": "pnm", "pgm": "pnm", "ppm": "pnm", "targa": "tga", "j2k": "jp2", "jpx": "jp2",
        "arw": "raw", "sr2": "raw", "srw": "raw", "orf": "raw", "rw2": "raw", "raf": "raw", "pef": "raw",
    ]
}
