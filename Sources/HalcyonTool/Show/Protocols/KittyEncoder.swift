import Foundation

/// Pictures in the graphics protocol of Kitty, as PNG files within control sequences.
///
/// The bytes themselves are sent, never a path or shared memory, so that they arrive over ssh as well.
enum KittyEncoder {
    /// The maximum bytes of base64 in one sequence.
    static let chunkLength = 4096

    /// Returns the sequences that show a PNG file at the cursor, which stays where it is.
    ///
    /// A picture that was sent before under the same number is replaced, together with its pixels in the terminal's memory.
    ///
    /// - Parameter id: A number that other programs are not likely to use, not 0.
    static func sequences(png: Data, id: UInt32) -> [[UInt8]] {
        let text = Array(png.base64EncodedData())
        var sequences: [[UInt8]] = []
        var start = 0
        repeat {
            let end = min(start + chunkLength, text.count)
            let more = end < text.count ? 1 : 0
            // The terminal answers nothing: nobody would read it.
            let keys = start == 0 ? "a=T,f=100,t=d,i=\(id),p=1,q=2,C=1,m=\(more)" : "q=2,m=\(more)"
            sequences.append(ControlSequence.bytes("\u{1B}_G\(keys);") + text[start..<end] + ControlSequence.stringEnd)
            start = end
        } while start < text.count
        return sequences
    }
}
