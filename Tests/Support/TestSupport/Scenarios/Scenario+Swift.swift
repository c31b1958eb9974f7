extension Scenario {
  /// Behaviour that only Swift has: tracked key paths, weak links, handles.
  package static let swift = [
    Scenario(
      "F5", "a computed property follows what its getter reads, of whatever objects",
      #"""
      set a.next b
      set a.other c
      on x a.\choice old new
      set b.extra 1
      set c.extra 2  => x old 0 new 2
      set a.value 1  => x old 2 new 1
      set c.extra 3
      set b.extra 2  => x old 1 new 2
      """#, .swift),
    Scenario(
      "G5", "a typed path passes through an object of which another property has an open change",
      #"""
      set c.next c
      on x c.\next?.next?.value
      will c.value
      set c.next b   => x
      set b.next b   => x
      did c.value
      """#, .swift),
    Scenario(
      "G5",
      "a typed path is silent behind its link, also if it passes through the changed object before",
      #"""
      set a.next b
      set b.next a
      on x a.\next?.next?.value new
      will b.next
      set a.value 1
      did b.next     => x new 1
      """#, .swift),
    Scenario(
      "G5",
      "the properties that a computed link reads are beside each other, and its object is behind",
      #"""
      on x a.\heir?.value new
      will a.next
      set a.other b  => x new 0
      set b.value 1
      did a.next     => x new 1
      set b.value 2  => x new 2
      """#, .swift),
    Scenario(
      "G5", "a declared computed link is beside a property that its getter reads",
      #"""
      on x a.\heir?.value
      will a.next
      set a.next d  => x
      set a.other a => x
      did a.next    => x
      """#, .swift),
    Scenario(
      "F5", "a change that is read twice notifies once; removed members do not notify",
      #"""
      set a.tags b
      set a.wares b c
      on x a.\crowd old new
      set b.extra 1  => x old 0 new 2
      set b.value 1  => x old 2 new 3
      set c.value 1
      set a.wares c  => x old 3 new 2
      set b.extra 2  => x old 2 new 3
      """#, .swift),
    Scenario(
      "F5", "a declared one sits inside paths of strings",
      """
      set a.next b
      on x a.next.reach old new
      set b.items c d => x old 0 new 0
      set d.value 2   => x old 0 new 2
      set b.items c   => x old 2 new 0
      set d.value 3
      """, .swift),
    Scenario(
      "F6",
      "a path's observers are notified among those of the key, those of computed keys after them",
      #"""
      set a.next b
      on v b.value
      on w a.\heir?.value
      on x a.\next?.value
      on y b.value
      set b.value 1 => v; x; y; w
      """#, .swift),
    Scenario(
      "F6", "of a path that ends in a list everything is a setting, with all of it",
      #"""
      set a.next b
      on x a.\next?.items old new
      on y a.\items.count old new
      insert b.items 0 c => x old [] new [c]
      insert a.items 0 c => y old 0 new 1
      set a.next nil     => x old [c] new nil
      """#, .swift),
    Scenario(
      "E2", "a plain property notifies when it is set by key, not when it is assigned",
      """
      on x a.friend old new
      set a.friend b
      key a.friend c => x old b new c
      will a.friend
      set a.friend b
      did a.friend   => x old c new b
      """, .swift),
    Scenario(
      "G3", "a weak link may die: no observer is notified, and the next read gives nil",
      """
      key a.friend b
      on x a.friend.value old new
      set b.value 1  => x old 0 new 1
      renew b
      set b.value 2
      key a.friend c => x old nil new 0
      set c.value 3  => x old 0 new 3
      """, .swift),
    Scenario(
      "H4", "a handle says beforehand what will really come and go",
      """
      set a.tags b
      on x a.tags prior old new
      union a.tags b c   => x prior insertion; x insertion new {c}
      minus a.tags a b   => x prior removal old {b}; x removal old {b}
      intersect a.tags a => x prior removal old {c}; x removal old {c}
      assign a.tags d    => x prior replacement old {}; x replacement old {} new {d}
      """, .swift),
  ]
}
