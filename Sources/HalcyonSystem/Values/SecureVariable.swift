import CHalcyonSystem

/// A variable of the environment that leads to code which is run.
package enum SecureVariable {
    /// Returns its value; nil if it is not set, or if this program runs with rights that its user does not have.
    package static func value(of name: String) -> String? {
        halcyon_secure_variable(name).map { String(cString: $0) }
    }
}
