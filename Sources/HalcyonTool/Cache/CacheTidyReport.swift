/// The output of the commands that remove entries.
struct CacheTidyReport: Encodable {
    let removedEntries: Int
    let removedBytes: Int

    func say(json: Bool) {
        Output.line(json ? Output.json(self) : "removed \(removedEntries) entries, \(removedBytes) bytes")
    }
}
