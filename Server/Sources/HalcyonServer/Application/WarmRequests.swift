import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The requests of a connection that have been answered before: they are answered on its event loop, as soon as they are read.
///
/// All others are passed on to the connection's task. The streams of parts to it and from it take more time than all else about an
/// answer that is at hand.
final class WarmRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Whatever comes from the client, in its order.
    private enum Inbound {
        case part(HTTPRequestPart)
        case event(Any)
        case failure(any Error)
    }

    private enum State {
        case passing
        /// The answer to a request whose end has not been read.
        case answering(WarmResponse)
        /// An answer is looked for behind the memory.
        case looking
        /// An answer is written, and the client has not taken all of it.
        case sending

        /// Whether what comes from the client waits.
        var holds: Bool {
            switch self {
            case .passing, .answering: false
            case .looking, .sending: true
            }
        }
    }

    private let responder: ServerResponder
    private var state = State.passing
    /// Parts and events that have come while an answer is looked for or sent.
    private var waiting: [Inbound] = []
    /// The requests that were passed on and are not answered yet.
    private var unanswered = 0
    private var isReadDue = false

    init(_ responder: ServerResponder) {
        self.responder = responder
    }

    // MARK: - From the client

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(.part(unwrapInboundIn(data)), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        take(.event(event), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        take(.failure(error), context)
    }

    /// While an answer is looked for or sent, nothing is read behind the next request, so that what waits is bounded.
    func read(context: ChannelHandlerContext) {
        if state.holds, waiting.count > 1 { isReadDue = true } else { context.read() }
    }

    private func take(_ inbound: Inbound, _ context: ChannelHandlerContext) {
        switch (inbound, state) {
        case (_, .looking), (_, .sending): waiting.append(inbound)
        case (.part(.head(let request)), .passing):
            if !begin(request, context) { pass(request, context) }
        case (.part(.end), .answering(let response)):
            send(response, context)
        case (.part(let part), _): context.fireChannelRead(wrapInboundOut(part))
        case (.event(let event), _): context.fireUserInboundEventTriggered(event)
        case (.failure(let error), _): context.fireErrorCaught(error)
        }
    }

    private func pass(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
        unanswered += 1
        context.fireChannelRead(wrapInboundOut(.head(request)))
    }

    // MARK: - Answers

    /// Begins to answer a request.
    ///
    /// - Returns: false for one that is passed on: it has not been answered before, it comes behind others, or the client has not
    ///   taken what was written before.
    private func begin(_ request: HTTPRequest, _ context: ChannelHandlerContext) -> Bool {
        guard unanswered == 0, context.channel.isWritable, let warm = responder.warm(request) else { return false }
        if let response = warm.responseInMemory() {
            state = .answering(response)
            return true
        }
        state = .looking
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        Task(executorPreference: EventLoopTaskExecutor(context.eventLoop)) {
            let response = await warm.response()
            bound.eventLoop.execute {
                let (handler, context) = bound.value
                handler.looked(response, for: request, context)
            }
        }
        return true
    }

    private func looked(_ response: WarmResponse?, for request: HTTPRequest, _ context: ChannelHandlerContext) {
        guard case .looking = state else { return }
        if let response {
            state = .answering(response)
        } else {
            state = .passing
            pass(request, context)
        }
        replay(context)
    }

    /// Takes what has waited, up to the next request that has something wait.
    private func replay(_ context: ChannelHandlerContext) {
        let came = waiting
        waiting = []
        for inbound in came { take(inbound, context) }
        context.fireChannelReadComplete()
        if isReadDue, !state.holds {
            isReadDue = false
            context.read()
        }
    }

    /// Writes an answer, whose end waits until the connection has none of its bytes any more: with the end, the handlers before this
    /// one take the request for answered, and may close the connection at once.
    private func send(_ response: WarmResponse, _ context: ChannelHandlerContext) {
        state = .sending
        let taken = context.eventLoop.makePromise(of: Void.self)
        context.write(wrapOutboundOut(.head(response.head)), promise: response.body.isEmpty ? taken : nil)
        for part in response.body.dropLast() { context.write(wrapOutboundOut(.body(part)), promise: nil) }
        if let last = response.body.last { context.write(wrapOutboundOut(.body(last)), promise: taken) }
        context.flush()
        // It is called here, before anything else is read, if the client has taken all.
        taken.futureResult.assumeIsolated().whenComplete { [self] result in
            if case .success = result { sent(context) } else { context.close(promise: nil) }
        }
    }

    private func sent(_ context: ChannelHandlerContext) {
        state = .passing
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if isReadDue || !waiting.isEmpty { replay(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        (state, waiting) = (.passing, [])
    }

    // MARK: - From the connection's task

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // The answer to a request that could not be read has none to be counted with.
        if case .end = unwrapOutboundIn(data) { unanswered = max(0, unanswered - 1) }
        context.write(data, promise: promise)
    }
}
