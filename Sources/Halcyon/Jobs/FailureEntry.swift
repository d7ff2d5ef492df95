import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// A missing resource that the next run of a program remembers as well: an entry of the disk cache without bytes, one for
/// each URL.
///
/// It is for requests that have no user and no hooks, and the same header fields. These are compared by a hash with a salt
/// of its own, since they may contain secrets that no name suggests.
struct FailureEntry: Codable {
    private static let statuses: Set = [404, 410]
    /// The largest length of the stored form in bytes; the fields of a response may be longer.
    private static let limit = 64 << 10

    private let status: Int
    private let fields: HTTPHeaders
    /// The times in seconds since the reference date of `Date`, which are exact.
    private let from: TimeInterval
    private let until: TimeInterval
    private let salt: Data
    private let sent: Data

    /// Creates the entry of a failure; nil for one that only the memory keeps.
    ///
    /// - Parameter credentials: the fields that are not stored.
    init?(_ failure: FailureMemory.Failure, _ key: FailureMemory.Key, credentials: CredentialFields) {
        guard key.isForAll, case .download(_, let error) = failure.error, case .httpStatus(let status) = error.reason,
            Self.statuses.contains(status)
        else { return nil }
        let salt = KeyedHash.newKey()
        self.status = status
        fields = HTTPHeaders(error.responseHeaders.fields.filter { !credentials.contains($0.name) })
        from = failure.from.timeIntervalSinceReferenceDate
        until = failure.until.timeIntervalSinceReferenceDate
        self.salt = Data(salt)
        sent = Self.hash(of: key.headers, salt: salt)
    }

    private static func hash(of headers: HTTPHeaders, salt: [UInt8]) -> Data {
        var encoder = KeyEncoder()
        for field in headers.fields {
            encoder.encode(field.name.lowercased())
            encoder.encode(field.value)
        }
        return Data(KeyedHash(of: encoder.bytes, key: salt).bytes)
    }

    /// Stages the entry, unless the staging area is full.
    func store(in disk: DiskCache, for key: FailureMemory.Key) {
        guard let metadata = try? JSONEncoder().encode(self), metadata.count <= Self.limit else { return }
        let end = Date(timeIntervalSinceReferenceDate: until)
        disk.stageIfRoom(Data(), metadata: metadata, for: Self.diskKey(key.url), expiration: .date(end))
    }

    // MARK: - Look-up

    /// Returns the stored failure of a request; nil if there is none, or none that applies to it now.
    static func find(
        _ key: FailureMemory.Key, _ url: URL, in disk: DiskCache, now: Date, ticket: WorkTicket
    ) async -> FailureMemory.Failure? {
        guard key.isForAll, let entry = await disk.peek(diskKey(key.url), ticket: ticket), entry.data.isEmpty,
            let stored = Self(decoding: entry.metadata)
        else { return nil }
        return stored.failure(of: key, url, now: now)
    }

    private init?(decoding metadata: Data) {
        guard metadata.count <= Self.limit, let stored = try? JSONDecoder().decode(Self.self, from: metadata) else {
            return nil
        }
        self = stored
    }

    /// Returns the failure, after a check of everything that another program could have written.
    private func failure(of key: FailureMemory.Key, _ url: URL, now: Date) -> FailureMemory.Failure? {
        let (start, end) = (
            Date(timeIntervalSinceReferenceDate: from), Date(timeIntervalSinceReferenceDate: until)
        )
        // After the clock was turned back, the times are meaningless.
        guard Self.statuses.contains(status), start <= now, now < end, salt.count == KeyedHash.keyLength,
            Self.hash(of: key.headers, salt: Array(salt)) == sent
        else { return nil }
        let error = DownloadError(.httpStatus(status), url: url, responseHeaders: fields)
        return FailureMemory.Failure(
            error: .download(source: ImageSource.remote(url).description, error), from: start, until: end)
    }

    // MARK: - Keys

    static func diskKey(_ url: ExactString) -> CacheKey {
        var encoder = keyPrefix
        encoder.encode(url.text)
        return CacheKey(encoder, name: "\(url.text)@failure")
    }

    private static var keyPrefix: KeyEncoder {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.failure", version: 1)
        return encoder
    }

    /// Returns the key of a stored entry with its name, which is not stored; nil for the key of anything else.
    private static func complete(_ key: CacheKey) -> CacheKey? {
        let prefix = keyPrefix.bytes
        guard key.bytes.starts(with: prefix),
            let text = String(validating: key.bytes.dropFirst(prefix.count + MemoryLayout<Int>.size), as: UTF8.self)
        else { return nil }
        let complete = diskKey(ExactString(text))
        return complete == key ? complete : nil
    }

    /// Removes the entries whose failures happened until a moment.
    static func removeAll(from disk: DiskCache, until moment: Date) async {
        await disk.flush()
        for entry in await disk.entries() {
            guard let key = complete(entry.key) else { continue }
            if let stored = Self(decoding: entry.metadata), stored.from > moment.timeIntervalSinceReferenceDate {
                continue
            }
            await disk.remove(key)
        }
    }
}

extension FailureMemory.Key {
    /// Whether all users of a program may have the failure, so that it may be stored.
    var isForAll: Bool { user == nil && hooks == nil }
}

extension Coordinator {
    /// Forgets the failures of one URL, or all if it is nil, in memory and on the disks of the configuration.
    nonisolated func forgetFailures(_ url: URL?) {
        let now = configuration.clock.now
        let keepsOnDisk = configuration.rememberedFailures.keepsOnDisk
        let disks = keepsOnDisk ? [configuration.cache.disk, configuration.originalCache?.disk].compactMap { $0 } : []
        guard let url else {
            failures.forgetAll(now: now)
            guard !disks.isEmpty else { return }
            Task.detached(priority: .utility) {
                for disk in disks { await FailureEntry.removeAll(from: disk, until: now) }
            }
            return
        }
        let text = FailureMemory.Key.text(of: url)
        // The disk first: what a load finds there before is void once the memory has forgotten.
        for disk in disks { disk.removeSynchronously(FailureEntry.diskKey(text)) }
        failures.forget(url: text)
    }
}
