import Foundation
import RedisStore

extension ServerConfiguration.Cache {
    /// The shared store that the settings name; nil if they name none.
    ///
    /// - Throws: `ServerConfigurationError`, which has no password in it.
    func redisConfiguration() throws -> RedisStore.Configuration? {
        guard let redis else { return nil }
        var configuration = try Self.address(redis)
        configuration.prefix = redisPrefix
        configuration.lookupTimeout = redisTimeout
        if let redisPatience {
            (configuration.lookupTimeout, configuration.connectTimeout) = (redisPatience, redisPatience)
            (configuration.writeTimeout, configuration.claimWait) = (redisPatience, redisPatience)
            configuration.leaseDuration = redisPatience
        }
        return configuration
    }

    /// Reads `redis://[user:password@]host[:port][/database]` or `unix:///path[?db=database]`.
    private static func address(_ text: String) throws -> RedisStore.Configuration {
        func bad(_ reason: String) -> ServerConfigurationError { .badValue(key: "cache.redis", reason: reason) }
        guard let parts = URLComponents(string: text), parts.fragment == nil else { throw bad("it is no URL") }
        let (address, database): (RedisStore.Configuration.Address, String)
        switch parts.scheme {
        case "redis":
            guard let host = parts.host, !host.isEmpty, parts.query == nil else { throw bad("it has no host") }
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            let port = parts.port ?? 6379
            guard (1...65_535).contains(port) else { throw bad("its port is from 1 to 65535") }
            (address, database) = (.host(name, port: port), String(parts.path.drop { $0 == "/" }))
        case "unix":
            guard (parts.host ?? "").isEmpty, parts.path.hasPrefix("/"), (1...107).contains(parts.path.utf8.count)
            else {
                throw bad("its path is absolute, and has at most 107 bytes")
            }
            let items = parts.queryItems ?? []
            guard items.allSatisfy({ $0.name == "db" }), items.count <= 1 else { throw bad("its query is db=number") }
            (address, database) = (.unixSocket(parts.path), items.first?.value ?? "")
        default: throw bad("it begins with redis:// or unix://")
        }
        guard let number = database.isEmpty ? 0 : Int(database), (0...100_000).contains(number) else {
            throw bad("its database is a number")
        }
        return RedisStore.Configuration(
            address: address, username: parts.user.flatMap { $0.isEmpty ? nil : $0 }, password: parts.password,
            database: number)
    }
}
