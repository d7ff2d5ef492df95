import Dispatch
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// The frames that the players of one process share, and the number of frames that they keep.
@Suite struct FramePoolTests {
    private let work = HeldWork()

    private func player(
        _ image: Image, _ pool: FramePool, ahead: Int = 10, joins: Bool = true
    ) throws -> AnimatedImagePlayer {
        try #require(
            AnimatedImagePlayer(
                image, configuration: .init(framePreloadCount: ahead, joinsOthers: joins), pool: pool))
    }

    private func run(_ players: [AnimatedImagePlayer], _ times: some Sequence<Int>) {
        for time in times {
            work.doAll()
            for player in players { player.advance(to: .milliseconds(time * 100)) }
        }
    }

    @Test func manyPlayersDecodeEachFrameOnce() throws {
        let (film, pool) = (Film(), work.pool())
        let image = try film.image(frames: 20)
        let players = try (0..<50).map { _ in try player(image, pool) }
        for player in players { player.play() }
        run(players, 0..<60)
        #expect(film.asked.sorted() == Array(1..<20))
        #expect(Set(players.map(\.currentFrameIndex)) == [59 % 20])
    }

    /// There is room for three frames; in step, many players need no more than one does.
    @Test func synchronizedPlayersShareSmallPool() throws {
        let (film, pool) = (Film(), work.pool(frames: 3))
        let image = try film.image(frames: 20)
        let players = try (0..<50).map { _ in try player(image, pool) }
        for player in players { player.play() }
        for time in 0..<40 {
            run(players, [time])
            #expect(pool.keptBytes <= 4 * 4)
        }
        // Each frame but the first, once a loop; those of the third that are ahead.
        #expect(film.asked.count <= 2 * 19 + 3)
        #expect(Array(film.asked.prefix(25)) == Array(1..<20) + Array(1..<7))
    }

    @Test func laterPlayerJoinsRunningAnimation() throws {
        let (film, pool) = (Film(), work.pool())
        let image = try film.image(frames: 20)
        let (first, second) = (try player(image, pool), try player(image, pool))
        let alone = try player(image, pool, joins: false)
        first.play()
        run([first], 0...7)
        second.play()
        alone.play()
        run([first, second, alone], [8])
        #expect(second.currentFrameIndex == 8 && alone.currentFrameIndex == 0)
        run([first, second, alone], [9])
        #expect(first.currentFrameIndex == 9 && second.currentFrameIndex == 9 && alone.currentFrameIndex == 1)
        // One that was sent somewhere stays where it is.
        second.seek(to: 3)
        run([first, second, alone], [10, 11])
        second.stop()
        second.play()
        run([first, second, alone], [12])
        #expect(second.currentFrameIndex == 4 && first.currentFrameIndex == 12)
        first.stop()
        alone.stop()
        second.stop()
        #expect(pool.keptBytes == 0)
    }

    @Test func playersOfDifferentRateOrOrderStaySeparate() throws {
        let (film, pool) = (Film(), work.pool())
        let image = try film.image(frames: 20)
        let (first, faster) = (try player(image, pool), try player(image, pool))
        let backwards = try #require(AnimatedImagePlayer(image, configuration: .init(mode: .reverse), pool: pool))
        let once = try #require(AnimatedImagePlayer(image, configuration: .init(repeatCount: .once), pool: pool))
        first.play()
        run([first], 0...7)
        faster.rate = 2
        for player in [faster, backwards, once] { player.play() }
        run([first, faster, backwards, once], [8, 9, 10])
        #expect(first.currentFrameIndex == 10 && faster.currentFrameIndex == 4)
        #expect(backwards.currentFrameIndex == 17 && once.currentFrameIndex == 2)
    }

    /// Players that are apart in a pool that is too small for them: each still gets its frames, in order.
    @Test func unsynchronizedPlayersGetAllFrames() throws {
        let (film, pool) = (Film(), work.pool(frames: 2))
        let image = try film.image(frames: 20)
        let players = try (0..<5).map { _ in try player(image, pool, joins: false) }
        var shown = [[Int]](repeating: [], count: 5)
        for (index, player) in players.enumerated() {
            player.onFrame = { shown[index].append($1) }
            player.seek(to: index * 4)
            player.play()
        }
        run(players, 0...10)
        for index in 0..<5 {
            let expected = (0..<8).map { ($0 + index * 4) % 20 }
            #expect(Array(shown[index].prefix(8)) == expected)
        }
        #expect(pool.keptBytes <= 2 * 5 * 4)
    }

    @Test func poolLimitIsDividedAmongRunningPlayers() throws {
        let pool = work.pool(frames: 12)
        let players = try (0..<4).map { _ in try player(Film().image(frames: 100), pool) }
        players[0].play()
        run(players, 0...1)
        #expect(pool.keptBytes == 10 * 4)
        for player in players { player.play() }
        run(players, 2...9)
        #expect(pool.keptBytes <= 4 * 4 * 4)
        for player in players.dropFirst() { player.stop() }
        run(players, 10...11)
        #expect(pool.keptBytes == 10 * 4)
    }

    @Test func aSmallAnimationStaysDecoded() throws {
        let (film, pool) = (Film(), work.pool(frames: 30))
        let one = try player(film.image(frames: 20), pool, ahead: 2)
        one.play()
        run([one], 0..<100)
        #expect(film.asked.count == 19)
        #expect(one.currentFrameIndex == 99 % 20)
    }

    @Test func largeFramesAreDecodedOneAhead() throws {
        let pool = FramePool(limit: 64 << 20) { _ in }
        let buffer = pool.buffer(of: try Film().image(frames: 2), try large(), transformer: nil)
        #expect(buffer.ahead(atMost: 10, bytes: 6 << 20) == 1)
        let small = pool.buffer(
            of: try Film().image(frames: 2), try #require(Film().image(frames: 2).animation), transformer: nil)
        #expect(small.ahead(atMost: 10, bytes: 6 << 20) == 10 && small.ahead(atMost: -3, bytes: 6 << 20) == 1)
        #expect(small.ahead(atMost: 10, bytes: 8) == 2 && small.ahead(atMost: 10, bytes: .min) == 1)
    }

    private func large() throws -> AnimatedImage {
        try AnimatedImage(
            source: Film(), size: PixelSize(2000, 2000), durations: [.seconds(1), .seconds(1)], loopCount: 0)
    }

    @Test func framesAreReleasedWithLastPlayer() throws {
        let pool = work.pool()
        var film: Film? = Film()
        weak let source = film
        do {
            let image = try #require(film).image(frames: 20)
            film = nil
            let one = try player(image, pool)
            one.play()
            run([one], 0...3)
            #expect(pool.keptBytes > 0)
        }
        #expect(pool.keptBytes == 0 && source == nil)
        // Work that was under way has come to nothing.
        work.doAll()
        #expect(pool.keptBytes == 0)
    }

    @Test func stopDuringDecodeKeepsNoFrames() throws {
        let (film, pool) = (Film(), work.pool())
        let one = try player(film.image(frames: 20), pool)
        one.play()
        one.advance(to: .zero)
        one.stop()
        work.doAll()
        #expect(pool.keptBytes == 0)
        one.play()
        run([one], 0...3)
        #expect(one.currentFrameIndex == 3)
    }

    /// All running players hold at most half of the budget, and give it back when they stop; a player that finds no room
    /// reports so, and plays once there is some.
    @Test func playersReserveFramesFromBudget() throws {
        // Two frames of four bytes for each.
        let budget = DecodeBudget(capacity: 40)
        let pool = work.pool(budget: budget)
        let players = try (0..<3).map { _ in try player(Film().image(frames: 20), pool) }
        let failures = Lock<[any Error]>([])
        players[2].onFailure = { error, _ in failures.withLock { $0.append(error) } }
        for player in players { player.play() }
        run(players, 0...5)
        #expect(players.map(\.currentFrameIndex) == [5, 5, 0])
        #expect(budget.available == 40 - 16)
        let error = failures.withLock { $0.first as? CodecError }
        #expect(error == .limitExceeded("bytes of memory to play the animation", value: 8, limit: 4))
        players[0].stop()
        #expect(budget.available == 40 - 8)
        run([players[1], players[2]], 6...9)
        #expect(players[2].currentFrameIndex == 9)
        for player in players { player.stop() }
        work.doAll()
        #expect(budget.available == 40)
    }

    /// An animation that plays for ever does not block a decode for ever.
    @Test func playersReleaseBudgetForDecode() async throws {
        let budget = DecodeBudget(capacity: 40)
        let pool = work.pool(budget: budget)
        let players = try (0..<2).map { _ in try player(Film().image(frames: 20), pool) }
        for player in players { player.play() }
        run(players, 0...3)
        #expect(budget.available == 40 - 16)
        let threads = ThreadPool(name: "decode", threads: 1)
        let isOver = DispatchSemaphore(value: 0)
        let decode = Task {
            try await threads.run { _ in
                try budget.withReservation(of: 40) { isOver.wait() }
            }
        }
        while budget.available > 0 { await Task.yield() }
        #expect(pool.keptBytes == 0)
        run(players, 4...5)
        #expect(players.map(\.currentFrameIndex) == [3, 3])
        isOver.signal()
        try await decode.value
        run(players, 6...9)
        #expect(players.map(\.currentFrameIndex) == [9, 9])
        #expect(budget.available == 40 - 16)
    }

    // MARK: - Memory pressure

    @Test func pressureHalvesThenKeepsOnlyTheShownFrame() throws {
        let (clock, pressure) = (ManualClock(), ManualMemoryPressure())
        let film = Film()
        do {
            let pool = work.pool(frames: 12, memoryPressure: pressure, time: clock.timeSource)
            let one = try player(film.image(frames: 100), pool)
            // Nothing watches before the first animation plays.
            #expect(pressure.subscriberCount == 0)
            one.play()
            run([one], 0...3)
            #expect(pressure.subscriberCount == 1 && pool.keptBytes == 10 * 4)
            pressure.send(.warning)
            #expect(pool.keptBytes == 6 * 4)
            run([one], 4...6)
            work.doAll()
            #expect(one.currentFrameIndex == 6 && pool.keptBytes == 6 * 4)
            pressure.send(.high)
            #expect(pool.keptBytes == 4 && Film.index(of: one.currentFrame) == 6)
            let asked = film.asked.count
            // A frame that was released is late once: the second call is that of `onFrameReady`.
            run([one], [7, 7, 8, 9])
            #expect(one.currentFrameIndex == 9 && pool.keptBytes <= 2 * 4)
            // None twice, although they were released.
            #expect(Array(film.asked[asked...]) == [7, 8, 9])
            clock.advance(by: .seconds(19))
            run([one], [10])
            #expect(pool.keptBytes <= 2 * 4)
            // Another report makes it last.
            pressure.send(.critical)
            clock.advance(by: .seconds(19))
            run([one], 11...12)
            #expect(one.currentFrameIndex == 12 && pool.keptBytes <= 2 * 4)
            clock.advance(by: .seconds(1))
            run([one], 13...15)
            #expect(one.currentFrameIndex == 15 && pool.keptBytes == 10 * 4)
            one.stop()
            one.play()
            #expect(pressure.subscriberCount == 1)
        }
        #expect(pressure.subscriberCount == 0)
    }

    /// A frame that has been decoded and not yet been shown stays; one that is being decoded comes.
    @Test func aPlayerThatWaitsGoesOnUnderPressure() throws {
        let pressure = ManualMemoryPressure()
        let pool = work.pool(memoryPressure: pressure, time: ManualClock().timeSource)
        let one = try player(Film().image(frames: 100), pool)
        one.play()
        one.advance(to: .zero)
        one.advance(to: .milliseconds(100))
        #expect(one.currentFrameIndex == 0 && one.timeToNextFrame == nil)
        pressure.send(.critical)
        work.doOne()
        pressure.send(.critical)
        one.advance(to: .milliseconds(110))
        #expect(one.currentFrameIndex == 1)
        run([one], 2...4)
        #expect(one.currentFrameIndex == 4)
    }

    /// On the real threads, with players that come and go at will: frames are right, and in order.
    @Test func manyThreadsAtOnce() async throws {
        let pool = FramePool(limit: 40, memoryPressure: nil)
        let images = try (0..<3).map { _ in try Film().image(frames: 12) }
        await withTasks(24) { index in
            var random = SplitMix(state: UInt64(index))
            guard let player = AnimatedImagePlayer(images[index % 3], pool: pool) else { return }
            player.onFrame = { image, index in #expect(Film.index(of: image) == index) }
            for time in 0..<400 {
                switch Int.random(in: 0..<20, using: &random) {
                case 0: player.stop()
                case 1: player.seek(to: Int.random(in: 0..<12, using: &random))
                case 5: player.purgeFrames()
                case 6: pool.relieve(MemoryPressure.allCases.randomElement(using: &random) ?? .high)
                case 2...4: player.play()
                default: player.advance(to: .milliseconds(time * 30))
                }
            }
        }
        #expect(pool.keptBytes == 0)
    }

    @Test func tenFramesAreDecodedAheadByDefault() throws {
        let (film, pool) = (Film(), work.pool(frames: 12))
        let player = try #require(AnimatedImagePlayer(try film.image(frames: 100), configuration: .init(), pool: pool))
        player.play()
        run([player], 0...1)
        #expect(pool.keptBytes == 10 * 4)
    }
}
