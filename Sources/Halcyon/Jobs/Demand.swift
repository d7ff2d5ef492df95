import HalcyonSystem

/// What somebody who waits for a job wants of it: how urgently, and where to send its events.
///
/// Demands form the edges of the job graph. An `ImageTask` has one at the top; each job has one of its own, which is
/// the sum of its subscribers', and hands it to the jobs that it waits for itself. Priority flows down along them,
/// progress and previews flow up. Confined to the coordinator, so it needs no lock.
final class Demand {
    private(set) var priority: RequestPriority
    private let receive: (JobEvent) -> Void
    private var followers: [Int: (RequestPriority) -> Void] = [:]
    private var nextFollower = 0

    init(priority: RequestPriority, receive: @escaping (JobEvent) -> Void) {
        self.priority = priority
        self.receive = receive
    }

    func send(_ event: JobEvent) {
        receive(event)
    }

    func setPriority(_ newValue: RequestPriority) {
        guard priority != newValue else { return }
        priority = newValue
        for follower in followers.values { follower(newValue) }
    }

    /// Tells `follower` of each change from now on, until `unfollow` with the number that this returns.
    func follow(_ follower: @escaping (RequestPriority) -> Void) -> Int {
        nextFollower += 1
        followers[nextFollower] = follower
        return nextFollower
    }

    func unfollow(_ number: Int) {
        followers[number] = nil
    }
}
