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
        case .kill, .powerCut: 3
        case .killDuringWrite: 5
        case .stop: 1
        case .diskFull, .slowDisk, .diskError: 2
        case .mood: 40
        case .network: 8
        case .suspend, .clockStep: 3
        case .reload: 3
        case .operatorActs: 10
        }
    }
}
