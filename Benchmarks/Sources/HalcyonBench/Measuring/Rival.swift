/// Another program that does what Halcyon does.
struct Rival: Sendable {
    let name: String
    /// How it does it, in a few words.
    let note: String
    /// Whether it does the same work; what does less is only listed.
    let isAlike: Bool
    let run: @Sendable () throws -> Sample
    /// How like its result is to Halcyon's, in decibels; nil where nobody looked.
    let likeness: @Sendable () throws -> Double?
}
