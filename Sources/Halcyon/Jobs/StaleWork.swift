/// The image that is made of stale bytes for one load. Confined to the coordinator.
final class StaleWork {
    var task: Task<Void, Never>?
    var isOver = false

    func end() {
        isOver = true
        task?.cancel()
    }
}
