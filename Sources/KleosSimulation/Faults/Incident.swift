/// Something that goes wrong, or at least happens, in a simulated machine.
enum Incident: String, CaseIterable {
    case kill
    case killDuringWrite = "kill-during-write"
    case powerCut = "power-cut"
    case stop
    case diskFull = "disk-full"
    case diskError = "disk-error"
    case slowDisk = "slow-disk"
    case mood
    case network
    case suspend
    case clockStep = "clock-step"
    case reload
    case operatorActs = "operator"

    /// How many of it happen in a simulated week, about, where the seed chooses it at all.
    var perWeek: Int {
        switch self {
        case .kill, .powerCut: 8
        case .killDuringWrite: 12
        case .stop: 3
        case .diskFull, .slowDisk, .diskError: 4
        case .mood: 80
        case .network: 20
        case .suspend, .clockStep: 6
        case .reload: 8
        case .operatorActs: 25
        }
    }
}
