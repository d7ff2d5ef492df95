import HalcyonImage
import HalcyonSystem

// The frames that a player has from its buffer.
extension AnimatedImagePlayer {
    var interval: Duration? {
        guard let maximumFrameRate, maximumFrameRate.isFinite, maximumFrameRate > 0 else { return nil }
        return .seconds(1 / max(maximumFrameRate, 0.001))
    }

    /// Requests the next frames from the buffer, unless none is to come.
    func requestFrames() {
        guard isPlaying || awaitsFrame else { return releaseFrames() }
        // `advance(to:)` decodes each frame when it is due.
        guard configuration.backgroundDecode else { return }
        let ahead =
            isPlaying
            ? buffer.ahead(atMost: configuration.framePreloadCount, bytes: configuration.maximumBytesAhead) : 0
        // Until the due frame is shown, the previous one is held as well.
        let count = shownTick == playback.tick ? 1 + ahead : max(1, ahead)
        // The first frame is the image itself.
        let next = playback.upcoming(count).filter { $0 != 0 || configuration.transformer != nil }
        buffer.request(next, insteadOf: requested)
        requested = next
    }

    func frame(_ index: Int) -> FrameBuffer.Frame {
        if index == 0, configuration.transformer == nil { return .ready(posterImage.bitmap) }
        guard configuration.backgroundDecode else { return buffer.decodedNow(index) }
        return buffer.frame(index, for: ObjectIdentifier(self), notify: onFrameReady)
    }

    func decoded(_ index: Int) -> Bitmap? {
        index == 0 && configuration.transformer == nil ? posterImage.bitmap : buffer.decoded(index)
    }

    /// Releases the frames of a player that does not play, unless the configuration keeps those that are decoded.
    func releaseFrames() {
        guard configuration.keepsFramesWhenStopped else { return releaseAllFrames() }
        let kept = requested.filter { buffer.decoded($0) != nil }
        buffer.request(kept, insteadOf: requested)
        buffer.forget(ObjectIdentifier(self))
        requested = kept
        // A later player must not join one that stands still. One that plays leads again with its next frame.
        buffer.lead = nil
    }

    func releaseAllFrames() {
        buffer.request([], insteadOf: requested)
        buffer.forget(ObjectIdentifier(self))
        requested = []
    }

    /// Releases the player's decoded frames but the one that is shown; those that other players want stay.
    ///
    /// A player that plays, or waits for a frame, has what it needs decoded again from its next `advance(to:)` on. If it waits,
    /// `onFrameReady` is called, since the frame that it waited for is not to come.
    public func purgeFrames() {
        let wasWaiting = isWaiting
        releaseAllFrames()
        isWaiting = false
        guard needsTime else { return }
        onWake?()
        if wasWaiting { onFrameReady?() }
    }

    static func playback(
        _ animation: AnimatedImage, _ configuration: Configuration, isComplete: Bool
    ) -> Playback {
        Playback(
            durations: animation.durations.indices.map { animation.playedDuration(at: $0) }, mode: configuration.mode,
            loops: configuration.repeatCount.loops(ofFile: animation.loopCount), isComplete: isComplete)
    }
}
