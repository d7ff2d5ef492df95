/// The options that a request was given, whatever their values: a pipeline's defaults leave them alone.
struct GivenOptions: OptionSet, Sendable {
    let rawValue: UInt8

    static let processors = GivenOptions(rawValue: 1)
    static let decode = GivenOptions(rawValue: 2)
    static let cache = GivenOptions(rawValue: 4)
    static let priority = GivenOptions(rawValue: 8)
    static let alternatives = GivenOptions(rawValue: 16)
    static let wantsPreviews = GivenOptions(rawValue: 32)
    static let wantsEveryPreview = GivenOptions(rawValue: 64)
}
