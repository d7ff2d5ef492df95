import Hummingbird
import NIOCore

/// The context of a request: with its connection, to know when the client leaves.
struct ServerRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
