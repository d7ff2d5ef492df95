import HalcyonImage
import HalcyonNetwork

extension Coordinator {
    /// Does `work` with a demand that turns the bytes that arrive into previews for `demand`.
    func withPreviews<Value: Sendable>(
        _ previewer: Previewer, for demand: Demand, _ work: (isolated Coordinator, Demand) async throws -> Value
    ) async throws -> Value {
        let inner = Demand(priority: demand.priority) { event in
            switch event {
            case .body(let body):
                previewer.take(body)
                self.advance(previewer, demand: demand)
            case .arrived:
                previewer.end()
            case .progress(let progress):
                previewer.expectedBytes = progress.expected
                demand.send(event)
            case .preview, .stale, .note:
                demand.send(event)
            }
        }
        let link = demand.follow { inner.setPriority($0) }
        defer {
            demand.unfollow(link)
            // The image is there, or nobody wants it any more.
            previewer.work?.cancel()
        }
        return try await work(self, inner)
    }

    private func advance(_ previewer: Previewer, demand: Demand) {
        guard let step = previewer.nextStep() else { return }
        let body = previewer.body
        previewer.work = Task {
            do {
                let result = try await self.compute(for: demand) { try step.make($0) }
                previewer.add(result)
                // Neither of an attempt that has failed meanwhile nor after the image itself.
                if let image = result.image, previewer.body == body, !Task.isCancelled { demand.send(.preview(image)) }
            } catch {
                previewer.fail(body)
            }
            previewer.work = nil
            // What came meanwhile.
            if !Task.isCancelled { self.advance(previewer, demand: demand) }
        }
    }
}
