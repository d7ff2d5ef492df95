import Foundation
import HalcyonNetwork

extension ScriptedTransport {
    /// The answer to one request: a head, then the steps of the body.
    public struct Answer: Sendable {
        /// A step of the body; the body ends after the last one.
        public enum Step: Sendable {
            case chunk(Data)
            case wait(ScriptedTransportGate)
            case fail(any Error)
        }

        public var status: Int
        public var headers: HTTPHeaders
        public var steps: [Step]
        /// The gate that the head waits at.
        public var headGate: ScriptedTransportGate?
        /// The error that is thrown instead of a head.
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

        /// Returns an answer with a whole body and its length.
        public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = HTTPHeaders()) -> Answer {
            var all: HTTPHeaders = ["Content-Length": "\(data.count)"]
            all = all.merging(headers)
            return Answer(status: status, headers: all, steps: data.isEmpty ? [] : [.chunk(data)])
        }

        /// Returns an answer with a status and no body.
        public static func status(_ status: Int, headers: HTTPHeaders = HTTPHeaders()) -> Answer {
            Answer(status: status, headers: headers)
        }

        /// Returns a redirect.
        public static func redirect(_ status: Int = 302, to location: String) -> Answer {
            Answer(status: status, headers: ["Location": location])
        }

        /// Returns an answer that fails without a head.
        public static func failure(_ error: any Error) -> Answer {
            Answer(failure: error)
        }

        /// Returns this answer with a head that waits at a gate.
        public func held(by gate: ScriptedTransportGate) -> Answer {
            var copy = self
            copy.headGate = gate
            return copy
        }
    }
}
