import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension ImageFormat {
    static let attack = ImageFormat("attack", fileExtension: "attack", mimeType: "image/x-attack")
}

/// A thing that a coder does which a file has taken over.
enum Attack: String, CaseIterable {
    // Faults.
    case segfault, abort, trap, exit, overflowsStack, loops, sleeps, allocates, writesPastTheResult
    // Calls that end the process.
    case opens, writesFile, connects, listens, executes, forks, kills, traces, mapsCode, makesCode, sharesMemory,
        unlinks
    case becomesRoot, raisesLimits, waitsForOthers, changesDescriptor, sendsSignalToParent
    // Calls that get an error.
    case stats, asksTerminal, setsAffinity
    // No attack.
    case draws, drawsSlowly, startsThread, claimsCancellation

    /// Those that end the process because of a system call.
    static let calls: [Attack] = [
        .opens, .writesFile, .connects, .listens, .executes, .forks, .kills, .traces, .mapsCode, .makesCode,
        .sharesMemory,
        .unlinks, .becomesRoot, .raisesLimits, .waitsForOthers, .changesDescriptor, .sendsSignalToParent,
    ]

    /// Performs all of `calls` in workers, and returns those that did not end as they must.
    static func survivors(worker: String) -> [String] {
        let workers = DecodeWorkers(count: 1, program: .file(worker))
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        return calls.compactMap { attack in
            do {
                _ = try CoderRegistry([AttackCoder()]).decode(attack.file, options: options)
                return "\(attack): an image"
            } catch {
                return error as? CodecError == .stopped(.attack, .forbiddenCall) ? nil : "\(attack): \(error)"
            }
        }
    }

    /// The bytes of a file that makes the coder do it.
    var file: Data { Data("ATTACK \(rawValue)".utf8) }
}

/// A coder whose files say what it does.
struct AttackCoder: ProgressiveImageDecoder {
    static let size = PixelSize(16, 8)

    var formats: [ImageFormat] { [.attack] }

    func canDecode(_ data: Data) -> Bool { data.starts(with: Data("ATTACK ".utf8)) }

    func probe(_ data: Data) throws -> ImageInfo { ImageInfo(format: .attack, size: Self.size) }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let name = String(decoding: data.dropFirst(7), as: UTF8.self)
        guard let attack = Attack(rawValue: name) else { throw CodecError.damaged(.attack, reason: name) }
        errno = 0
        try Self.perform(attack, context)
        if errno != 0, attack != .draws { throw CodecError.damaged(.attack, reason: String(cString: strerror(errno))) }
        return try Bitmap(size: Self.size, isOpaque: true) { pixels in
            pixels.initializeMemory(as: UInt8.self, repeating: 0xFF)
        }
    }

    /// Attacks with its first preview.
    func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding { ArrivingAttack() }

    private static func perform(_ attack: Attack, _ context: WorkContext) throws {
        switch attack {
        case .segfault, .abort, .trap, .exit, .overflowsStack, .loops, .sleeps, .allocates, .writesPastTheResult:
            fail(attack)
        case .stats:
            var facts = Glibc.stat()
            _ = lstat("/etc/passwd", &facts)
        case .asksTerminal: _ = isatty(0)
        case .setsAffinity:
            var processors = 1
            _ = withUnsafeMutablePointer(to: &processors) {
                syscall(number(x86: 203, arm: 122), 0, MemoryLayout<Int>.size, Int(bitPattern: $0), 0)
            }
        case .draws: break
        case .claimsCancellation: throw CancellationError()
        case .drawsSlowly: while true { try context.checkCancellation() }
        case .startsThread:
            let answer = try WorkerThread.run(name: "attack", stackSize: 1 << 20) { 42 }
            errno = answer == 42 ? 0 : EAGAIN
        default: call(attack)
        }
    }

    private static func fail(_ attack: Attack) {
        switch attack {
        case .segfault: UnsafeMutablePointer<UInt8>(bitPattern: 8)?.pointee = 1
        case .abort: Glibc.abort()
        case .trap: fatalError()
        case .exit: _exit(7)
        case .overflowsStack: _ = depth(of: 0)
        case .loops: while alwaysTrue() {}
        case .sleeps: while alwaysTrue() { usleep(1000) }
        case .allocates: allocate()
        default:
            let end = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
            for offset in stride(from: 0, to: Int.max / 2, by: 4096) { end[offset] = 1 }
        }
    }

    private static func alwaysTrue() -> Bool { getpid() > 0 }

    private static func depth(of value: Int) -> Int {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 4096) { room in
            room[0] = value
            return depth(of: value + 1) + room[0]
        }
    }

    private static func allocate() {
        while true {
            guard let bytes = malloc(16 << 20) else { Glibc.abort() }
            memset(bytes, 1, 16 << 20)
        }
    }

    private static func call(_ attack: Attack) {
        switch attack {
        case .opens: _ = open("/etc/passwd", O_RDONLY)
        case .writesFile: _ = open("/tmp/halcyon-attack", O_WRONLY | O_CREAT, 0o600)
        case .connects: _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        case .listens: _ = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        case .executes: execute()
        case .forks: forkProcess()
        case .kills: _ = kill(getpid(), SIGTERM)
        case .sendsSignalToParent: _ = kill(getppid(), SIGTERM)
        case .traces: _ = syscall(number(x86: 101, arm: 117), 0, 0, 0, 0)
        case .mapsCode: _ = mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        case .makesCode:
            let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            _ = mprotect(page, 4096, PROT_READ | PROT_EXEC)
        case .sharesMemory: _ = syscall(number(x86: 319, arm: 279), 0, 0, 0, 0)
        case .unlinks: _ = unlink("/tmp/halcyon-attack")
        case .becomesRoot: _ = setuid(0)
        case .raisesLimits:
            var limit = rlimit(rlim_cur: rlim_t.max, rlim_max: rlim_t.max)
            _ = setrlimit(__rlimit_resource_t(7), &limit)
        case .waitsForOthers:
            var status: Int32 = 0
            _ = waitpid(-1, &status, WNOHANG)
        case .changesDescriptor: _ = fcntl(3, F_SETFL, 0)
        default: break
        }
    }
}

/// A file that arrives and attacks.
final class ArrivingAttack: ProgressiveDecoding {
    private let file = Lock(Data())

    func append(_ data: Data, context: WorkContext) throws { file.withLock { $0.append(data) } }

    func preview(context: WorkContext) throws -> Image? {
        let data = file.withLock { $0 }
        let coder = AttackCoder()
        var info = try coder.probe(data)
        let plan = try DecodePlan(info: info, options: DecodeOptions(), decoder: coder)
        info.isPreview = true
        return Image(bitmap: try coder.decode(data, plan: plan, context: context), info: info)
    }

    func finish(context: WorkContext) throws -> Image { throw CodecError.damaged(.attack, reason: "it has no end") }
}
