import Foundation
import Glibc

/// How nginx is found and set up: one worker, nothing written, everything in a temporary folder.
enum Nginx {
    /// nginx on the PATH; nil where there is none.
    static var program: URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { URL(filePath: "\($0)/nginx") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
    }

    static func configuration(port: UInt16, serving folder: URL, home: URL) -> String {
        let path = home.path(percentEncoded: false)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "    \($0)_temp_path \(path)/\($0);" }.joined(separator: "\n")
        // Started by root, its worker would be another user, whom the folder does not let in.
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
