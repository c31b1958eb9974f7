// says: error: @KVO: Account has to inherit from KVOObject, or from a class that does.
// quoted: @KVO: Account has to inherit from KVOObject, or from a class that does.
import KVORuntime

@KVO final class Account { var balance = 0.0 }
