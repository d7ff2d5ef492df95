import Foundation

/// A look at the beginning of a body, unpacked, while the rest is being transferred. It may end the transfer.
///
/// It is called once 32 bytes are there, and again each time that they have become four times as many, up to 1 MiB: eight times at
/// most for any body, however it is cut into pieces, and once for most.
package struct BeginningCheck: Sendable {
    /// The error that the check threw, which is the `underlying` one of the transfer's `DownloadError`.
    package struct Refusal: Error {
        package let reason: any Error
    }

    fileprivate static let (firstLook, growth, lastLook) = (32, 4, 1 << 20)

    private let owner: ObjectIdentifier
    private let values: [Int]
    fileprivate let look: @Sendable (Data) throws -> Bool

    /// Creates a check. Downloads share a transfer only if their checks have the same owner and the same values.
    ///
    /// - Parameters:
    ///   - owner: The object that the check asks, which `look` retains.
    ///   - look: Throws to end the transfer. Returns whether nothing more is to be looked at. The data is valid during the call.
    package init(
        owner: some AnyObject & Sendable, values: [Int], look: @escaping @Sendable (Data) throws -> Bool
    ) {
        (self.owner, self.values, self.look) = (ObjectIdentifier(owner), values, look)
    }
}

extension BeginningCheck: Equatable {
    package static func == (left: BeginningCheck, right: BeginningCheck) -> Bool {
        left.owner == right.owner && left.values == right.values
    }
}

/// The calls of a check for one body.
struct BeginningWatch {
    private var check: BeginningCheck?
    private var next = BeginningCheck.firstLook

    init(_ check: BeginningCheck?) {
        self.check = check
    }

    /// Looks at the bytes if it is time to.
    ///
    /// - Parameter bytes: All bytes of the body so far; nil if they are elsewhere.
    /// - Throws: `BeginningCheck.Refusal`.
    mutating func see(_ bytes: Data?) throws(BeginningCheck.Refusal) {
        guard let check, let bytes else { return }
        guard bytes.count >= next else { return }
        do {
            if try check.look(bytes) || bytes.count >= BeginningCheck.lastLook { self.check = nil }
        } catch {
            throw BeginningCheck.Refusal(reason: error)
        }
        next = bytes.count * BeginningCheck.growth
    }
}
