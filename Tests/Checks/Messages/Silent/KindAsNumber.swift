import KVORuntime

func kind(_ change: [NSKeyValueChangeKey: Any]) -> NSKeyValueChange? {
  NSKeyValueChange(rawValue: change[.kindKey] as! UInt)
}
