// quoted: cannot convert value of type '[Int]' to specified type 'RangeSet<Int>'
import KVORuntime

let indexes: RangeSet<Int> = [0, 2]
