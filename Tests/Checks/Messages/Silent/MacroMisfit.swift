// warns: MacroMisfit.swift:5:8: warning: @KVO: this method is not used for "songs", since it returns UInt, and not Int.
import KVORuntime

@KVO class Album: KVOObject {
  func countOfSongs() -> UInt { 1 }
  func objectInSongs(at index: Int) -> String { "Song \(index)" }
}
