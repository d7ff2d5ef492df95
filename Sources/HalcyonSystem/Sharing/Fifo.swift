/// A first-in, first-out list: an array with a moving head. Appending and removing at either end take constant time on average.
@usableFromInline
package struct Fifo<Element> {
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { head == storage.count }
    @inlinable package var count: Int { storage.count - head }

    @inlinable package var first: Element? { head < storage.count ? storage[head] : nil }

    @inlinable package var last: Element? { head < storage.count ? storage[storage.count - 1] : nil }

    @inlinable
    package mutating func append(_ element: Element) {
        storage.append(element)
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        // Remove the unused front once it is the larger half, so that the cost stays constant on average.
        if head > 32, head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    @inlinable
    package mutating func popLast() -> Element? {
        guard head < storage.count else { return nil }
        return storage.removeLast()
    }
}
