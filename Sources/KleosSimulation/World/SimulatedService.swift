import KleosDelivery
import KleosModel

/// A service on the other side of the network.
final class SimulatedService {
    let name: String
    let resend: ResendEffect
    var mood = Mood.up
    private(set) var book = ServiceBook()
    /// Keys that were answered with a refusal that ends a delivery, rightly or wrongly.
    private(set) var refusals: Set<String> = []
    /// Answers of 5xx by key.
    private(set) var serverErrors: [String: Int] = [:]

    init(name: String, resend: ResendEffect) {
        self.name = name
        self.resend = resend
    }

    /// Acts on a request that arrived and says what the client is answered; nil where the answer is lost.
    func receive(_ arrival: ServiceBook.Arrival, _ reply: Fate.Reply) -> TransportAnswer? {
        switch reply {
        case .honest:
            let (status, body) = book.take(arrival, resend: resend)
            if status != 200 { refusals.insert(arrival.key) }
            return answer(status, body)
        case .other(let status, let body, let retryAfter, let acts):
            if acts { _ = book.take(arrival, resend: resend) }
            if status >= 500 { serverErrors[arrival.key, default: 0] += 1 }
            if (400..<500).contains(status), status != 401, status != 429 { refusals.insert(arrival.key) }
            return answer(status, body, retryAfter: retryAfter)
        case .lost(let acts):
            // Takes effect without an answer that says so.
            if acts { _ = book.take(arrival, resend: resend) }
            return nil
        }
    }

    private func answer(_ status: Int, _ body: String, retryAfter: String? = nil) -> TransportAnswer {
        TransportAnswer(
            status: status, body: Array(body.utf8),
            contentType: body.hasPrefix("<") ? "text/html" : "application/json", retryAfter: retryAfter)
    }
}
