import Foundation
import HalcyonNetwork
import HalcyonSystem

/// What HTTP's rules say of what is kept, and the revalidations that nobody waits for.
extension Coordinator {
    nonisolated func freshnessCheck(_ resolved: ResolvedRequest) -> FreshnessCheck {
        FreshnessCheck(
            // A file or data is what its key says.
            freshness: resolved.isRemote ? resolved.cache.freshness : .ignore, control: requestControl(resolved),
            now: configuration.clock.now)
    }

    /// What the request's header fields ask of a cache.
    nonisolated func requestControl(_ resolved: ResolvedRequest) -> RequestCacheControl {
        let mayAsk =
            RequestCacheControl.isIn(resolved.request.network.headers)
            || RequestCacheControl.isIn(configuration.downloader.defaultHeaders)
        return mayAsk ? RequestCacheControl(sentHeaders(resolved)) : .none
    }

    /// A cached image, if it may answer this request now.
    nonisolated func answer(_ cached: CachedImage, _ resolved: ResolvedRequest) -> CachedAnswer? {
        guard resolved.isRemote else { return CachedAnswer(cached: cached, rule: nil) }
        guard resolved.cache.freshness != .ignore else { return CachedAnswer(cached: cached, rule: .ignored) }
        guard let rule = freshnessCheck(resolved).rule(for: cached.http), isForThese(cached, resolved) else {
            return nil
        }
        return CachedAnswer(cached: cached, rule: rule)
    }

    /// The finished image in memory, if it may answer this request now, be it while the server is asked behind.
    func answerInMemory(_ resolved: ResolvedRequest) -> CachedAnswer? {
        guard let cached = resolved.target.image(for: resolved.key, policy: resolved.cache) else { return nil }
        if let answer = answer(cached, resolved) { return answer }
        guard mayRevalidateBehind(resolved), freshnessCheck(resolved).answersWhileRevalidated(cached.http),
            isForThese(cached, resolved)
        else { return nil }
        revalidateBehind(resolved)
        return CachedAnswer(cached: cached, rule: .staleWhileRevalidate)
    }

    /// Whether the fields that `Vary` names are those of this request.
    nonisolated func isForThese(_ cached: CachedImage, _ resolved: ResolvedRequest) -> Bool {
        guard let http = cached.http, !http.varyValues.isEmpty else { return true }
        return http.matches(requestHeaders: sentHeaders(resolved))
    }

    // MARK: - Behind

    /// Whether the server may be asked behind: not where the answer would be thrown away, nor by a load that does so.
    nonisolated func mayRevalidateBehind(_ resolved: ResolvedRequest) -> Bool {
        resolved.isRemote && !resolved.isRevalidation && resolved.cache.allowsNetwork
            && !requestControl(resolved).onlyIfCached
            && !resolved.cache.writes.isDisjoint(with: [.memory, .diskOriginal])
    }

    /// Asks the server at the lowest priority, once for all who want that of the same image, and puts what it says into
    /// the caches. A failure changes nothing of what is kept.
    func revalidateBehind(_ resolved: ResolvedRequest) {
        let request = resolved.changing(asRevalidation: true) {
            $0.priority = .veryLow
            $0.showsNothing()
            $0.cache.waitsForStore = false
        }
        let key = LoadKey(request, image: request.key)
        guard revalidations.insert(key).inserted else { return }
        Task {
            _ = try? await recorded(
                request.source, priority: .veryLow, result: { ($0.origin, $0.rule, $0.encodedBytes) }
            ) { coordinator, demand in
                try await coordinator.loads.value(for: key, demand: demand, isolation: coordinator) {
                    try await $0.load(request, demand: $1)
                }
            }
            revalidations.remove(key)
        }
    }
}
