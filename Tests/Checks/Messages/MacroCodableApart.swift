// says: error: type 'Account' does not conform to protocol 'Encodable'
import KVORuntime

@KVO final class Account: KVOObject { var balance = 0.0 }

extension Account: Encodable {}
