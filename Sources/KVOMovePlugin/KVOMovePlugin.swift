/// `swift package kvo-move`: runs the program with the command's arguments, in the package's folder. Plugins have no
/// terminal, so it can't ask before it writes: `swift package --allow-writing-to-package-directory kvo-move --write
/// FOLDER`.
/// No rule of Behaviour is kept here.
import Foundation
import PackagePlugin

@main
struct KVOMovePlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let process = Process()
    process.executableURL = try context.tool(named: "kvo-move").url
    process.arguments = arguments
    process.currentDirectoryURL = context.package.directoryURL
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      Diagnostics.error("kvo-move ended with status \(process.terminationStatus)")
    }
  }
}
