import Foundation
import HalcyonImage

/// A question to a worker, whichever it is.
struct WorkerQuestion {
    let work: WorkerRequest.Work
    let file: IsolatedFile
    let options: DecodeOptions
    /// The number of the request.
    let number: Int
    /// The memory that the work may take, in bytes.
    var bytes = 0
    /// The number of the request that has planned a decode; 0 for none.
    var plan = 0
    /// The most memory that a decode without a plan may take, in bytes; 0 for one that has a plan.
    var mostBytes = 0
    /// The animation of the frames, or the file that arrives.
    var session: WorkerSession?
    var frames = 0..<0
    /// The number of bytes that the worker which keeps an arriving file has of it.
    var arrived = 0
    var showsThumbnail = false
    /// Whether the file is not complete: the plan, or the frames, of a preview.
    var isArriving = false
    /// The rewriting of the file in another format.
    var transcode: TranscodePlan?
    /// The bytes of the gain map that a planned decode has beside its pixels.
    var gainMapBytes = 0

    init(_ work: WorkerRequest.Work, _ file: IsolatedFile, _ options: DecodeOptions) {
        (self.work, self.file, self.options) = (work, file, options)
        number = file.workers.nextNumber()
    }

    /// The most bytes behind the pixels: durations, a profile if colours are not converted, and a gain map; a file that
    /// is rewritten has no pixels.
    var mostExtraBytes: Int {
        if let transcode { return transcode.workingBytes }
        guard work == .decode || work == .preview else { return 0 }
        let profiles = (options.color == .sRGB && !options.decodesGainMap ? 0 : 1) + (gainMapBytes > 0 ? 1 : 0)
        let profile = 0.adding(profiles, times: options.limits.maximumMetadataBytes)
        return min(profile.adding(8, times: options.limits.maximumFrames), WorkerResult.mostExtraBytes)
            .adding(1, times: gainMapBytes)
    }

    /// Whether the worker keeps the plan for a later decode.
    var makesPlan: Bool { work == .plan || mostBytes > 0 }

    /// Whether the worker has the file from an earlier question, with its plan, its frames or its beginning.
    func isKnown(to worker: WorkerProcess) -> Bool {
        if let session { return worker.keeps(session.number) }
        return plan > 0 && worker.hasPlanned(plan)
    }

    /// The bytes to send: the whole file, what is new of one that arrives, or nil.
    func data(isKnown: Bool) -> Data? {
        guard isKnown else { return file.data }
        return work == .preview ? file.data.dropFirst(arrived) : nil
    }
}

/// An animation or an arriving file that a worker keeps between two requests.
struct WorkerSession {
    let number: Int
    /// The bytes that it keeps.
    let cost: Int
}
