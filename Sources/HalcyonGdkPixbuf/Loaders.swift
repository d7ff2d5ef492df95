import CHalcyonGdkPixbuf
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The loaders of gdk-pixbuf that the system has.
///
/// They are opened all at once by a worker before it gives up its rights, since it can open no file after that. One that starts a
/// thread, fails or hangs when it is opened is left out.
enum Loaders {
    /// A loader, which never changes and is never closed.
    private struct Loader: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// The loaders that are opened, by the names that they give themselves. Any others would only be surface for an attack.
    private static let names: Set<String> = ["pnm", "tga", "xpm", "xbm", "icns", "jp2", "jpeg2000", "jpx"]

    private static let opened: [String: Loader] = {
        guard let library = halcyon_loaders_prepare(), let list = list(beside: String(cString: library)) else {
            return [:]
        }
        return Self.paths(in: list).reduce(into: [:]) { loaders, entry in
            guard names.contains(entry.key), let loader = halcyon_loader_open(entry.value) else { return }
            loaders[entry.key] = Loader(pointer: loader)
        }
    }()

    static func open() { _ = opened }

    /// Decodes a file by the first of these loaders that is there.
    ///
    /// - Throws: `CodecError.loaderMissing` if none is; `CodecError.damaged`, `BitmapError`, `CancellationError`.
    static func decode(
        _ data: Data, as info: ImageInfo, by names: [String], size: PixelSize, context: WorkContext
    ) throws -> Bitmap {
        guard let loader = names.lazy.compactMap({ opened[$0] }).first else {
            throw CodecError.loaderMissing(info.format)
        }
        return try CodecCall.decode(info.format, size: size, isOpaque: !info.hasAlpha, context: context) {
            bitmap, call in
            data.withUnsafeBytes { bytes in
                halcyon_loader_decode(
                    loader.pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, info.hasAlpha,
                    bitmap, call)
            }
        }
    }

    /// Returns the list of loaders, which gdk-pixbuf's installation keeps: at the place that the user says, else beside the library.
    private static func list(beside library: String) -> String? {
        let own = URL(filePath: library).deletingLastPathComponent()
            .appending(path: "gdk-pixbuf-2.0/2.10.0/loaders.cache").path(percentEncoded: false)
        let path = SecureVariable.value(of: "GDK_PIXBUF_MODULE_FILE") ?? own
        return FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the paths of loaders by their names. In the list, a line that is the path of a loader comes before one that begins
    /// with its name.
    static func paths(in list: String) -> [String: String] {
        var (paths, path) = ([String: String](), String?.none)
        for line in list.split(separator: "\n") where line.hasPrefix("\"") {
            let words = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
            guard words.count > 2 else { continue }
            if words[1].hasPrefix("/"), words.count == 3 {
                path = words[1]
            } else if let found = path {
                paths[words[1]] = found
                path = nil
            }
        }
        return paths
    }
}
