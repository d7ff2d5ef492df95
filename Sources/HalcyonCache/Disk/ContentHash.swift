import CXXHash
import Foundation

/// A hash that distinguishes contents.
package enum ContentHash {
    /// Returns the XXH3-128 of some bytes in 32 hexadecimal digits. Costs about 0.1 ms for a megabyte.
    package static func text(of data: Data) -> String {
        let hash = data.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        return EntryName(high: hash.high64, low: hash.low64).fileName
    }
}
