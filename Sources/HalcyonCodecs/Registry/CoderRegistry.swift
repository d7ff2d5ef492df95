import Foundation
import HalcyonImage
import HalcyonSystem

/// The coders of a program, and the one door to them: data becomes an upright image, an image becomes data.
///
/// Of several coders for a format the one added last is asked first, so that a coder of your own replaces a built-in
/// one. Coders may come and go at any time: a decode under way keeps the one it began with.
public final class CoderRegistry: Sendable {
    /// What `add` returns, to take the coder out again.
    public struct Registration: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let registration: Registration
        let coder: any ImageCoder
    }

    private struct State {
        /// The one to ask first at the end.
        var entries: [Entry] = []
        var nextNumber = 0
    }

    private let state = Lock(State())
    /// What decodes reserve their memory from: by default the one that the whole process shares.
    public let budget: DecodeBudget

    /// The registry that every pipeline uses unless it is given another.
    public static let shared = CoderRegistry.standard()

    /// Makes a registry of these coders, the last one asked first.
    public init(_ coders: [any ImageCoder] = [], budget: DecodeBudget = .shared) {
        self.budget = budget
        for coder in coders { add(coder) }
    }

    /// A new registry with the coders that were built in.
    public static func standard() -> CoderRegistry {
        CoderRegistry(BuiltInCoders.all)
    }

    /// Adds a coder, which is from now on asked before all others.
    @discardableResult
    public func add(_ coder: any ImageCoder) -> Registration {
        state.withLock { state in
            let registration = Registration(number: state.nextNumber)
            state.nextNumber += 1
            state.entries.append(Entry(registration: registration, coder: coder))
            return registration
        }
    }

    /// Takes one coder out; nothing happens where it is out already.
    public func remove(_ registration: Registration) {
        state.withLock { $0.entries.removeAll { $0.registration == registration } }
    }

    /// Takes out every coder that `isUnwanted`, for example `{ $0 is GIFCoder }`.
    public func removeAll(where isUnwanted: (any ImageCoder) -> Bool) {
        let unwanted = snapshot.filter { isUnwanted($0.coder) }.map(\.registration)
        state.withLock { $0.entries.removeAll { unwanted.contains($0.registration) } }
    }

    /// The coders in the order in which they are asked.
    public var coders: [any ImageCoder] { snapshot.reversed().map(\.coder) }

    /// Whether a decoder takes this data, by its signature.
    public func canDecode(_ data: Data) -> Bool { decoder(for: data) != nil }

    /// Whether an encoder writes this format.
    public func canEncode(_ format: ImageFormat) -> Bool { encoder(for: format) != nil }

    /// The formats that can be decoded, each once, in the order in which their coders are asked: what an `Accept`
    /// header may name.
    public var decodableFormats: [ImageFormat] {
        var seen = Set<ImageFormat>()
        return coders.filter { $0 is any ImageDecoder }.flatMap(\.formats).filter { seen.insert($0).inserted }
    }

    /// The decoder that is asked first among those that take this data.
    public func decoder(for data: Data) -> (any ImageDecoder)? {
        coders.lazy.compactMap { $0 as? any ImageDecoder }.first { $0.canDecode(data) }
    }

    /// The encoder that is asked first among those that write this format.
    public func encoder(for format: ImageFormat) -> (any ImageEncoder)? {
        coders.lazy.compactMap { $0 as? any ImageEncoder }.first { $0.canEncode(format) }
    }

    private var snapshot: [Entry] { state.withLock { $0.entries } }
}
