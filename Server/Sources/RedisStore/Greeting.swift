import Foundation

/// The first commands of a connection: the password, the database, and for writes the fence against earlier ones.
///
/// A connection that ends while writes are unanswered may leave them in the server's buffers, to be executed after those that
/// the next connection sends: an entry would be found that was removed. So the next connection for writes ends the former one
/// at the server first. The server's run, in which the numbers of its clients are unique, must be the same.
struct Greeting {
    /// The commands, by their names.
    enum Step: String {
        case password = "AUTH"
        case database = "SELECT"
        case number = "CLIENT ID"
        case run = "INFO"
        case fence = "CLIENT KILL"
    }

    /// A connection as the server knows it.
    private struct Identity: Hashable {
        var run = ""
        var number = 0
    }

    private let configuration: RedisStore.Configuration
    private let isForWrites: Bool
    private var identity = Identity()
    /// The former connections with unanswered writes.
    private var former: Set<Identity> = []

    init(_ configuration: RedisStore.Configuration, isForWrites: Bool) {
        (self.configuration, self.isForWrites) = (configuration, isForWrites)
    }

    /// Returns the commands that a new connection begins with.
    mutating func commands() throws(RedisStoreError) -> [(Step, RedisCommand)] {
        identity = Identity()
        var commands: [(Step, RedisCommand)] = []
        if let password = configuration.password {
            let user = configuration.username.map { [RedisCommand.Argument($0)] } ?? []
            commands.append((.password, try RedisCommand("AUTH", user + [RedisCommand.Argument(password)])))
        }
        if configuration.database != 0 {
            commands.append((.database, try RedisCommand("SELECT", RedisCommand.Argument(configuration.database))))
        }
        if isForWrites {
            commands.append((.number, try RedisCommand("CLIENT", "ID")))
            commands.append((.run, try RedisCommand("INFO", "server")))
        }
        return commands
    }

    /// Returns the commands that end the former connections.
    func fences() throws(RedisStoreError) -> [RedisCommand] {
        var commands: [RedisCommand] = []
        for other in former where other.run == identity.run && !other.run.isEmpty {
            commands.append(try RedisCommand("CLIENT", "KILL", "ID", RedisCommand.Argument(other.number)))
        }
        return commands
    }

    /// Notes an answer. A server that does not tell its run or the connection's number has no fence.
    ///
    /// - Throws: if the password or the database is refused.
    mutating func answered(_ step: Step, _ reply: RedisReply) throws(RedisStoreError) {
        switch (step, reply) {
        case (.password, .status), (.database, .status): break
        case (.password, .error(let code)), (.database, .error(let code)):
            throw .refused(command: step.rawValue, code: code)
        case (.password, _), (.database, _): throw .malformed(command: step.rawValue)
        case (.number, .integer(let number)): identity.number = number
        case (.run, _):
            let line = reply.text?.split(whereSeparator: \.isNewline).first { $0.hasPrefix("run_id:") }
            identity.run = line.map { String($0.dropFirst("run_id:".count)) } ?? ""
        case (.fence, _): former = []
        case (.number, _): break
        }
    }

    /// Notes that the connection has ended.
    mutating func closed(isUnanswered: Bool) {
        guard isForWrites, isUnanswered, !identity.run.isEmpty, identity.number > 0 else { return }
        if former.count >= 16 || former.contains(where: { $0.run != identity.run }) { former = [] }
        former.insert(identity)
    }
}
