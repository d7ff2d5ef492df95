import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import HalcyonServer

/// Connections that are accepted while the server stops.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionChannelTests {
    /// NIO would end the process.
    @Test func aConnectionThatNoTaskComesToIsClosed() async throws {
        let connections = ConnectionChannel(channel: HTTP1Channel { _, _, _ in }, warm: nil)
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                connections.setup(channel: channel, logger: Logger(label: "test")).map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client = try await ClientBootstrap(group: group).connect(to: #require(server.localAddress)).get()
        try await client.closeFuture.get()
        try await server.close().get()
    }
}
