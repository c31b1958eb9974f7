// warns: MacroLazy.swift:4:31: warning: @KVO: setting "cells" notifies no observer, since it is lazy, and Swift has no lazy properties with accessors; change it inside withChange(forKey:), and mark it @KVOIgnored.
import KVORuntime

@KVO class Sheet: KVOObject { lazy var cells = [Int](repeating: 0, count: 9) }
