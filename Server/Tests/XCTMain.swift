import Foundation
import Testing

/// The tests' program. With one of ours SwiftPM needs no index of the code, which it makes only to look for XCTest's tests,
/// and there are none.
///
/// `scripts/test` starts it with the arguments of Swift Testing. A `swift test` without arguments runs all tests as well; one
/// with a filter asks for XCTest's, and is pointed to those that there are.
@main
struct TestRunner {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.isEmpty || arguments.contains("swift-testing") else {
            let text = "These are no tests of XCTest's: run scripts/test, such as scripts/test --filter NAME.\n"
            FileHandle.standardError.write(Data(text.utf8))
            exit(1)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
