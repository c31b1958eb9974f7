// quoted: for-in loop requires 'RangeSet<Int>' to conform to 'Sequence'
import KVORuntime

func show(_ indexes: RangeSet<Int>) {
  for index in indexes { print(index) }
}
