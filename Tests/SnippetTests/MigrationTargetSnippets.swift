import Foundation
import Halcyon

// The right-hand columns of docs/Migrating.md that are about showing images; `MigratingTests` looks for them here.

@MainActor private final class Cell {
    var picture: Image?
}

private func targetOptionExamples(_ options: inout ImageTarget.Options, _ missing: Image) {
    options.transition = .fade()
    options.transition = .flip(from: .left).forced
    options.keepsCurrent = true
    options.failure = .image(missing)
    options.placeholder = .image(missing)
    options.placeholderTiming = .onFailure
    options.setsAutomatically = false
    options.formerLoad = .finish
    options.waitsForTransition = true
}

@MainActor private func imageTargetExamples(_ cell: Cell, _ request: ImageRequest, _ options: ImageTarget.Options) {
    let target = ImageTarget { content in cell.picture = content.image }
    target.setImage(request, options: options)
    target.cancel()
}

@MainActor private func draw(_ image: Image?, _ progress: LoadProgress?) {}

@MainActor private func remoteImageExamples(_ url: URL) {
    let remote = RemoteImage()
    remote.load(url)
    draw(remote.image, remote.progress)
    remote.cancel()
    remote.clear()
}

private func animationPlayerExamples(_ image: Image, _ playback: inout AnimatedImagePlayer.Configuration) {
    let player = AnimatedImagePlayer(image)
    player?.maximumFrameRate = 30
    playback.framePreloadCount = 10
    playback.backgroundDecode = false
    playback.repeatCount = .finite(3)
}

private let targetTypes: [Any.Type] = [
    ImageTarget.self,
    ImageTarget.Options.self,
    ImageTarget.Placeholder.self,
    ImageTransition.self,
    RemoteImage.self,
]
