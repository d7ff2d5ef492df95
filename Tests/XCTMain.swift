import Testing

/// The tests' program. With one of ours SwiftPM needs no index of the code, which it makes only to look for XCTest's tests,
/// and there are none.
@main
struct TestRunner {
    static func main() async {
        // `swift test` starts it once for each library of tests, XCTest's first.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
