public import CKVORuntime

// What the accessors call that the macro `@KVO` makes for weak and unowned properties (Q3).

extension KVOObject {
  /// Called by the getters that the macro `@KVO` makes, of properties that have no wrapper: who tracks reads is told that
  /// the key is read. Any thread.
  @inlinable @inline(__always)
  public final func _readsKey(_ key: StaticString) {
    if _slowPath(kvo_is_recording()) { tellRead(of: key) }
  }

  @usableFromInline @inline(never)
  final func tellRead(of key: StaticString) {
    tellRead(KeyName.of("\(key)").interned)
  }
}
