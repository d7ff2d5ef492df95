import Foundation
import HalcyonImage
import HalcyonSystem

/// A registry of coders, the single entry point for decoding data to an upright image and encoding an image to data.
///
/// If several coders support a format, the one added last is asked first, so that a custom coder replaces a built-in
/// one. Coders may be added and removed at any time: a decode that is in progress keeps the coder that it began with.
public final class CoderRegistry: Sendable {
    /// The result of `add`, by which the coder can be removed.
    public struct Registration: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let registration: Registration
        let coder: any ImageCoder
    }

    private struct State {
        /// The entries in the order in which they were added; the last one is asked first.
        var entries: [Entry] = []
        var nextNumber = 0
        var generation = 0
    }

    private let state = Lock(State())

    /// The number of changes of the registry. What was found out with fewer of them may be wrong now.
    package var generation: Int { state.withLock { $0.generation } }

    /// The budget from which decodes reserve their memory; by default the one that the whole process shares.
    public let budget: DecodeBudget

    /// The registry that every pipeline uses by default.
    public static let shared = CoderRegistry.standard()

    /// Creates a registry of these coders; the last one is asked first.
    public init(_ coders: [any ImageCoder] = [], budget: DecodeBudget = .shared) {
        self.budget = budget
        for coder in coders { add(coder) }
    }

    /// Creates a registry of the built-in coders, and of those of the products for more formats that the program links.
    ///
    /// - Parameters:
    ///   - formats: the formats whose coders are added; nil, the default, adds all.
    ///   - budget: the budget from which decodes reserve their memory.
    public static func standard(formats: Set<ImageFormat>? = nil, budget: DecodeBudget = .shared) -> CoderRegistry {
        let coders = BuiltInCoders.all.filter { formats?.isDisjoint(with: $0.formats) != true }
        return CoderRegistry(coders, budget: budget)
    }

    /// Adds a coder, which is asked before all others from then on.
    @discardableResult
    public func add(_ coder: any ImageCoder) -> Registration {
        state.withLock { state in
            let registration = Registration(number: state.nextNumber)
            state.nextNumber += 1
            state.generation += 1
            state.entries.append(Entry(registration: registration, coder: coder))
            return registration
        }
    }

    /// Removes one coder. Does nothing if it is removed already.
    public func remove(_ registration: Registration) {
        removeAll([registration])
    }

    /// Removes every coder that `isUnwanted` returns true for, for example `{ $0.formats.contains(.gif) }`.
    public func removeAll(where isUnwanted: (any ImageCoder) -> Bool) {
        let unwanted = snapshot.filter { isUnwanted($0.coder) }.map(\.registration)
        removeAll(unwanted)
    }

    private func removeAll(_ registrations: [Registration]) {
        state.withLock { state in
            let count = state.entries.count
            state.entries.removeAll { registrations.contains($0.registration) }
            if state.entries.count < count { state.generation += 1 }
        }
    }

    /// The coders in the order in which they are asked.
    public var coders: [any ImageCoder] { snapshot.reversed().map(\.coder) }

    /// Returns whether a decoder accepts this data, by its signature.
    public func canDecode(_ data: Data) -> Bool { decoder(for: data) != nil }

    /// Returns whether an encoder writes this format.
    public func canEncode(_ format: ImageFormat) -> Bool { encoder(for: format) != nil }

    /// The formats that can be decoded, each once, in the order in which their coders are asked: the formats that an
    /// `Accept` header may name.
    public var decodableFormats: [ImageFormat] {
        var seen = Set<ImageFormat>()
        return coders.filter { $0 is any ImageDecoder }.flatMap(\.formats).filter { seen.insert($0).inserted }
    }

    /// The formats that can be encoded, each once, in the order in which their coders are asked.
    public var encodableFormats: [ImageFormat] {
        var seen = Set<ImageFormat>()
        return writtenFormats.filter { seen.insert($0).inserted }
    }

    /// Returns the format that can be encoded and has this name or file extension, in any case: `webp`, `JPG`, `jpe`, `heif`.
    ///
    /// If several have it, the one whose coder was added last counts.
    ///
    /// - Returns: nil if no encoder writes such a format.
    public func encodableFormat(named name: String) -> ImageFormat? { writtenFormats.first { $0.isNamed(name) } }

    /// The formats of the encoders, in the order in which those are asked. One may be there twice, with another file extension.
    private var writtenFormats: [ImageFormat] {
        coders.compactMap { $0 as? any ImageEncoder }.flatMap { encoder in encoder.formats.filter(encoder.canEncode) }
    }

    /// Returns the first decoder, in the order in which they are asked, that accepts this data.
    public func decoder(for data: Data) -> (any ImageDecoder)? {
        coders.lazy.compactMap { $0 as? any ImageDecoder }.first { $0.canDecode(data) }
    }

    /// Returns the first encoder, in the order in which they are asked, that writes this format.
    public func encoder(for format: ImageFormat) -> (any ImageEncoder)? {
        coders.lazy.compactMap { $0 as? any ImageEncoder }.first { $0.canEncode(format) }
    }

    private var snapshot: [Entry] { state.withLock { $0.entries } }
}
