import KleosDelivery
import KleosModel
import KleosSupport

/// The network between a daemon and the services, in place of libcurl.
///
/// Sendable because everything that touches it runs on the schedule's one thread.
final class SimulatedTransport: Transport, @unchecked Sendable {
    private let world: World
    private let life: Life
    private var flights: [Int: Flight] = [:]
    private var nextNumber = 0
    private var endHandler: (@Sendable ([TransportEnd]) -> Void)?

    /// A request on its way.
    private struct Flight {
        var request: Int
        var arrival: ServiceBook.Arrival
        var service: SimulatedService
        var fate: Fate
        var hasArrived = false
        var startedMilliseconds: Int64
    }

    init(_ world: World, life: Life) {
        self.world = world
        self.life = life
    }

    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) { endHandler = handler }

    func send(_ requests: [TransportRequest]) {
        for request in requests { send(request) }
    }

    private func send(_ request: TransportRequest) {
        let url = request.route.url
        guard let service = world.service(at: url), let arrival = ServiceBook.read(request.body) else {
            return world.violate("a request that no service understands: \(url)")
        }
        let number = nextNumber
        nextNumber += 1
        let fate = service.mood.fate(world.schedule)
        flights[number] = Flight(
            request: request.number, arrival: arrival, service: service, fate: fate,
            startedMilliseconds: world.schedule.milliseconds)
        world.trace("send \(arrival.key.suffix(8)) to \(service.name) \(service.mood.rawValue)")
        world.traffic.sent(arrival, to: service.name, request: request)
        begin(number, fate, timeoutMilliseconds: request.route.timeoutMilliseconds)
    }

    private func begin(_ number: Int, _ fate: Fate, timeoutMilliseconds: Int64) {
        if let failure = fate.failure {
            return later(fate.arrivesAfterMilliseconds) {
                $0.finish(number, .failure(Self.failure(failure)), didSend: false)
            }
        }
        // What arrives after its time-out would overtake what was sent later, which no client can prevent.
        later(min(fate.arrivesAfterMilliseconds, timeoutMilliseconds)) { $0.arrive(number) }
        later(timeoutMilliseconds) {
            $0.finish(number, .failure(TransportFailure(.timeout, "no answer in time")), didSend: true)
        }
    }

    private func later(_ delay: Int64, _ work: @escaping (SimulatedTransport) -> Void) {
        world.schedule.after(delay, life) { [weak self] in
            if let self { work(self) }
        }
    }

    private func arrive(_ number: Int) {
        guard var flight = flights[number] else { return }
        flight.hasArrived = true
        flights[number] = flight
        let answer = flight.service.receive(flight.arrival, flight.fate.reply)
        later(flight.fate.answersAfterMilliseconds) { transport in
            guard let answer else {
                return transport.finish(
                    number, .failure(TransportFailure(.broken, "the connection broke")), didSend: true)
            }
            transport.finish(number, .success(answer), didSend: true)
        }
    }

    private static func failure(_ name: String) -> TransportFailure {
        TransportFailure(TransportFailure.Kind(rawValue: name) ?? .broken, "simulated: \(name)")
    }

    private func finish(_ number: Int, _ answer: Result<TransportAnswer, TransportFailure>, didSend: Bool) {
        guard let flight = flights.removeValue(forKey: number) else { return }
        let key = flight.arrival.key
        if case .success(let answer) = answer { world.traffic.answered(flight.service.name, answer) }
        world.trace("end \(key.suffix(8)) at \(flight.service.name): \(Self.words(answer))")
        world.traffic.ended(flight.arrival, at: flight.service.name)
        let duration = world.schedule.milliseconds - flight.startedMilliseconds
        let result = TransportResult(answer: answer, didSendRequest: didSend, durationMilliseconds: duration)
        endHandler?([TransportEnd(number: flight.request, result)])
    }

    private static func words(_ answer: Result<TransportAnswer, TransportFailure>) -> String {
        switch answer {
        case .success(let answer): "\(answer.status) \(answer.retryAfter ?? "")"
        case .failure(let failure): failure.kind.rawValue
        }
    }

    func cancelAll() {
        for number in flights.keys.sorted() {
            end(number, TransportFailure(.cancelled, "the daemon stops"))
        }
    }

    func dropConnections() {
        for number in flights.keys.sorted() where world.schedule.chance(oneIn: 3) {
            end(number, TransportFailure(.broken, "the network changed"))
        }
    }

    private func end(_ number: Int, _ failure: TransportFailure) {
        guard let flight = flights[number] else { return }
        cutOff(number)
        finish(number, .failure(failure), didSend: flight.fate.failure == nil)
    }

    /// The process is gone: what was on its way arrives now or never.
    func die() {
        for number in flights.keys.sorted() {
            cutOff(number)
            flights[number] = nil
        }
    }

    private func cutOff(_ number: Int) {
        guard let flight = flights[number], !flight.hasArrived, flight.fate.failure == nil,
            world.schedule.chance(oneIn: 2)
        else { return }
        _ = flight.service.receive(flight.arrival, flight.fate.reply)
    }
}
