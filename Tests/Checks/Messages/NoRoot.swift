// quoted: error: static subscript 'subscript(_enclosingInstance:wrapped:storage:)' requires that 'Account' inherit from 'KVOObject'
import KVORuntime

class Account {
  @Observed var balance = 0.0
}
