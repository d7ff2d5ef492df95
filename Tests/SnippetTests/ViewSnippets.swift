// The examples of docs/Views.md, compiled. SnippetTests looks for each of its Swift blocks in this file.

import CGTK
import Foundation
import Halcyon
import HalcyonGTK
import Observation

@MainActor private func mainLoop(application: UnsafeMutablePointer<GApplication>) {
    GTKApplication.follow(application)
    g_application_run(application, 0, nil)
}

@MainActor private func aView(_ box: UnsafeMutablePointer<GtkBox>, _ url: URL, _ grey: Image) {
    let view = ImageView()
    view.contentFit = .cover
    view.loadingIndicator = .spinner
    gtk_box_append(box, view.widget)
    view.attachToWidget()
    view.setImage(from: url, placeholder: .image(grey), transition: .fade()) { end in
        if case .failed(let error) = end { print(error) }
    }
}

private typealias Call = @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void

private let photos: [URL] = []

@MainActor private func aList(_ list: UnsafeMutablePointer<GtkWidget>, factory: gpointer) -> ImageListPrefetcher {
    let setUp: Call = { _, item, _ in gtk_list_item_set_child(item, gtk_picture_new()) }
    let bind: Call = { _, item, _ in
        nonisolated(unsafe) let item = item
        MainActor.assumeIsolated { show(item) }
    }
    let unbind: Call = { _, item, _ in
        nonisolated(unsafe) let item = item
        MainActor.assumeIsolated { gtk_list_item_get_child(item).flatMap { ImageView.of($0) }?.cancel() }
    }
    g_signal_connect_data(
        factory, "setup", unsafeBitCast(setUp, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))
    g_signal_connect_data(
        factory, "bind", unsafeBitCast(bind, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))
    g_signal_connect_data(
        factory, "unbind", unsafeBitCast(unbind, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))

    let prefetcher = ImageListPrefetcher(list) { position in
        [ImageRequest(photos[position]).fitting(width: 150, height: 130)]
    }
    return prefetcher
}

@MainActor func show(_ item: OpaquePointer?) {
    guard let picture = gtk_list_item_get_child(item) else { return }
    ImageView.of(picture)?.setImage(from: photos[Int(gtk_list_item_get_position(item))])
}

@MainActor private func draw(_ image: Image?, progress: Double?) {}

@MainActor private func redraw() {}

@MainActor private func aRemoteImage(_ url: URL, _ grey: Image) -> RemoteImage {
    let remote = RemoteImage()
    remote.load(url, options: .init(placeholder: .image(grey)))
    return remote
}

@MainActor private func observed(_ remote: RemoteImage) {
    withObservationTracking {
        draw(remote.image, progress: remote.progress?.fraction)
    } onChange: {
        Task { @MainActor in redraw() }
    }
}

@MainActor private func read(_ remote: RemoteImage) -> Task<Void, Never> {
    let snapshots = remote.snapshots
    let drawing = Task {
        for await shown in snapshots {
            draw(shown.image, progress: shown.progress?.fraction)
            if let error = shown.error { print(error) }
        }
    }
    return drawing
}

@MainActor private func told(_ remote: RemoteImage) {
    remote.room = .pixels(PixelSize(640, 480))
    remote.contentFit = .cover
    remote.isVisible = false
    remote.retry()
    remote.reload()
    remote.cancel()
}
