import CGTK
import Foundation
import Testing
import TestSupport

/// A bundle of resources, registered for as long as this lives.
final class Resources {
    private let resource: OpaquePointer
    private let folder = TemporaryFolder()

    /// - Parameter files: their contents by their names, which lie under `/org/halcyon/test`.
    init(_ files: [String: Data], isCompressed: Bool = false) async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        var entries = ""
        for (name, data) in files {
            try data.write(to: folder.url.appending(path: name))
            entries += "<file\(isCompressed ? " compressed=\"true\"" : "")>\(name)</file>"
        }
        let list = folder.url.appending(path: "test.gresource.xml")
        try Data("<gresources><gresource prefix=\"/org/halcyon/test\">\(entries)</gresource></gresources>".utf8)
            .write(to: list)
        let bundle = folder.url.appending(path: "test.gresource").path(percentEncoded: false)
        let compiler = try TestProgram(
            URL(filePath: "/usr/bin/glib-compile-resources"),
            [
                "--sourcedir=\(folder.url.path(percentEncoded: false))", "--target=\(bundle)",
                list.path(percentEncoded: false),
            ])
        try #require(await compiler.ended() == 0)
        resource = try #require(g_resource_load(bundle, nil))
        g_resources_register(resource)
    }

    deinit {
        g_resources_unregister(resource)
        g_resource_unref(resource)
    }
}
