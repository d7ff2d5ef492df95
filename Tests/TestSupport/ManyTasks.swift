/// Runs so many tasks side by side, and returns when all have ended.
///
/// In groups within a group: the end of a task takes the time of all those that its group has.
public func withTasks(_ count: Int, _ body: @escaping @Sendable (Int) async -> Void) async {
    let size = 500
    await withDiscardingTaskGroup { group in
        for start in stride(from: 0, to: count, by: size) {
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for index in start..<min(start + size, count) {
                        group.addTask { await body(index) }
                    }
                }
            }
        }
    }
}
