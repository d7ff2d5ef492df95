import HalcyonImage
import HalcyonSystem

/// The place where files are decoded: in this process, or in worker processes that hold no rights.
///
///     configuration.isolation = .isolated()
///
/// A file that crashes its decoder then ends a worker, which is replaced, and one load with `CodecError.stopped`; a decoder that
/// a file has taken over can read nothing, connect nowhere and start nothing. docs/Isolation.md says what is protected.
///
/// If isolation is asked for and cannot be had, the decode fails with `CodecError.isolationUnavailable`; it never falls back to
/// this process. Coders of a program's own decode in this process unless its workers have them (`DecodeWorker`).
///
/// A decoder that `requiresIsolation`, as that of HalcyonGdkPixbuf does, decodes in workers in any case: in those of this value, or in
/// `DecodeWorkers.shared` if nothing is isolated.
public struct DecodeIsolation: Hashable, Sendable {
    /// One reference, since each request is copied with its isolation.
    private final class Isolated: Hashable, Sendable {
        let workers: DecodeWorkers
        /// The formats that are isolated; nil isolates all of them.
        let formats: Set<ImageFormat>?

        init(_ workers: DecodeWorkers, _ formats: Set<ImageFormat>?) {
            (self.workers, self.formats) = (workers, formats)
        }

        static func == (left: Isolated, right: Isolated) -> Bool {
            left.workers === right.workers && left.formats == right.formats
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(workers))
            hasher.combine(formats)
        }
    }

    /// Nil decodes in this process.
    private let isolated: Isolated?

    /// Decodes in this process, which is the default.
    public static let inProcess = DecodeIsolation(isolated: nil)

    /// Decodes in worker processes.
    ///
    /// - Parameters:
    ///   - workers: the workers; those that all pipelines of the process share by default.
    ///   - formats: the formats that are isolated; nil, the default, isolates all of them.
    public static func isolated(
        workers: DecodeWorkers = .shared, formats: Set<ImageFormat>? = nil
    ) -> DecodeIsolation {
        DecodeIsolation(isolated: Isolated(workers, formats))
    }

    /// Whether nothing is isolated.
    package var isInProcess: Bool { isolated == nil }

    /// The workers; nil if nothing is isolated.
    public var workers: DecodeWorkers? { isolated?.workers }

    /// Returns the workers for a format that this coder reads; nil if this process reads it.
    func workers(
        for coder: any ImageCoder, _ format: ImageFormat, context: WorkContext
    ) throws -> DecodeWorkers? {
        let isRequired = Self.isRequired(by: coder)
        let asked = isolated.flatMap { $0.formats?.contains(format) != false ? $0.workers : nil }
        guard let workers = asked ?? (isRequired ? isolated?.workers ?? .shared : nil) else { return nil }
        if try workers.have(coder, for: format, context: context) { return workers }
        guard !isRequired else {
            throw CodecError.isolationUnavailable("the decode worker does not have the coder \(type(of: coder))")
        }
        return nil
    }

    /// Whether a coder decodes in workers only, and this process is none.
    static func isRequired(by coder: any ImageCoder) -> Bool {
        (coder as? any ImageDecoder)?.requiresIsolation == true && !DecodeWorker.isRunning
    }
}

/// The reason why a worker was stopped in the middle of a decode.
public enum DecodeStop: Hashable, Sendable, CustomStringConvertible {
    /// It ended by this signal: 11 is a bad access, 6 an abort, 4 or 5 a trap.
    case signal(Int32)
    /// It called for what it has no right to: a file, the network, another process.
    case forbiddenCall
    /// It ended with this exit status; -1 if somebody else has waited for its end, so that nobody knows.
    case exited(Int32)
    /// It took longer than this, and was ended.
    case timeLimit(Duration)
    /// It took more processor time than a worker has.
    case processorTime
    /// It answered with something else than it was asked for.
    case invalidAnswer(String)

    public var description: String {
        switch self {
        case .signal(let number): "it ended by signal \(number)"
        case .forbiddenCall: "it made a system call that it has no right to"
        case .exited(let status): "it ended with the status \(status)"
        case .timeLimit(let limit): "it took longer than \(limit)"
        case .processorTime: "it took too much processor time"
        case .invalidAnswer(let what): "its answer was refused: \(what)"
        }
    }

    /// The status of a process whose end somebody else has waited for.
    static let unknown: Int32 = -1

    /// Whether the end may have nothing to do with the file: somebody else, or a system without memory, has ended the worker, or the
    /// reason is not known.
    package var mayBeForeign: Bool {
        switch self {
        case .signal(let number): number == 9 || number == 15
        case .exited(let status): status == Self.unknown
        default: false
        }
    }
}
