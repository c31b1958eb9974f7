// says: error: @KVO is for classes, which inherit from KVOObject: only they can be observed.
// quoted: @KVO is for classes, which inherit from KVOObject: only they can be observed.
import KVORuntime

@KVO struct Account { var balance = 0.0 }
