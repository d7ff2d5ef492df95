@_exported import HalcyonCache
@_exported import HalcyonCodecs
@_exported import HalcyonImage
@_exported import HalcyonNetwork
@_exported import HalcyonProcessing
@_exported import HalcyonSystem
