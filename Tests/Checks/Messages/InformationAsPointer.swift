// quoted: cannot assign value of type 'ObservationInfo?' to type 'UnsafeMutableRawPointer?'
import KVORuntime

func f(_ object: KVOObject) -> Bool {
  let p: UnsafeMutableRawPointer? = object.observationInfo
  return p != nil
}
