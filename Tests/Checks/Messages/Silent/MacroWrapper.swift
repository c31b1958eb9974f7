// warns: MacroWrapper.swift:6:31: warning: @KVO: "width" is not observed, since @Clamped stands before it, beside which no other wrapper can; mark it @KVOIgnored if that is meant.
import KVORuntime

@propertyWrapper struct Clamped { var wrappedValue = 0 }

@KVO class Frame: KVOObject { @Clamped var width = 0 }
