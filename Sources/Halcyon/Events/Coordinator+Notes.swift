import HalcyonNetwork
import HalcyonSystem

/// What the steps of a load tell of themselves.
extension Coordinator {
    /// Does `work` as a load of its own, told from its start to its end.
    ///
    /// - Parameter result: what the end tells.
    /// - Throws: `ImagePipelineError`; `CancellationError`.
    func recorded<Value: Sendable>(
        _ source: ImageSource, priority: RequestPriority,
        result: (Value) -> (origin: ImageOrigin, rule: CacheRule?, bytes: Int),
        _ work: (isolated Coordinator, Demand) async throws -> Value
    ) async throws -> (value: Value, metrics: LoadMetrics) {
        let record = LoadRecord(hub, source: source)
        let demand = Demand(priority: priority) { record.take($0) }
        do {
            let value = try await work(self, demand)
            let (origin, rule, bytes) = result(value)
            var metrics = LoadMetrics()
            metrics.bytes = bytes
            metrics = record.metrics(completing: metrics, rule: rule)
            record.end(.success(origin, metrics))
            return (value, metrics)
        } catch {
            let error = ImagePipelineError.wrapping(error, source: source)
            record.fail(error)
            throw error
        }
    }

    /// Why memory did not answer, once it is known that it did not.
    func noteMemoryMiss(_ resolved: ResolvedRequest, _ demand: Demand, took: Duration) {
        demand.note(.cacheMissed(CacheMiss(.memory, memoryMiss(resolved))), took: took)
    }

    nonisolated func memoryMiss(_ resolved: ResolvedRequest) -> CacheMiss.Reason {
        guard resolved.cache.reads.contains(.memory) else { return .policy }
        let memory = resolved.target.memoryCache
        if memory.contains(resolved.key) {
            let kept = resolved.target.keptImage(for: resolved.key, policy: resolved.cache)
            return missReason(kept?.http, resolved)
        }
        guard resolved.cache.acceptsLarger, resolved.key.admitsLarger else { return .notThere }
        let isSmaller = resolved.target.sizes.keys(of: resolved.key.source).contains {
            $0.isSamePicture(as: resolved.key) && memory.contains($0)
        }
        return isSmaller ? .tooSmall : .notThere
    }

    /// Why what is there did not answer.
    nonisolated func missReason(_ http: HTTPCacheMetadata?, _ resolved: ResolvedRequest) -> CacheMiss.Reason {
        http?.matches(requestHeaders: sentHeaders(resolved)) ?? true ? .expired : .otherFields
    }

    /// Tells of a transfer under way; of its attempts only while somebody reads.
    ///
    /// - Returns: what the demand is found by until `stopObserving`, as it does not leave the coordinator.
    func observe(_ transfer: inout DownloadRequest, for demand: Demand) -> Int {
        let number = makeSubscriber()
        observed[number] = demand
        guard hub.isActive else { return number }
        transfer.observe = { event in
            self.perform { coordinator in
                guard case .retried(let error, let attempt) = event else { return }
                coordinator.observed[number]?.note(.retried(error, attempt: attempt))
            }
        }
        return number
    }

    func stopObserving(_ number: Int) {
        observed[number] = nil
    }
}

extension EventHub {
    /// A load that ended on its caller's thread.
    ///
    /// - Parameter isKept: whether memory has taken it just now.
    func tell(_ response: ImageResponse, from place: CachePlace, isKept: Bool) {
        let (load, source) = (nextLoad(), response.source.description)
        publish(.started, load: load, source: source)
        for miss in response.metrics.misses { publish(.cacheMissed(miss), load: load, source: source) }
        publish(.cacheHit(place, response.cacheRule), load: load, source: source)
        if let decode = response.metrics.decode {
            publish(.decoded(response.image.size, decode), load: load, source: source)
        }
        if isKept { publish(.stored(.memory), load: load, source: source) }
        publish(.ended(.success(response.origin, response.metrics)), load: load, source: source)
    }
}
