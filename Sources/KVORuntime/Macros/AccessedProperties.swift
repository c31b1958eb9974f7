public import CKVORuntime

// What the accessors call that the macro `@KVO` makes for properties that take no wrapper (Q3, Q6).

/// A change of a property that takes no wrapper, from `_beginChange` to `_endChange`.
@frozen
public struct _OpenChange {
  // Nil if no observer can be notified.
  @usableFromInline let frame: OpaquePointer?

  @inlinable
  init(_ frame: OpaquePointer?) { self.frame = frame }
}

extension KVOObject {
  /// Notes that the key is read, for whatever tracks reads. Any thread.
  @inlinable @inline(__always)
  public final func _readsKey(_ key: StaticString) {
    if _slowPath(kvo_is_recording()) { tellRead(of: key) }
  }

  /// Opens an automatic change of the key. Any thread.
  /// - Returns: what `_endChange` takes, on the same thread.
  @inlinable @inline(__always)
  public final func _beginChange(_ key: StaticString) -> _OpenChange {
    let isObserved = _slowPath(kvo_binding_is_observed(headerAddress(of: self)))
    return _OpenChange(isObserved ? openChange(of: key) : nil)
  }

  /// Opens an automatic change of a key whose property is stored by a superclass, in any way. Any thread.
  /// - Returns: what `_endChange` takes, on the same thread.
  @inlinable @inline(__always)
  public final func _beginOverride(_ key: StaticString) -> _OpenChange {
    let isObserved = _slowPath(kvo_binding_is_observed(headerAddress(of: self)))
    return _OpenChange(isObserved ? openOverride(of: key) : nil)
  }

  /// Closes a change and notifies observers, also those that another thread has registered since it was opened.
  @inlinable @inline(__always)
  public final func _endChange(_ change: _OpenChange, _ key: StaticString) {
    if let frame = change.frame {
      kvo_uniform_did(frame)
    } else if _slowPath(kvo_binding_came_to_be_observed(headerAddress(of: self))) {
      lookAgain(at: key)
    }
  }

  @usableFromInline @inline(never)
  final func tellRead(of key: StaticString) { tellRead(key.interned) }

  @usableFromInline @inline(never)
  final func openChange(of key: StaticString) -> OpaquePointer? {
    kvo_uniform_will_key(header, key.interned)
  }

  // The class knows by what the runtime identifies the key: the address of its storage, if an `@Observed` has it.
  @usableFromInline @inline(never)
  final func openOverride(of key: StaticString) -> OpaquePointer? {
    var setting = kvo_part()
    setting.kind = .KVO_SETTING
    return kvo_uniform_will_part(header, key.interned, &setting)
  }

  @usableFromInline @inline(never)
  final func lookAgain(at key: StaticString) { kvo_uniform_look_key(header, key.interned) }
}

extension StaticString {
  // Literals end with a NUL. Others than ASCII may be spelled in several ways.
  fileprivate var interned: UnsafePointer<CChar> {
    guard isASCII, hasPointerRepresentation else { return KeyName.of("\(self)").interned }
    let text = UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    guard let interned = kvo_key_intern(text) else {
      KVODiagnostics.stop("No memory for the key \"\(self)\".")
    }
    return interned
  }
}
