import KleosModel
import KleosSupport

/// An endpoint with the means to say where its settings stand.
struct LoadedEndpoint {
    let endpoint: Endpoint
    let section: SectionReader
}

/// Reads endpoints' files.
struct EndpointReader {
    let report: LoadReport
    let secrets: SecretReader

    /// The endpoint that `file` describes; problems are reported, and what they concern is at its default.
    func read(_ file: SettingsFile, fileName: String) -> LoadedEndpoint {
        let section = SectionReader(file, "Endpoint", report)
        var endpoint = Endpoint(name: section.value(EndpointFile.name, standard: fileName), url: "")
        checkName(endpoint.name, section)
        endpoint.url = section.value(EndpointFile.url) ?? ""
        endpoint.resend = section.value(EndpointFile.resend)
        endpoint.isAtLeastOnce = section.value(EndpointFile.atLeastOnce)
        endpoint.token = token(section)
        endpoint.allowsInsecure = section.value(EndpointFile.allowInsecure)
        checkTransport(endpoint, section)
        endpoint.certificateAuthorityFile = certificateAuthorities(section)
        readRetry(&endpoint, SectionReader(file, "Retry", report))
        readLimits(&endpoint, SectionReader(file, "Limits", report))
        return LoadedEndpoint(endpoint: endpoint, section: section)
    }

    private func checkName(_ name: String, _ section: SectionReader) {
        if let complaint = IdentifierRules.complaint(aboutName: name) {
            section.problem(EndpointFile.name.key, complaint)
        } else if name == "first" || name == "all" {
            section.problem(EndpointFile.name.key, "\"\(name)\" has a meaning of its own in Confirms=; choose another")
        }
    }

    private func checkTransport(_ endpoint: Endpoint, _ section: SectionReader) {
        guard let url = try? ServiceURL(endpoint.url), url.isPlain, !url.isLoopback, !endpoint.allowsInsecure else {
            return
        }
        section.problem(
            EndpointFile.url.key,
            "plain http leaves the machine unprotected; use https, or say AllowInsecure=yes in [Endpoint]")
    }

    private func token(_ section: SectionReader) -> Secret? {
        let file = section.value(EndpointFile.tokenFile)
        let credential = section.value(EndpointFile.tokenCredential)
        if !file.isEmpty && !credential.isEmpty {
            section.problem(EndpointFile.tokenCredential.key, "TokenFile= is set too; remove one of them")
            return nil
        }
        let key = file.isEmpty ? EndpointFile.tokenCredential.key : EndpointFile.tokenFile.key
        do throws(ValueError) {
            guard let found = try secret(file: file, credential: credential, section) else { return nil }
            section.note("Token", found.secret.description, .file(found.path), isSecret: true)
            return found.secret
        } catch {
            section.problem(key, error.message)
            return nil
        }
    }

    private func secret(
        file: String, credential: String, _ section: SectionReader
    ) throws(ValueError) -> (secret: Secret, path: String)? {
        if !credential.isEmpty { return try secrets.read(credential: credential) }
        if file.isEmpty { return nil }
        let place = section.file(ofKey: EndpointFile.tokenFile.key)
        return try secrets.read(file: FilePath.resolve(file, besideFile: place))
    }

    private func certificateAuthorities(_ section: SectionReader) -> String? {
        let setting = EndpointFile.certificateAuthorities
        let text = section.value(setting)
        guard !text.isEmpty else { return nil }
        let path = FilePath.resolve(text, besideFile: section.file(ofKey: setting.key))
        do throws(SystemError) {
            let bytes = try RegularFile.read(path, limitBytes: 16 << 20).bytes
            let marker = "-----BEGIN CERTIFICATE-----"
            if !String(decoding: bytes, as: UTF8.self).contains(marker) {
                section.problem(setting.key, "\(path) holds no certificate in PEM form")
            }
        } catch {
            section.problem(setting.key, error.description)
        }
        return path
    }

    private func readRetry(_ endpoint: inout Endpoint, _ section: SectionReader) {
        let base = section.value(EndpointFile.base)
        let cap = section.value(EndpointFile.cap)
        if cap < base {
            section.problem(EndpointFile.cap.key, "is less than Base=\(DurationText.text(base))")
        } else {
            endpoint.retry = RetryPolicy(baseMilliseconds: base, capMilliseconds: cap)
        }
        endpoint.maximumAgeMilliseconds = section.value(EndpointFile.maximumAge)
        endpoint.whenOlder = section.value(EndpointFile.whenOlder)
        endpoint.maximumServerErrors = section.value(EndpointFile.maximumServerErrors)
        endpoint.throttleScope = section.value(EndpointFile.throttleScope)
    }

    private func readLimits(_ endpoint: inout Endpoint, _ section: SectionReader) {
        endpoint.maximumInFlight = section.value(EndpointFile.inFlight)
        endpoint.requestsPerMinute = section.value(EndpointFile.requestsPerMinute)
        endpoint.connectTimeoutMilliseconds = section.value(EndpointFile.connectTimeout)
        endpoint.timeoutMilliseconds = section.value(EndpointFile.timeout)
        if endpoint.timeoutMilliseconds < endpoint.connectTimeoutMilliseconds {
            section.problem(
                EndpointFile.timeout.key,
                "is less than ConnectTimeout=\(DurationText.text(endpoint.connectTimeoutMilliseconds))")
        }
        endpoint.maximumAnswerBytes = Int(section.value(EndpointFile.maximumAnswer))
    }
}
