@_exported import Halcyon
