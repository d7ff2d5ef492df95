import Foundation
import Halcyon

/// A loaded picture at the size at which it is shown.
struct ShowTile: Sendable {
    let image: Image
    /// The lines of text below it.
    let caption: [String]
    /// The file that the terminal plays itself; nil if the frames are drawn one by one.
    var file: Data?

    /// Creates a tile.
    ///
    /// - Parameter name: The name of the source; it may hold anything.
    init(_ image: Image, name: String, file: Data? = nil) {
        self.image = image
        self.file = file
        let facts = "\(image.info.size) \(image.info.format)" + (image.info.isAnimated ? ", animated" : "")
        caption = [Self.shortName(name), facts].map(TerminalText.clean)
    }

    /// Returns the last part of a path or URL. The bytes of a `data:` URL tell a reader nothing.
    private static func shortName(_ name: String) -> String {
        if name.prefix(5).lowercased() == "data:" { return String(name.prefix { $0 != "," && $0 != ";" }.prefix(40)) }
        let path = name.contains("://") ? name.prefix { $0 != "?" && $0 != "#" } : name[...]
        let last = path.split(separator: "/").last.map(String.init) ?? name
        return String(last.prefix(1000))
    }
}

/// A picture on the screen.
struct PlacedTile: Sendable {
    let tile: ShowTile
    /// The picture's number in the terminal.
    let id: UInt32
    /// The column of its left edge.
    let column: Int
    /// The line of its upper edge, counted from the first line of all.
    let top: Int
}
