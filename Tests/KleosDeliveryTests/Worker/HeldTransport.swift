import KleosDelivery
import KleosJSON
import Synchronization

/// A transport that confirms a request only when a test says so, and remembers what was in flight together.
final class HeldTransport: Transport {
    /// The most that was in flight at any moment.
    struct Report: Sendable {
        var mostAtOnce = 0
        var mostOfOneStream = 0
    }

    private struct Held: Sendable {
        var player: String
        var request: TransportRequest
    }

    private struct State {
        var held: [Held] = []
        var report = Report()
    }

    private let state = Mutex(State())
    private let arrived = Watched(0)
    private let end = EndHandler()

    var report: Report { state.withLock { $0.report } }

    func setEndHandler(_ handler: @escaping @Sendable ([TransportEnd]) -> Void) { end.set(handler) }

    func send(_ requests: [TransportRequest]) {
        for request in requests { hold(request) }
    }

    private func hold(_ request: TransportRequest) {
        let player = (try? JSONParser.parse(request.body))?["player"]?.stringValue ?? ""
        state.withLock { state in
            state.held.append(Held(player: player, request: request))
            state.report.mostAtOnce = max(state.report.mostAtOnce, state.held.count)
            let same = state.held.count { $0.player == player }
            state.report.mostOfOneStream = max(state.report.mostOfOneStream, same)
        }
        arrived.change { $0 += 1 }
    }

    /// Waits until something is in flight; false where nothing is within half a minute.
    func waitForOne() -> Bool { arrived.wait { $0 > 0 } }

    /// Confirms what has been in flight for longest.
    func answerOne() {
        let first = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
        guard let first else { return }
        arrived.change { $0 -= 1 }
        end(
            first.request,
            TransportResult(
                answer: .success(TransportAnswer(status: 200, body: Array(#"{"accepted":true}"#.utf8))),
                didSendRequest: true, durationMilliseconds: 1))
    }

    func cancelAll() {
        let all = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for held in all {
            end(
                held.request,
                TransportResult(
                    answer: .failure(TransportFailure(.cancelled, "interrupted")), didSendRequest: true,
                    durationMilliseconds: 1))
        }
    }

    func dropConnections() {}
}
