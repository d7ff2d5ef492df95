import Foundation

extension DownloadHooks {
    /// Returns hooks that call these first, then `others`: each one receives the result of the one before, and if one
    /// refuses, the next is not called.
    func followed(by others: DownloadHooks?) -> DownloadHooks {
        guard let others else { return self }
        var both = DownloadHooks()
        both.request = Self.chained(request, others.request)
        both.response = Self.chained(response, others.response)
        both.redirect = redirect ?? others.redirect
        if let first = redirect, let second = others.redirect {
            both.redirect = { head, next in
                guard let target = try await first(head, next) else { return nil }
                return try await second(head, target)
            }
        }
        both.wantsBody = wantsBody ?? others.wantsBody
        if let first = wantsBody, let second = others.wantsBody {
            both.wantsBody = { head in
                guard try await first(head) else { return false }
                return try await second(head)
            }
        }
        both.chunk = chunk ?? others.chunk
        if let first = chunk, let second = others.chunk {
            both.chunk = { chunk, progress in
                first(chunk, progress)
                second(chunk, progress)
            }
        }
        both.data = data ?? others.data
        if let first = data, let second = others.data {
            both.data = { data, head in
                guard let changed = try first(data, head) else { return nil }
                return try second(changed, head)
            }
        }
        return both
    }

    private typealias Change<Value> = @Sendable (Value) async throws -> Value?

    private static func chained<Value: Sendable>(
        _ first: Change<Value>?, _ second: Change<Value>?
    ) -> Change<Value>? {
        guard let first, let second else { return first ?? second }
        return { value in
            guard let changed = try await first(value) else { return nil }
            return try await second(changed)
        }
    }
}
