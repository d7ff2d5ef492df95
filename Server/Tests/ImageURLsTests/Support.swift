import Foundation
import ImageURLs
import Testing

/// The source of all paths of these tests that do not care for it.
let picture = "http://example.com/a.jpg"

/// The job that imgproxy's options ask for, without a signature.
func imgproxy(
    _ options: String, _ configuration: ImgproxyURL.Configuration = ImgproxyURL.Configuration()
) throws -> ImageJob {
    try ImgproxyURL(keys: .imgproxy([], policy: .unsignedWithoutKeys), configuration: configuration)
        .job(at: "/_/\(options.isEmpty ? "" : options + "/")plain/\(picture)")
}

/// The job of a path behind imgproxy's signature.
func imgproxy(path: String, _ configuration: ImgproxyURL.Configuration = ImgproxyURL.Configuration()) throws -> ImageJob
{
    try ImgproxyURL(keys: .imgproxy([], policy: .unsignedWithoutKeys), configuration: configuration).job(
        at: "/_" + path)
}

/// The job of a path behind thumbor's `unsafe`.
func thumbor(_ path: String) throws -> ImageJob {
    try ThumborURL(keys: .thumbor([], policy: .unsafeAllowed)).job(at: "/unsafe/" + path)
}

/// The job of a plain URL with these words.
func plain(_ words: String) throws -> ImageJob {
    try PlainURL(keys: .imgproxy([], policy: .unsignedWithoutKeys)).job(at: "/\(words)/\(picture)")
}

/// The error that the work throws, `nil` if it does not.
func failure(of work: () throws -> some Any) -> ImageURLError? {
    do {
        _ = try work()
        return nil
    } catch {
        return error as? ImageURLError
    }
}

/// A job with these changes, for the picture of these tests.
func job(_ change: (inout ImageJob) -> Void = { _ in }) -> ImageJob {
    var job = ImageJob(source: picture)
    change(&job)
    return job
}

/// Answers of other programs, by `scripts/make-url-answers`.
struct Answers: Decodable {
    let thumbor: [[String]]
    let imgproxy: [[String]]
    let thumborPaths: [[String]]
    let hosts: [[String?]]

    static func read() throws -> Answers {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        let file = folder.deletingLastPathComponent().appendingPathComponent("Fixtures/url-answers.json")
        return try JSONDecoder().decode(Answers.self, from: Data(contentsOf: file))
    }
}
