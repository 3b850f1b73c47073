/// Why a measurement could not be made, for people.
package struct BenchFailure: Error, CustomStringConvertible {
    package let description: String

    /// Makes a failure from what happened, to what.
    package init(_ description: String) {
        self.description = description
    }
}
