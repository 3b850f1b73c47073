import KleosWire

/// The daemon at the other end.
public struct KleosDaemonInfo: Sendable, Equatable {
    /// Its version.
    public let version: String
    /// The version of its protocol; grows with each change that an older client would misread.
    public let protocolVersion: Int64
    /// What it can do beyond the first version of the protocol.
    public let features: [String]

    init(_ answer: HelloAnswer) {
        version = answer.version
        protocolVersion = answer.protocolNumber
        features = answer.features
    }
}
