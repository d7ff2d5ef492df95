import Foundation
import HalcyonNetwork

extension ScriptedTransport {
    /// What one request is answered with: a head, then steps.
    public struct Answer: Sendable {
        /// What happens in the body, in order; after the last step it ends.
        public enum Step: Sendable {
            case chunk(Data)
            case wait(ScriptedTransportGate)
            case fail(any Error)
        }

        public var status: Int
        public var headers: HTTPHeaders
        public var steps: [Step]
        /// What the head waits for.
        public var headGate: ScriptedTransportGate?
        /// Thrown instead of a head.
        public var failure: (any Error)?

        public init(
            status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), steps: [Step] = [],
            headGate: ScriptedTransportGate? = nil, failure: (any Error)? = nil
        ) {
            self.status = status
            self.headers = headers
            self.steps = steps
            self.headGate = headGate
            self.failure = failure
        }

        /// A whole body with its length.
        public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = HTTPHeaders()) -> Answer {
            var all: HTTPHeaders = ["Content-Length": "\(data.count)"]
            all = all.merging(headers)
            return Answer(status: status, headers: all, steps: data.isEmpty ? [] : [.chunk(data)])
        }

        /// A status without a body.
        public static func status(_ status: Int, headers: HTTPHeaders = HTTPHeaders()) -> Answer {
            Answer(status: status, headers: headers)
        }

        /// A redirect.
        public static func redirect(_ status: Int = 302, to location: String) -> Answer {
            Answer(status: status, headers: ["Location": location])
        }

        /// No answer at all.
        public static func failure(_ error: any Error) -> Answer {
            Answer(failure: error)
        }

        /// This answer, whose head waits at a gate.
        public func held(by gate: ScriptedTransportGate) -> Answer {
            var copy = self
            copy.headGate = gate
            return copy
        }
    }
}
