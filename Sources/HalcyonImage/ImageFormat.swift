/// An encoded image format.
///
/// The set is open: a custom coder may add `ImageFormat("qoi", fileExtension: "qoi", mimeType: "image/qoi")`. Two formats
/// are equal when their names are equal.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
    /// The name in lower case, as the command-line tool spells it: `jpeg`.
    public let name: String
    /// The file extension without the dot: `jpg`.
    public let fileExtension: String
    /// The MIME type: `image/jpeg`.
    public let mimeType: String

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

    public static let jpeg = ImageFormat("jpeg", fileExtension: "jpg", mimeType: "image/jpeg")
    public static let png = ImageFormat("png", fileExtension: "png", mimeType: "image/png")
    public static let gif = ImageFormat("gif", fileExtension: "gif", mimeType: "image/gif")
    public static let webp = ImageFormat("webp", fileExtension: "webp", mimeType: "image/webp")
    public static let heic = ImageFormat("heic", fileExtension: "heic", mimeType: "image/heic")
    public static let avif = ImageFormat("avif", fileExtension: "avif", mimeType: "image/avif")
    public static let jpegXL = ImageFormat("jxl", fileExtension: "jxl", mimeType: "image/jxl")
    public static let tiff = ImageFormat("tiff", fileExtension: "tiff", mimeType: "image/tiff")
    public static let bmp = ImageFormat("bmp", fileExtension: "bmp", mimeType: "image/bmp")
    public static let ico = ImageFormat("ico", fileExtension: "ico", mimeType: "image/vnd.microsoft.icon")
    public static let svg = ImageFormat("svg", fileExtension: "svg", mimeType: "image/svg+xml")

    /// All formats that Halcyon has names for, whether or not a coder for them was built in.
    public static let known: [ImageFormat] = [jpeg, png, gif, webp, heic, avif, jpegXL, tiff, bmp, ico, svg]

    /// Returns the known format with this name or file extension in any case (`jpeg`, `JPG`); nil for others.
    public init?(name: String) {
        let name = name.lowercased()
        let alias = ["jpe": "jpeg", "tif": "tiff", "heif": "heic"][name] ?? name
        guard let format = Self.known.first(where: { $0.name == alias || $0.fileExtension == alias }) else {
            return nil
        }
        self = format
    }
}
