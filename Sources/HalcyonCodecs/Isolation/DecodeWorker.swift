import CHalcyonWorker
import Foundation
import HalcyonImage
import HalcyonSystem

/// The other side of `DecodeWorkers`: a process that decodes files for another one and holds no rights.
///
///     @main struct Shop {
///         static func main() async {
///             DecodeWorker.runIfAsked()
///             ...
///
/// A program that begins so is its own worker: it is started again, and the call does not return in the copy. The package's
/// program `halcyon-decode-worker` does nothing else, and starts faster than a program that loads more libraries.
public enum DecodeWorker {
    private static let offered = Lock(false)
    private static let running = Lock(false)

    /// Whether the program has called `runIfAsked`.
    static var isOffered: Bool { offered.withLock { $0 } }

    /// Whether this process is a worker: decoders that `requiresIsolation` decode in no other.
    public static var isRunning: Bool { running.withLock { $0 } }

    /// Runs as a worker if the process was started as one, and then never returns; otherwise returns at once.
    ///
    /// Call it first in `main`, before anything starts a thread, opens a file or a connection: the worker gives up all rights
    /// that it has, not what it has used them for.
    ///
    /// - Parameter coders: makes the coders of the worker, those of the program's own included; by default those that
    ///   `CoderRegistry.standard()` has.
    public static func runIfAsked(coders: () -> [any ImageCoder] = { CoderRegistry.standard().coders.reversed() }) {
        offered.withLock { $0 = true }
        guard let role = getenv(WorkerLaunch.Variable.role) else { return }
        running.withLock { $0 = true }
        let kind = WorkerKind(rawValue: String(cString: role)) ?? .plain
        let usesLandlock = getenv(WorkerLaunch.Variable.withoutLandlock) == nil
        halcyon_box_limit_heap()
        halcyon_box_reset_faults()
        halcyon_box_close_files(WorkerLaunch.Descriptor.arena)
        var service = WorkerService(CoderRegistry(coders(), budget: DecodeBudget(capacity: .max)))
        service.warmUp(kind)
        let addressSpace = halcyon_address_space()
        // A sanitizer has threads of its own, and reserves terabytes.
        let hasThreads = addressSpace < 1 << 40 && !halcyon_box_is_alone()
        let failure =
            hasThreads
            ? "the program had threads before it called DecodeWorker.runIfAsked()"
            : closeBox(readsFonts: kind == .fonts, usesLandlock: usesLandlock)
        service.greet(addressSpace: addressSpace, failure: failure)
        if failure == nil { service.run() }
        // No destructor runs: there is nothing to put in order, and some would open files.
        _exit(0)
    }

    /// Gives up all rights. Returns the reason if that is not possible.
    private static func closeBox(readsFonts: Bool, usesLandlock: Bool) -> String? {
        let paths = readsFonts ? FontPaths.all : []
        var pointers = paths.map { UnsafePointer(strdup($0)) } + [nil]
        let result = pointers.withUnsafeMutableBufferPointer {
            halcyon_box_close(readsFonts ? UnsafePointer($0.baseAddress) : nil, usesLandlock)
        }
        let error = errno
        let step: String
        switch result {
        case HALCYON_BOX_CLOSED: return nil
        case HALCYON_BOX_PRIVILEGES: step = "it cannot give up its privileges"
        case HALCYON_BOX_LIMITS: step = "it cannot set its limits"
        case HALCYON_BOX_LANDLOCK: step = "the kernel has no Landlock, without which text in drawings has no fonts"
        default: step = "the kernel has no seccomp filters"
        }
        return "\(step): \(String(cString: strerror(error)))"
    }
}

/// The files that a drawing with text reads.
private enum FontPaths {
    static var all: [String] {
        let home = variable("HOME")
        let data = variable("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" }
        let configuration = variable("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
        let cache = variable("XDG_CACHE_HOME") ?? home.map { $0 + "/.cache" }
        let shared = (variable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").split(separator: ":")
        var paths = ["/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig", "/usr/share/xml/fontconfig"]
        paths += shared.map { $0 + "/fonts" }
        paths += [home.map { $0 + "/.fonts" }, data.map { $0 + "/fonts" }].compactMap { $0 }
        paths += [configuration.map { $0 + "/fontconfig" }, cache.map { $0 + "/fontconfig" }].compactMap { $0 }
        paths += [variable("FONTCONFIG_FILE"), variable("FONTCONFIG_PATH")].compactMap { $0 }
        return paths
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
