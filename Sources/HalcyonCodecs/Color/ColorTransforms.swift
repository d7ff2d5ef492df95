import Foundation
import HalcyonSystem

/// The last few conversions: a program's images mostly have the same profiles.
final class ColorTransforms: Sendable {
    static let shared = ColorTransforms()

    private static let capacity = 16
    /// Bytes of a profile that is remembered: those of displays and cameras are shorter, and what is kept here belongs to
    /// no budget.
    private static let longestProfile = 1 << 20

    /// A profile in plain fields: in an enumeration its bytes would hang on a pointer with a mark in it, which the leak
    /// sanitizer does not follow.
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
        /// Nil where there is nothing to convert.
        let transform: ColorTransform?
    }

    /// The last used one at the end.
    private let entries = Lock<[Entry]>([])

    /// What is left to do for the pixels that the plan's decode gives; nil where nothing is.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    func transform(for plan: DecodePlan, of data: Data, _ decoder: any ImageDecoder) throws -> ColorTransform? {
        let profile = decoder.colorProfile(of: data)
        return plan.converts(profile) ? try transform(for: profile) : nil
    }

    /// Nil where there is nothing to convert.
    ///
    /// - Throws: `BitmapError.outOfMemory`, which is not remembered.
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
        // Two threads may make the same one; that is only work done twice.
        let transform = try ColorTransform.make(profile, isDeep: isDeep)
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeFirst() }
            entries.append(Entry(key: key, transform: transform))
        }
        return transform
    }
}
