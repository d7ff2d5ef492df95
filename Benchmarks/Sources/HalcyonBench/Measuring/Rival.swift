/// Another program that does the same operation.
struct Rival: Sendable {
    let name: String
    /// The method, in a few words.
    let note: String
    /// Whether it does equivalent work; a rival that does less is only listed.
    let isAlike: Bool
    let run: @Sendable () throws -> Sample
    /// Returns the similarity of its result to Halcyon's in decibels; nil if it is not compared.
    let likeness: @Sendable () throws -> Double?
}
