import Foundation
import HalcyonNetwork
import HalcyonTesting
import TestSupport

/// A transport under the contract, and the far side that it connects to.
enum ContractSubject: String, CaseIterable, Sendable {
    case curl, scripted

    /// A step of the far side's script.
    enum Step: Sendable {
        case head(Int, HTTPHeaders)
        case chunk(Data)
        case hold(RawServerGate)
        /// The connection breaks.
        case reset
    }

    struct Running: Sendable {
        let transport: any Transport
        let url: URL
        /// Opens when the far side has seen the transfer called off.
        let left: RawServerGate
        let stop: @Sendable () -> Void
    }

    /// Serves one transfer; the far side then waits for the client to leave.
    func serve(_ steps: [Step]) throws -> Running {
        switch self {
        case .curl: try serveRaw(steps)
        case .scripted: serveScripted(steps)
        }
    }

    private func serveRaw(_ steps: [Step]) throws -> Running {
        let left = RawServerGate()
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            do {
                for step in steps {
                    switch step {
                    case .head(let status, let headers):
                        let fields = headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
                        try connection.send("HTTP/1.1 \(status) Status\r\n\(fields)\r\n")
                    case .chunk(let data): try connection.send(data)
                    case .hold(let gate): gate.block()
                    case .reset: return connection.reset()
                    }
                }
                connection.waitForClose()
                left.open()
            } catch {
                left.open()
            }
        }
        return Running(transport: CurlTransport(), url: server.url("/image"), left: left, stop: { server.stop() })
    }

    private func serveScripted(_ steps: [Step]) -> Running {
        let transport = ScriptedTransport()
        let left = RawServerGate()
        let url = URL(web: "http://scripted.test/image")
        var answer = ScriptedTransport.Answer()
        var hasHead = false
        for step in steps {
            switch step {
            case .head(let status, let headers):
                (answer.status, answer.headers, hasHead) = (status, headers, true)
            case .chunk(let data): answer.steps.append(.chunk(data))
            case .hold(let gate):
                let scripted = ScriptedTransportGate()
                Task {
                    await gate.opened()
                    scripted.open()
                }
                if hasHead { answer.steps.append(.wait(scripted)) } else { answer.headGate = scripted }
            case .reset:
                let error = DownloadError(.connection(.reset), url: url)
                if hasHead { answer.steps.append(.fail(error)) } else { answer.failure = error }
            }
        }
        transport.answer(url, with: answer)
        let watcher = Task {
            guard (try? await transport.waitForCancellations(1)) != nil else { return }
            left.open()
        }
        return Running(transport: transport, url: url, left: left, stop: { watcher.cancel() })
    }
}

extension TransportBody {
    /// Returns the whole body.
    func collected() async throws -> Data {
        var data = Data()
        for try await chunk in self { data.append(chunk) }
        return data
    }
}

extension ImageDownloader {
    /// A downloader whose limits of time are far beyond what a busy machine delays a test by.
    static func patient(_ configure: (inout Configuration) -> Void = { _ in }) -> ImageDownloader {
        var configuration = Configuration()
        configuration.timeouts = .patient
        configure(&configuration)
        return ImageDownloader(configuration)
    }
}
