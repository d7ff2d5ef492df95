import Foundation
import HalcyonSystem

/// The last few conversions: a program's images mostly have the same profiles.
final class ColorTransforms: Sendable {
    static let shared = ColorTransforms()

    private static let capacity = 16
    /// Bytes of a profile that is remembered: those of displays and cameras are shorter, and what is kept here belongs to
    /// no budget.
    private static let longestProfile = 1 << 20

    private struct Entry {
        let profile: ColorProfile
        let isDeep: Bool
        /// Nil where there is nothing to convert.
        let transform: ColorTransform?
    }

    /// The last used one at the end.
    private let entries = Lock<[Entry]>([])

    /// What is left to do for the pixels that the plan's decode gives; nil where nothing is.
    func transform(for plan: DecodePlan, of data: Data, _ decoder: any ImageDecoder) -> ColorTransform? {
        let profile = decoder.colorProfile(of: data)
        return plan.converts(profile) ? transform(for: profile) : nil
    }

    /// Nil where there is nothing to convert.
    func transform(for profile: ColorProfile?, isDeep: Bool = false) -> ColorTransform? {
        guard let profile else { return nil }
        let known = entries.withLock { entries -> Entry? in
            guard let index = entries.firstIndex(where: { $0.isDeep == isDeep && $0.profile == profile }) else {
                return nil
            }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry
        }
        if let known { return known.transform }
        // Two threads may make the same one; that is only work done twice.
        let transform = ColorTransform.make(profile, isDeep: isDeep)
        if case .icc(let data, _) = profile, data.count > Self.longestProfile { return transform }
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeFirst() }
            entries.append(Entry(profile: profile, isDeep: isDeep, transform: transform))
        }
        return transform
    }
}
