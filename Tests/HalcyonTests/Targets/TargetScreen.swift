import Foundation
import Halcyon
import TestSupport

/// A surface that notes its calls, and whose transitions end when a test lets them.
@MainActor class TargetScreen: ImageSurface {
    var contents: [String] = []
    var states: [String] = []
    var ends: [@MainActor () -> Void] = []

    var onShow: (@MainActor (ImageTarget.Content) -> Void)?

    func show(_ content: ImageTarget.Content) {
        contents.append(name(content))
        onShow?(content)
    }

    func show(
        _ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void
    ) {
        contents.append("transition to \(response.image.size)")
        ends.append(completion)
    }

    func stateChanged(_ state: ImageTarget.State) {
        switch state {
        case .empty: states.append("empty")
        case .loading(nil): states.append("loading")
        case .loading(let progress?): states.append("\(progress.received)")
        case .showing: states.append("showing")
        case .failed: states.append("failed")
        }
    }

    func name(_ content: ImageTarget.Content) -> String {
        switch content {
        case .nothing: "nothing"
        case .placeholder(.image(let image)): "placeholder \(image.size)"
        case .placeholder(.custom(let value)): "placeholder \(value)"
        case .preview: "preview"
        case .image(let response): "\(response.image.size)"
        case .failure(let image): "failure \(image.size)"
        case .own(let image): "own \(image.size)"
        }
    }
}

/// A surface with a size of its own, which a test sets.
@MainActor final class SizedScreen: TargetScreen, SizedImageSurface {
    var room: ViewRoom?

    /// - Parameter side: in pixels; nil is a surface before its first layout.
    init(_ side: Int? = nil) {
        room = side.map { ViewRoom(pixels: PixelSize($0, $0), fit: .contain, scaleFactor: 1) }
    }

    /// Gives it room for a square image of so many pixels.
    func resize(to side: Int?) {
        room = side.map { ViewRoom(pixels: PixelSize($0, $0), fit: .contain, scaleFactor: 1) }
    }
}

/// How loads ended, in order, under the names that they were given.
@MainActor final class TargetEnds {
    private(set) var all: [String] = []
    private var waiting: [(count: Int, go: CheckedContinuation<Void, Never>)] = []

    func callback(_ name: String) -> @MainActor (ImageTarget.End) -> Void {
        { end in
            let kind =
                switch end {
                case .shown: "shown"
                case .failed: "failed"
                case .cancelled: "cancelled"
                case .superseded: "superseded"
                }
            self.all.append("\(name) \(kind)")
            self.waiting.filter { $0.count <= self.all.count }.forEach { $0.go.resume() }
            self.waiting.removeAll { $0.count <= self.all.count }
        }
    }

    func wait(for count: Int) async {
        if all.count < count { await withCheckedContinuation { waiting.append((count, $0)) } }
    }
}

/// Tests that load images on targets.
@MainActor protocol TargetSuite {
    var fixture: PipelineFixture { get }
    var ends: TargetEnds { get }
}

extension TargetSuite {
    func image(_ width: Int) throws -> Image {
        try Image(width: width, height: 1, pixels: [UInt8](repeating: 255, count: width * 4))
    }

    /// - Parameter name: under which its end is noted.
    func set(
        _ target: ImageTarget, _ url: URL?, _ options: ImageTarget.Options = .init(), as name: String = "1",
        policy: CachePolicy? = nil
    ) {
        target.setImage(
            ImageRequest(url, cachePolicy: policy), options: options, pipeline: fixture.pipeline,
            completion: ends.callback(name))
    }
}
