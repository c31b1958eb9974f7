// says: MacroSeveralVariables.swift:5:30: error: @KVO: a declaration of several variables can't be observed; declare each by itself, or mark it @KVOIgnored.
// quoted: @KVO: a declaration of several variables can't be observed; declare each by itself, or mark it @KVOIgnored.
import KVORuntime

@KVO class Size: KVOObject { var width = 1, height = 2 }
