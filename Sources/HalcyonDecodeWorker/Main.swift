import Foundation
import HalcyonCodecs

/// The decode worker of programs that have none of their own: `halcyon-decode-worker`. `DecodeWorkers` starts it.
@main
private enum Main {
    static func main() {
        DecodeWorker.runIfAsked()
        let advice = "halcyon-decode-worker is started by programs that decode images with Halcyon, not by hand\n"
        FileHandle.standardError.write(Data(advice.utf8))
        exit(2)
    }
}
