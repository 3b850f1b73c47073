package import KleosConfig
package import KleosModel
import KleosSupport
package import KleosWire

/// What the server asks of other parts of the daemon; each closure calls its completion once, on any queue.
package struct ServerHooks: Sendable {
    /// Called with what a request came to.
    package typealias Completion<Value> = @Sendable (Result<Value, RPCError>) -> Void

    /// How the endpoints are doing.
    package var endpointConditions: @Sendable (@escaping @Sendable ([EndpointCondition]) -> Void) -> Void
    /// Pauses an endpoint, with a reason for people.
    package var pause: @Sendable (_ endpoint: String, _ reason: String, @escaping Completion<Void>) -> Void
    /// Lets a paused endpoint go on.
    package var resume: @Sendable (_ endpoint: String, @escaping Completion<Void>) -> Void
    /// Tries everything now, at one endpoint or, with nil, at all.
    package var flush: @Sendable (_ endpoint: String?, @escaping Completion<Void>) -> Void
    /// Reads the configuration again; gives the changed settings, a line each. Fails with reason `reload-failed`.
    package var reload: @Sendable (@escaping Completion<[String]>) -> Void
    /// Takes a game's own catalog, the text of a file.
    package var register: @Sendable (_ catalog: String, @escaping Completion<RegisterAnswer>) -> Void
    /// The settings in effect.
    package var configSettings: @Sendable (@escaping @Sendable ([EffectiveSetting]) -> Void) -> Void

    /// Whether the machine has an address other than its own.
    package var hasNetwork: @Sendable () -> Bool

    /// Makes hooks.
    package init(
        endpointConditions: @escaping @Sendable (@escaping @Sendable ([EndpointCondition]) -> Void) -> Void,
        pause: @escaping @Sendable (String, String, @escaping Completion<Void>) -> Void,
        resume: @escaping @Sendable (String, @escaping Completion<Void>) -> Void,
        flush: @escaping @Sendable (String?, @escaping Completion<Void>) -> Void,
        reload: @escaping @Sendable (@escaping Completion<[String]>) -> Void,
        register: @escaping @Sendable (String, @escaping Completion<RegisterAnswer>) -> Void,
        configSettings: @escaping @Sendable (@escaping @Sendable ([EffectiveSetting]) -> Void) -> Void,
        hasNetwork: @escaping @Sendable () -> Bool = LocalNetwork.hasAddress
    ) {
        self.endpointConditions = endpointConditions
        self.pause = pause
        self.resume = resume
        self.flush = flush
        self.reload = reload
        self.register = register
        self.configSettings = configSettings
        self.hasNetwork = hasNetwork
    }
}
