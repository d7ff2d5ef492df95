/// What the tidying commands say.
struct CacheTidyReport: Encodable {
    let removedEntries: Int
    let removedBytes: Int

    func say(json: Bool) {
        Output.line(json ? Output.json(self) : "removed \(removedEntries) entries, \(removedBytes) bytes")
    }
}
