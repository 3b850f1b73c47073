import KleosDaemon

DaemonProgram.run(Array(CommandLine.arguments.dropFirst()))
