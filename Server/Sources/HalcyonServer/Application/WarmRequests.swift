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
    }

    private let responder: ServerResponder
    private var state = State.passing
    /// Parts and events that have come while an answer is looked for.
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

    /// While an answer is looked for, nothing is read behind the next request, so that what waits is bounded.
    func read(context: ChannelHandlerContext) {
        if case .looking = state, waiting.count > 1 { isReadDue = true } else { context.read() }
    }

    private func take(_ inbound: Inbound, _ context: ChannelHandlerContext) {
        switch (inbound, state) {
        case (_, .looking): waiting.append(inbound)
        case (.part(.head(let request)), .passing):
            if !begin(request, context) { pass(request, context) }
        // A body has no part in the answer.
        case (.part(.body), .answering): break
        case (.part(.end), .answering(let response)):
            state = .passing
            write(response, context)
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
        let came = waiting
        waiting = []
        for inbound in came { take(inbound, context) }
        context.fireChannelReadComplete()
        if case .looking = state { return }
        if isReadDue {
            isReadDue = false
            context.read()
        }
    }

    private func write(_ response: WarmResponse, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(response.head)), promise: nil)
        for part in response.body { context.write(wrapOutboundOut(.body(part)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
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
