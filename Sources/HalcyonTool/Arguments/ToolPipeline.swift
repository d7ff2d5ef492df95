import Halcyon

extension ImagePipeline {
    /// Makes the pipeline of a command. The files of strangers are decoded by workers without rights.
    static func ofTool(disk: DiskCache? = nil) -> ImagePipeline {
        var configuration = Configuration(cache: ImageCache(disk: disk))
        configuration.isolation = .ofTool
        return ImagePipeline(configuration: configuration)
    }
}

extension DecodeIsolation {
    /// The isolation of everything that the tool decodes.
    static let ofTool = DecodeIsolation.isolated()
}
