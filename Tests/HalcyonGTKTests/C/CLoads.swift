import CGTK
import CHalcyonGTKC
import Foundation
import HalcyonSystem
import Testing

/// The calls of a load callback that C code would have set.
@MainActor final class CLoads {
    /// The size of the image, or the reason for a failure.
    private(set) var all: [String] = []
    /// The number of times that the data was given back.
    private(set) var releases = 0
    var onCall: (@MainActor (UnsafeMutablePointer<GtkWidget>) -> Void)?

    var count: Int { all.count }

    func follow(_ widget: UnsafeMutablePointer<GtkWidget>?) {
        let call: HalcyonLoadCallback = { view, width, height, error, data in
            guard let data else { return }
            let (text, address) = (error.map { String(cString: $0) }, UInt(bitPattern: view))
            let loads = Unmanaged<CLoads>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { loads.add(text ?? "\(width)x\(height)", address) }
        }
        let release: GDestroyNotify = { data in
            guard let data else { return }
            let loads = Unmanaged<CLoads>.fromOpaque(data).takeRetainedValue()
            MainActor.assumeIsolated { loads.releases += 1 }
        }
        halcyon_image_view_set_load_callback(widget, call, Unmanaged.passRetained(self).toOpaque(), release)
    }

    private func add(_ text: String, _ address: UInt) {
        all.append(text)
        if let widget = UnsafeMutablePointer<GtkWidget>(bitPattern: address) { onCall?(widget) }
    }
}

/// The criticals that are logged while something runs. Elsewhere in these tests, a critical ends the program.
enum Criticals {
    private static let messages = Lock<[String]>([])

    /// Not of the main actor: some criticals come from other threads.
    private static let collect: GLogFunc = { _, _, message, _ in
        guard let message else { return }
        Criticals.messages.withLock { $0.append(String(cString: message)) }
    }

    /// Returns the functions that complained, in order.
    @MainActor static func of(_ body: () -> Void) -> [String] {
        let fatal = g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
        let handler = g_log_set_handler("Halcyon", G_LOG_LEVEL_CRITICAL, collect, nil)
        body()
        g_log_remove_handler("Halcyon", handler)
        _ = g_log_set_always_fatal(fatal)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages.map { String($0.prefix { $0 != ":" }) }
        }
    }

    /// Runs a body on another thread, and waits for it on this one.
    static func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        Thread {
            body()
            isDone.signal()
        }.start()
        isDone.wait()
    }
}
