/// Work on the elements of a list, several at a time, whose results are told in the order of the list.
struct OrderedRun: Sendable {
    let count: Int
    let concurrency: Int

    /// Calls `tell` in the list's order, as soon as all elements before are done.
    func results<Value: Sendable>(_ work: @escaping @Sendable (Int) async -> Value, tell: (Value) -> Void) async {
        await withTaskGroup(of: (Int, Value).self) { group in
            var started = 0
            func startNext() {
                guard started < count else { return }
                let index = started
                started += 1
                group.addTask { (index, await work(index)) }
            }
            for _ in 0..<concurrency { startNext() }
            var waiting: [Int: Value] = [:]
            var told = 0
            while let (index, value) = await group.next() {
                startNext()
                waiting[index] = value
                while let next = waiting.removeValue(forKey: told) {
                    tell(next)
                    told += 1
                }
            }
        }
    }
}
