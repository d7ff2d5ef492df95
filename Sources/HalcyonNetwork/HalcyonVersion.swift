/// The library's version, as servers are told it.
package enum HalcyonVersion {
    package static let current = "0.1.0"
}
