/// All commands: parsing, help, man pages and completions come from this list.
package enum CommandTable {
    /// The commands, in the order of the help.
    package static let commands: [CommandSpecification] = [
        SubmitScoreCommand.specification, SubmitAchievementCommand.specification, SubmitLinesCommand.specification,
        ListCommand.specification, ShowCommand.specification, WatchCommand.specification,
        StatusCommand.specification, StandingCommand.specification, RegisterCommand.specification,
        NoticesCommand.specification, OpenCommand.specification,
        AgentCommand.specification, RetryCommand.specification, HoldCommand.specification,
        ReleaseCommand.specification, DiscardCommand.specification, PauseCommand.specification,
        ResumeCommand.specification, FlushCommand.specification, ReloadCommand.specification,
        BackupCommand.specification, SalvageCommand.specification,
        ForgetCommand.specification, AdoptCommand.specification, ResetCommand.specification,
        ExportCommand.specification, ImportCommand.specification,
        PracticeCommand.specification,
        ConfigCheckCommand.specification, ConfigShowCommand.specification, VersionCommand.specification,
        CompletionsCommand.specification, HelpCommand.specification,
    ]
}
