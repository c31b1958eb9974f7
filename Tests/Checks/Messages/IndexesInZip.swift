// quoted: global function 'zip' requires that 'RangeSet<Int>' conform to 'Sequence'
import KVORuntime

func show(_ entries: [String], _ indexes: RangeSet<Int>) {
  for (entry, index) in zip(entries, indexes) { print(entry, index) }
}
