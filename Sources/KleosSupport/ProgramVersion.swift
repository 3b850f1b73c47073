/// The version of kleos.
package enum ProgramVersion {
    /// The same for all programs; `packaging/debian/changelog` begins with it.
    package static let text = "0.1.0"
}
