import CGTK
import CHalcyonGTKC
import Foundation
import Halcyon
import HalcyonGTK

// The functions of halcyon-gtk.h that are about no single view. The compiler compares each with its declaration there.

private let version = HalcyonVersion.current.withCString { UInt(bitPattern: g_intern_string($0)) }

/// Returns the version of the library.
@c @implementation public func halcyon_version() -> UnsafePointer<CChar>? { UnsafePointer(bitPattern: version) }

/// Sets the caches of all loads that begin afterwards.
@c @implementation public func halcyon_configure_cache(
    _ folder: UnsafePointer<CChar>?, _ memoryLimit: guint64, _ diskLimit: guint64,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
) -> gboolean {
    CallFromC.run("halcyon_configure_cache", folder, memoryLimit, diskLimit, error, otherwise: 0) {
        folder, memoryLimit, diskLimit, error in
        var place = ImagePipeline.Configuration.defaultCacheFolder
        if folder != nil {
            guard let path = CallFromC.text(folder), !path.isEmpty else {
                CallFromC.fail(error, HALCYON_ERROR_PATH, "the path of the cache folder is empty or not UTF-8")
                return 0
            }
            place = URL(filePath: path, directoryHint: .isDirectory)
        }
        var (memory, disk) = (MemoryCacheConfiguration(), DiskCache.Configuration())
        if memoryLimit > 0 { memory.costLimit = Int(clamping: memoryLimit) }
        if diskLimit > 0 { disk.sizeLimit = Int(clamping: diskLimit) }
        let cache = ImageCache(memory: memory, disk: DiskCache(folder: place, configuration: disk))
        ImagePipeline.shared = ImagePipeline(configuration: .init(cache: cache))
        return 1
    }
}

/// Connects the caches to the life of an application.
@c @implementation public func halcyon_follow_application(_ application: UnsafeMutablePointer<GApplication>?) {
    CallFromC.run("halcyon_follow_application", application, otherwise: ()) { application in
        guard let application,
            g_type_check_instance_is_a(
                UnsafeMutableRawPointer(application).assumingMemoryBound(to: GTypeInstance.self),
                g_application_get_type()) != 0
        else { return CallFromC.complain("halcyon_follow_application", "G_IS_APPLICATION (application)") }
        GTKApplication.follow(application)
    }
}
