/// Reads `endpoints.d/*.conf`.
enum EndpointFile {
    /// What an endpoint's file is called in every folder of the search path.
    static func logicalName(_ name: String) -> String { "endpoints.d/\(name).conf" }
}
