import Glibc

/// Calls that Swift's own modules hide.
extension AttackCoder {
    static func number(x86: Int, arm: Int) -> Int {
        #if arch(x86_64)
        x86
        #else
        arm
        #endif
    }

    static func syscall(_ number: Int, _ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Int { call(number, a, b, c, d) }

    static func execute() {
        var words = [strdup("/bin/true"), nil]
        _ = execve("/bin/true", &words, &words)
    }

    static func forkProcess() { _ = fork() }
}

// Variadic in C, and with at most four arguments here.
@_silgen_name("syscall") private func call(_ number: Int, _ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Int
@_silgen_name("fork") private func fork() -> Int32
