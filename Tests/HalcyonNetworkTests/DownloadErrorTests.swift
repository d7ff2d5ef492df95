import Foundation
import HalcyonNetwork
import Testing

struct DownloadErrorTests {
    static let reasons: [(DownloadError.Reason, String)] = [
        (.invalidURL("x"), "invalidRequest"), (.invalidRequest("x"), "invalidRequest"), (.offline, "offline"),
        (.connection(.refused), "connection"), (.connection(.hostNotFound), "connection"), (.timeout(.idle), "timeout"),
        (.tls("x"), "tls"), (.httpStatus(404), "httpStatus"), (.redirect(.loop), "redirect"),
        (.tooLarge(limit: 1), "tooLarge"), (.refusedAddress("10.0.0.1"), "refusedAddress"),
        (.incompleteBody(received: 1, expected: 2), "connection"),
        (.incompleteBody(received: 1, expected: nil), "connection"),
    ]

    @Test(arguments: reasons)
    func everyReasonHasItsCodeAndKeepsSecrets(_ reason: DownloadError.Reason, _ code: String) throws {
        let url = try #require(URL(string: "https://user:passw0rd@host.test:8443/a/b.jpg?token=s3cret#frag"))
        let error = DownloadError(reason, url: url, responseHeaders: ["Set-Cookie": "s3cret"])
        #expect(error.code == code)
        let texts = ["\(error)", String(reflecting: error), error.localizedDescription, error.description]
        for text in texts {
            #expect(text.hasPrefix("host.test:8443/a/b.jpg: "))
            for secret in ["passw0rd", "s3cret", "user", "token", "frag"] { #expect(!text.contains(secret)) }
        }
    }
}
