import CXXHash
import Foundation

/// A hash by which bytes are told from others.
package enum ContentHash {
    /// The XXH3-128 of some bytes, in 32 hexadecimal digits. About 0.1 ms for a megabyte.
    package static func text(of data: Data) -> String {
        let hash = data.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        return EntryName(high: hash.high64, low: hash.low64).fileName
    }
}
