import Foundation
import HalcyonCache
import HalcyonSystem

/// An image as base64 text. Missing padding and white space are allowed; what is no base64 fails as `badSource`.
public struct Base64ImageDataProvider: ImageDataProvider {
    public let base64: String
    public let cacheKey: String

    /// - Parameter cacheKey: nil, the default, is made of the text, at the cost of a hash over all of it.
    public init(_ base64: String, cacheKey: String? = nil) {
        self.base64 = base64
        self.cacheKey = cacheKey ?? "base64:\(base64.utf8.count):" + DiskKey(base64.utf8).fileName
    }

    /// The decoded bytes.
    ///
    /// - Throws: an error that says that the text is no base64; `CancellationError`.
    public func data() async throws -> Data {
        try await ExecutionDomains.cpu.run { [base64] _ in
            guard let data = DataURL.base64Bytes(Data(base64.utf8)) else { throw Broken() }
            return data
        }
    }

    private struct Broken: Error, CustomStringConvertible {
        let description = "the base64 is broken"
    }
}
