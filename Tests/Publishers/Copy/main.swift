import Foundation
import KVORuntime
import OpenCombine

final class Account: KVOObject {
  @Observed var balance = Decimal(0)
}

let account = Account()
let values = account.publisher(for: \.balance).map { "\($0)" }.sink { print($0) }
let changes = account.publisher(for: \.balance).didChange().sink { print("changed") }
account.balance = 2
values.cancel()
changes.cancel()
