import Foundation
import Glibc

/// The location and the configuration of nginx: one worker, no logs, everything in a temporary folder.
enum Nginx {
    /// The path of nginx in `PATH`; nil if there is none.
    static var program: URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { URL(filePath: "\($0)/nginx") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
    }

    static func configuration(port: UInt16, serving folder: URL, home: URL) -> String {
        let path = home.path(percentEncoded: false)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "    \($0)_temp_path \(path)/\($0);" }.joined(separator: "\n")
        // If root starts nginx, its worker would run as another user, without access to the folder.
        let user = geteuid() == 0 ? "user root;" : ""
        return """
            \(user)
            daemon off;
            worker_processes 1;
            pid \(path)/nginx.pid;
            events { worker_connections 512; }
            http {
            \(temporary)
                access_log off;
                sendfile on;
                tcp_nopush on;
                tcp_nodelay on;
                keepalive_requests 100000;
                types { image/jpeg jpg; }
                server {
                    listen 127.0.0.1:\(port);
                    root \(folder.path(percentEncoded: false));
                }
            }
            """
    }
}
