/// The work that callers share by key, with the subscribers of each piece of work.
///
/// A caller that asks for a key that is under way joins its work, and receives the events that a late subscriber needs.
/// The work has the highest priority of its subscribers. Each subscriber leaves by itself, and the owner cancels the work
/// that its last subscriber leaves. Such work is removed in the same step, before it has noticed its cancellation, so that
/// nobody joins it any more.
///
/// It has no lock and calls nothing: an actor or a `Lock` isolates it, and each change returns what its owner has to do
/// afterwards, outside of the lock. Removed values are returned, so that none is freed under the lock. It is not to be
/// copied, since copies would share the work. All methods can be inlined, so that the module of each owner specializes them.
/// A step takes constant time on average.
@usableFromInline
package struct SharedWork<Key: Hashable, Subscriber, Handle, History: EventHistory> {
    /// A piece of work with its subscribers.
    @usableFromInline
    package final class Work {
        @usableFromInline let key: Key
        /// The owner's handle of the work; nil until the owner has begun it.
        @usableFromInline package var handle: Handle?
        @usableFromInline var members: [Member] = []
        @usableFromInline var priorities = PriorityTally()
        @usableFromInline var history = History()

        @inlinable
        init(_ key: Key) {
            self.key = key
        }

        /// The subscribers, in no particular order.
        @inlinable package var subscribers: some Sequence<Subscriber> { members.lazy.map { $0.subscriber } }

        /// The highest priority, if a change since `before` was read has raised or lowered it.
        @inlinable
        func newPriority(since before: RequestPriority?) -> RequestPriority? {
            priorities.highest == before ? nil : priorities.highest
        }
    }

    @usableFromInline
    struct Member {
        @usableFromInline let id: Int
        @usableFromInline let subscriber: Subscriber
        @usableFromInline var priority: RequestPriority

        @inlinable
        init(_ id: Int, _ subscriber: Subscriber, _ priority: RequestPriority) {
            (self.id, self.subscriber, self.priority) = (id, subscriber, priority)
        }
    }

    /// The work of a subscriber, and its index among the work's members.
    @usableFromInline
    struct Membership {
        @usableFromInline let work: Int
        @usableFromInline var index: Int

        @inlinable
        init(_ work: Int, _ index: Int) {
            (self.work, self.index) = (work, index)
        }
    }

    /// The work that a subscriber has joined.
    @usableFromInline
    package struct Joined {
        /// The number of the work.
        @usableFromInline package let work: Int
        /// Whether there was none, so that the owner begins it and sets its handle.
        @usableFromInline package let isNew: Bool
        /// The new priority of the work; nil if the subscriber has not raised it.
        @usableFromInline package let priority: RequestPriority?
        /// The earlier events, for this subscriber.
        @usableFromInline package let replay: [History.Event]

        @inlinable
        init(_ work: Int, isNew: Bool, priority: RequestPriority?, replay: [History.Event]) {
            (self.work, self.isNew, self.priority, self.replay) = (work, isNew, priority, replay)
        }
    }

    /// The work that a subscriber has left.
    @usableFromInline
    package struct Left {
        /// The number of the work.
        @usableFromInline package let work: Int
        @usableFromInline package let subscriber: Subscriber
        /// The new priority of the work; nil if the subscriber has not lowered it, or was the last one.
        @usableFromInline package let priority: RequestPriority?
        /// The work that the last subscriber has left, for its owner to cancel; nil if others still wait.
        @usableFromInline package let abandoned: Work?

        @inlinable
        init(_ work: Int, _ subscriber: Subscriber, priority: RequestPriority?, abandoned: Work?) {
            (self.work, self.subscriber, self.priority, self.abandoned) = (work, subscriber, priority, abandoned)
        }
    }

    @usableFromInline var works: [Int: Work] = [:]
    /// The work that new subscribers of a key join.
    @usableFromInline var numbers: [Key: Int] = [:]
    @usableFromInline var memberships: [Int: Membership] = [:]
    @usableFromInline var lastID = 0

    @inlinable package init() {}

    /// The number of pieces of work.
    @inlinable package var count: Int { works.count }
    /// The number of subscribers of all work.
    @inlinable package var subscriberCount: Int { memberships.count }

    @inlinable package func isUnderWay(_ key: Key) -> Bool { numbers[key] != nil }

    /// Returns a new number for a subscriber.
    @inlinable
    package mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Returns the owner's handle of a piece of work; nil if the work has ended, or the owner has not begun it.
    @inlinable package func handle(of work: Int) -> Handle? { works[work]?.handle }

    /// Sets the owner's handle of work that it has begun. Returns false if the work has no subscribers any more, or has ended.
    @inlinable
    package mutating func setHandle(_ handle: Handle, of work: Int) -> Bool {
        guard let work = works[work] else { return false }
        work.handle = handle
        return true
    }

    /// Joins the work of a key that is under way, or adds new work.
    ///
    /// - Parameter id: a number from `nextID()`, by which the subscriber leaves.
    @inlinable
    package mutating func join(
        _ key: Key, as id: Int, _ subscriber: Subscriber, priority: RequestPriority
    ) -> Joined {
        let (number, work, isNew) = work(of: key)
        let before = work.priorities.highest
        memberships[id] = Membership(number, work.members.count)
        work.members.append(Member(id, subscriber, priority))
        work.priorities.add(priority)
        return Joined(
            number, isNew: isNew, priority: work.newPriority(since: before), replay: isNew ? [] : work.history.events)
    }

    @inlinable
    mutating func work(of key: Key) -> (number: Int, work: Work, isNew: Bool) {
        if let number = numbers[key], let work = works[number] { return (number, work, false) }
        let (number, work) = (nextID(), Work(key))
        (numbers[key], works[number]) = (number, work)
        return (number, work, true)
    }

    /// Removes a subscriber; returns nil if it has left already, or its work has ended.
    @inlinable
    package mutating func leave(_ id: Int) -> Left? {
        guard let (number, index) = memberships.removeValue(forKey: id).map({ ($0.work, $0.index) }),
            let work = works[number]
        else { return nil }
        let member = work.members[index]
        // The last member takes the index of the one that leaves.
        if let last = work.members.popLast(), last.id != id {
            work.members[index] = last
            memberships[last.id]?.index = index
        }
        guard !work.members.isEmpty else {
            return Left(number, member.subscriber, priority: nil, abandoned: end(number))
        }
        let before = work.priorities.highest
        work.priorities.remove(member.priority)
        return Left(number, member.subscriber, priority: work.newPriority(since: before), abandoned: nil)
    }

    /// Changes the priority of a subscriber.
    ///
    /// - Returns: the work and its new priority; nil if that is the same as before.
    @inlinable
    package mutating func setPriority(_ priority: RequestPriority, of id: Int) -> (
        work: Int, priority: RequestPriority
    )? {
        guard let membership = memberships[id], let work = works[membership.work] else { return nil }
        let before = work.priorities.highest
        work.priorities.remove(work.members[membership.index].priority)
        work.priorities.add(priority)
        work.members[membership.index].priority = priority
        return work.newPriority(since: before).map { (membership.work, $0) }
    }

    /// Adds an event of a piece of work to its history.
    ///
    /// - Returns: the subscribers that the event is for; none if the work has ended.
    @inlinable
    package mutating func record(_ event: History.Event, of work: Int) -> some Sequence<Subscriber> {
        let work = works[work]
        work?.history.add(event)
        return (work?.members ?? []).lazy.map { $0.subscriber }
    }

    /// Removes a piece of work that has its result.
    ///
    /// - Returns: the work, for whose subscribers the result is; nil if all of them have left, or it has ended already.
    @inlinable
    package mutating func end(_ work: Int) -> Work? {
        guard let ended = works.removeValue(forKey: work) else { return nil }
        numbers[ended.key] = nil
        for member in ended.members { memberships[member.id] = nil }
        return ended
    }

    /// Removes all work for whose key `matches` returns true, and returns it with its numbers.
    @inlinable
    package mutating func endAll(where matches: (Key) -> Bool) -> [Int: Work] {
        let ended = works.filter { matches($0.value.key) }
        for number in ended.keys { _ = end(number) }
        return ended
    }
}

/// The earlier events of shared work, as far as a subscriber that joins late needs them.
@usableFromInline
package protocol EventHistory {
    associatedtype Event

    init()
    mutating func add(_ event: Event)
    /// The events in the order in which a late subscriber receives them.
    var events: [Event] { get }
}
