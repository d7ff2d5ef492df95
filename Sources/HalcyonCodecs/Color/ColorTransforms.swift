import Foundation
import HalcyonSystem

/// A cache of the last few conversions, since most images of a program share the same profiles.
final class ColorTransforms: Sendable {
    static let shared = ColorTransforms()

    private static let capacity = 16
    /// The maximum length in bytes of a profile that is cached. Profiles of displays and cameras are shorter, and
    /// memory held here counts towards no budget.
    private static let longestProfile = 1 << 20

    /// A profile in plain fields: inside an enumeration, its bytes would be referenced through a tagged pointer, which
    /// the leak sanitizer does not follow.
    private struct Key: Equatable {
        let bytes: [UInt8]
        var model: ColorModel?
        var primaries: ColorPrimaries?
        var curve: TransferCurve?
        let isDeep: Bool

        init(_ profile: ColorProfile, isDeep: Bool) {
            self.isDeep = isDeep
            switch profile {
            case .icc(let data, let model):
                bytes = [UInt8](data)
                self.model = model
            case .primaries(let primaries, let curve):
                bytes = []
                self.primaries = primaries
                self.curve = curve
            }
        }
    }

    private struct Entry {
        let key: Key
        /// Nil if there is nothing to convert.
        let transform: ColorTransform?
    }

    /// The cached conversions, with the most recently used one at the end.
    private let entries = Lock<[Entry]>([])

    /// Returns the conversion that the pixels of the plan's decode still need; nil if they need none.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    func transform(for plan: DecodePlan, of data: Data, _ decoder: any ImageDecoder) throws -> ColorTransform? {
        let profile = decoder.colorProfile(of: data)
        return plan.converts(profile) ? try transform(for: profile) : nil
    }

    /// Returns a cached conversion or builds it; nil if there is nothing to convert.
    ///
    /// - Throws: `BitmapError.outOfMemory`, which is not cached.
    func transform(for profile: ColorProfile?, isDeep: Bool = false) throws -> ColorTransform? {
        guard let profile else { return nil }
        if case .icc(let data, _) = profile, data.count > Self.longestProfile {
            return try ColorTransform.make(profile, isDeep: isDeep)
        }
        let key = Key(profile, isDeep: isDeep)
        let known = entries.withLock { entries -> Entry? in
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry
        }
        if let known { return known.transform }
        // Two threads may build the same conversion, which only duplicates the work.
        let transform = try ColorTransform.make(profile, isDeep: isDeep)
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeFirst() }
            entries.append(Entry(key: key, transform: transform))
        }
        return transform
    }
}
