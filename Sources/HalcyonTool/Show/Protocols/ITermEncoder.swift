import Foundation
import Halcyon

/// Pictures as inline images of iTerm2: an image file within one control sequence.
enum ITermEncoder {
    /// Returns the sequence that shows a file at the cursor.
    ///
    /// The file's name is not part of it, since it may hold anything.
    ///
    /// - Parameter size: The size in pixels at which it is shown.
    static func sequence(file: Data, size: PixelSize) -> [UInt8] {
        let keys = [
            "inline=1", "size=\(file.count)", "width=\(size.width)px", "height=\(size.height)px",
            "preserveAspectRatio=1", "doNotMoveCursor=1",
        ]
        return ControlSequence.bytes("\u{1B}]1337;File=\(keys.joined(separator: ";")):")
            + Array(file.base64EncodedData()) + [0x07]
    }
}
