import Testing
@testable import RedisStore
@Test func a() { }
