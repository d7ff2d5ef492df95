import Foundation
import Halcyon
import Logging

/// `[--host H] [--port P] [--cache FOLDER] [--log-level L] [--allow HOST:PORT]`
struct ServerOptions {
    var host = "127.0.0.1"
    var port = 8080
    var cacheFolder = DiskCache.defaultFolder(for: "ThumbnailServer")
    var addressPolicy = AddressPolicy.publicInternet
    var logger = Logger(label: "thumbnails")

    init(_ arguments: some Sequence<String>) {
        logger.logLevel = .notice
        var rest = Array(arguments)[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { Self.fail("\(name) needs a value") }
            switch name {
            case "--host": host = value
            case "--port": port = Int(value) ?? port
            case "--cache": cacheFolder = URL(filePath: value)
            case "--log-level": logger.logLevel = Logger.Level(rawValue: value) ?? .notice
            case "--allow":
                // For tests: this one server, wherever it is, in place of the public Internet.
                let parts = value.split(separator: ":")
                guard parts.count == 2, let port = Int(parts[1]) else { Self.fail("--allow HOST:PORT") }
                addressPolicy = AddressPolicy(ports: [port], allowedHosts: [String(parts[0])])
            default: Self.fail("unknown option \(name)")
            }
        }
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("\(reason)\n".utf8))
        exit(64)
    }
}
