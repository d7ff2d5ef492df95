import Foundation
import Testing

@testable import HalcyonCache

@Suite struct StorageExpirationTests {
    let now = Date(timeIntervalSince1970: 1_000_000)

    @Test func lifetimes() {
        #expect(StorageExpiration.never.lifetime(from: now) == .infinity)
        #expect(StorageExpiration.seconds(1.5).lifetime(from: now) == 1.5)
        #expect(StorageExpiration.seconds(.nan).lifetime(from: now) == 0)
        #expect(StorageExpiration.days(2).lifetime(from: now) == 172_800)
        #expect(StorageExpiration.date(now.addingTimeInterval(7)).lifetime(from: now) == 7)
        #expect(StorageExpiration.expired.lifetime(from: now) == 0)
    }

    @Test func fileTimesStayWithinWhatFileSystemsKeep() {
        #expect(FileTime(Date(timeIntervalSince1970: 1.25)) == FileTime(seconds: 1, nanoseconds: 250_000_000))
        #expect(FileTime(.distantPast) == FileTime(seconds: 0))
        #expect(FileTime(.distantFuture) == .latest)
        #expect(FileTime(Date(timeIntervalSince1970: .infinity)) == .latest)
        #expect(FileTime(seconds: 1, nanoseconds: 2) < FileTime(seconds: 1, nanoseconds: 3))
    }
}
