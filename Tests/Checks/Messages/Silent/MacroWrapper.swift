// warns: MacroWrapper.swift:6:31: warning: @KVO: "width" is not observed, since it has the wrapper @Clamped, and @KVO can't add a second one; mark it @KVOIgnored if that is intended.
import KVORuntime

@propertyWrapper struct Clamped { var wrappedValue = 0 }

@KVO class Frame: KVOObject { @Clamped var width = 0 }
