import KleosConfig
import KleosDelivery
import KleosModel
import KleosServer
import KleosStore
import KleosSupport
import KleosWire
import Synchronization

/// Passes the server's requests about other parts on to the daemon, which is made after the server's hooks.
final class HookRelay: Sendable {
    private let holder = Mutex<Daemon?>(nil)

    /// Set once, before the server listens.
    var target: Daemon? {
        get { holder.withLock { $0 } }
        set { holder.withLock { $0 = newValue } }
    }

    private static let notReady = RPCError(.unavailable, "the daemon is starting; try again")

    /// Hooks that reach the daemon through this object.
    var hooks: ServerHooks {
        ServerHooks(
            endpointConditions: { [self] completion in
                guard let target else { return completion([]) }
                target.worker.async { completion($0.conditions()) }
            },
            pause: { [self] endpoint, reason, completion in
                guard let target else { return completion(.failure(Self.notReady)) }
                target.worker.async { $0.pause(endpoint, reason: reason) { completion(Self.result($0)) } }
            },
            resume: { [self] endpoint, completion in
                guard let target else { return completion(.failure(Self.notReady)) }
                target.worker.async { $0.resume(endpoint) { completion(Self.result($0)) } }
            },
            flush: { [self] endpoint, completion in
                guard let target else { return completion(.failure(Self.notReady)) }
                target.worker.async { worker in
                    worker.flush(endpoint)
                    completion(.success(()))
                }
            },
            reload: { [self] completion in
                guard let target else { return completion(.failure(Self.notReady)) }
                target.async { $0.reload(then: completion) }
            },
            register: { [self] catalog, completion in
                guard let target else { return completion(.failure(Self.notReady)) }
                target.async { $0.register(catalog, then: completion) }
            },
            configSettings: { [self] completion in
                guard let target else { return completion([]) }
                target.async { completion($0.configuration.settings) }
            })
    }

    private static func result(_ error: StoreError?) -> Result<Void, RPCError> {
        error.map { .failure(RPCError(.internalError, $0.description)) } ?? .success(())
    }
}
