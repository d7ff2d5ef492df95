import ArgumentParser
import Foundation

/// The destination that `-o` names.
enum OutputDestination: Sendable {
    case none
    case standardOutput
    case file(String)
    case folder(String)

    /// Parses the argument: a folder if the path is one, ends in a slash, or there are several sources; otherwise a file.
    ///
    /// - Throws: `ValidationError` if the argument is empty, or does not suit several sources.
    init(_ argument: String?, sourceCount: Int) throws {
        guard let argument else {
            self = .none
            return
        }
        if argument == "-" {
            guard sourceCount == 1 else { throw ValidationError("-o - takes one source.") }
            self = .standardOutput
            return
        }
        guard !argument.isEmpty else { throw ValidationError("-o is empty.") }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: argument, isDirectory: &isFolder)
        if exists, !isFolder.boolValue, sourceCount > 1 {
            throw ValidationError("-o \(argument) is a file; several sources need a folder.")
        }
        self = argument.hasSuffix("/") || isFolder.boolValue || sourceCount > 1 ? .folder(argument) : .file(argument)
    }

    var isStandardOutput: Bool {
        if case .standardOutput = self { true } else { false }
    }
}
