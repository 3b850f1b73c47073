import KleosDelivery
import KleosModel
import KleosSupport
import KleosTestSupport
import Testing

@Suite(.enabled(if: TestCertificate.isAvailable, TestCertificate.need), .timeLimit(.minutes(30)))
struct CertificateTests {
    private static let whole = RawServer.Reply.answer(.http("200 OK", body: accepted))

    private func failure(_ certificate: TestCertificate, trusting: Bool) throws -> TransportFailure {
        let server = try RawServer([Self.whole], tls: TLSContext(certificate))
        let request = post(server.url, certificateAuthorityFile: trusting ? certificate.authorityFile : nil)
        let exchange = sharedLine.begin(request)
        #expect(try !exchange.result().didSendRequest, "nothing is sent to a stranger")
        #expect(server.requests.isEmpty)
        return try exchange.failure()
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var from = "20200101000000Z"
        var to = "20900101000000Z"
        var name = "IP:127.0.0.1"
        var hasAuthority = false
        var sendsAuthority = false
        var isTrusted = true
        var kind = TransportFailure.Kind.tls
        var words: String
    }

    @Test(
        "S-52: a wrong certificate is named, and nothing is sent",
        arguments: [
            Row(testDescription: "expired", to: "20210101000000Z", kind: .certificateExpired, words: "has expired"),
            Row(
                testDescription: "of the future", from: "20890101000000Z", kind: .certificateNotYetValid,
                words: "not valid yet"),
            Row(
                testDescription: "expired, of an authority", to: "20210101000000Z", hasAuthority: true,
                kind: .certificateExpired, words: "has expired"
            ),
            Row(testDescription: "for another host", name: "DNS:other.example", words: "127.0.0.1"),
            Row(testDescription: "for another address", name: "IP:127.0.0.2", words: "127.0.0.1"),
            Row(testDescription: "self-signed", isTrusted: false, words: "self-signed"),
            Row(testDescription: "of an unknown authority", hasAuthority: true, isTrusted: false, words: "nobody"),
            Row(
                testDescription: "of an unknown authority that comes with it", hasAuthority: true, sendsAuthority: true,
                isTrusted: false, words: "nobody"),
        ])
    func aWrongCertificateIsNamedAndNothingIsSent(_ row: Row) throws {
        let certificate = try TestCertificate(
            from: row.from, to: row.to, name: row.name, hasAuthority: row.hasAuthority,
            sendsAuthority: row.sendsAuthority)
        let failure = try failure(certificate, trusting: row.isTrusted)
        #expect(failure.kind == row.kind)
        #expect(failure.message.contains(row.words), "\(failure.message)")
    }

    @Test func aMendedFileOfAuthoritiesCountsFromTheNextConnectionOn() throws {
        let (old, new) = (try TestCertificate(hasAuthority: true), try TestCertificate(hasAuthority: true))
        let server = try RawServer([Self.whole], tls: TLSContext(new))
        let request = post(server.url, certificateAuthorityFile: old.authorityFile)
        #expect(try sharedLine.begin(request).failure().kind == .tls)
        try SmallFile.replace(old.authorityFile, with: SmallFile.read(at: new.authorityFile))
        #expect(try sharedLine.begin(request).answer().status == 200)
    }

    @Test(arguments: [false, true])
    func whatIsNamedAsAnAuthorityIsTrusted(_ hasAuthority: Bool) throws {
        let certificate = try TestCertificate(hasAuthority: hasAuthority)
        let server = try RawServer([Self.whole], tls: TLSContext(certificate))
        let request = post(server.url, certificateAuthorityFile: certificate.authorityFile)
        #expect(try sharedLine.begin(request).answer().status == 200)
    }
}
