extension Scenario {
  /// E: automatic and manual.
  static let manual = [
    Scenario(
      "E1", "automatic notification is off for a key (guide: Manual Change Notification)",
      """
      on x a.quiet old new
      set a.quiet 1
      key a.quiet 2
      will a.quiet
      set a.quiet 3
      did a.quiet   => x old 2 new 3
      """),
    Scenario(
      "E2", "key-value coding notifies once, through whatever setter",
      """
      on x a.value old new
      on y a.items old new
      on z a.manual old new
      key a.value 1   => x old 0 new 1
      key a.items b   => y old [] new [b]
      key a.manual 1  => z old 0 new 1
      """),
    Scenario(
      "E3", "a setter that brackets by hand, if the value is another (guide: Listing 4)",
      """
      on x a.manual prior old new
      set a.manual 1 => x prior old 0; x old 0 new 1
      set a.manual 1
      set a.manual 2 => x prior old 1; x old 1 new 2
      """),
  ]

  /// F: dependent keys.
  static let dependent = [
    Scenario(
      "F1", "a key is derived from others (guide: To-One Relationships, fullName)",
      """
      on x a.total old new
      set a.value 1 => x old 0 new 1
      set a.extra 2 => x old 1 new 3
      set a.quiet 9
      """),
    Scenario(
      "F1", "derived from derived, to the end of the chain (article: color of LabColor)",
      """
      set a.next b
      on x a.grand old new
      set a.value 1 => x old 0 new 1
      set b.extra 2 => x old 1 new 3
      """),
    Scenario(
      "F1", "a key path as a dependency follows its link",
      """
      on x a.nextTotal old new
      set b.value 1
      set c.value 5
      set a.next b   => x old 0 new 1
      set b.extra 1  => x old 1 new 2
      set a.next c   => x old 2 new 5
      set b.value 3
      set a.next nil => x old 5 new 0
      set c.value 6
      """),
    Scenario(
      "F1", "a key path of several links as a dependency",
      """
      on x a.far old new
      set a.next b   => x old 0 new 0
      set b.next c   => x old 0 new 0
      set c.value 2  => x old 0 new 2
      set a.next nil => x old 2 new 0
      set b.next d
      set c.value 3
      """),
    Scenario(
      "F1", "over a to-many relationship (guide: To-Many Relationships, totalSalary)",
      """
      on x a.sum old new
      insert a.items 0 b     => x old 0 new 0
      set b.value 2          => x old 0 new 2
      proxy insert a.items 1 c => x old 2 new 2
      set c.value 3          => x old 2 new 5
      remove a.items 0       => x old 5 new 3
      set b.value 7
      set a.items b b        => x old 3 new 14
      set b.value 1          => x old 14 new 2
      """),
    Scenario(
      "F1", "a derived key that is not observed notifies no observer",
      """
      on x a.value
      set a.extra 1
      set a.value 1 => x
      on y a.total
      off y
      set a.extra 2
      """),
    Scenario(
      "F1", "a pair by hand of what a key is derived from",
      """
      on x a.total prior old new
      will a.value    => x prior old 0
      store a.value 4
      did a.value     => x old 0 new 4
      """),
    Scenario(
      "F1", "a pair by hand of the derived key, and what is derived from that",
      """
      on x a.total old new
      on y a.grand old new
      will a.total
      store a.value 4
      did a.total     => x old 0 new 4; y old 0 new 4
      """),
    Scenario(
      "F2", "one notification, however many ways lead to the key",
      """
      set a.next a
      on x a.grand old new
      set a.value 1 => x old 0 new 2
      """),
    Scenario(
      "F2", "keys that depend on each other",
      """
      on x a.ringA old new
      on y a.ringB old new
      set a.value 1 => x old 0 new 1; y old 0 new 1
      set a.extra 1 => y old 1 new 2; x old 1 new 2
      off x
      set a.value 2 => y old 2 new 3
      off y
      set a.value 3
      """),
    Scenario(
      "F2", "a key that depends on itself around a circle of objects",
      """
      set a.next b
      set b.next a
      on x a.circle old new
      set b.value 1 => x old 0 new 1
      set a.value 2 => x old 1 new 3
      set b.next c  => x old 3 new 3
      set c.value 4 => x old 3 new 3
      """),
    Scenario(
      "F2", "aliases: two branches to one object, one of which is cut",
      """
      set a.next b
      set a.other b
      on x a.both old new
      set b.value 1   => x old 0 new 2
      set a.next nil  => x old 2 new 1
      set b.value 3   => x old 1 new 3
      set a.other nil => x old 3 new 0
      set b.value 4
      """),
    Scenario(
      "F2", "aliases in a list: an element that is there twice",
      """
      set a.items b b
      on x a.sum old new
      set b.value 1    => x old 0 new 2
      remove a.items 0 => x old 2 new 1
      set b.value 2    => x old 1 new 2
      """),
    Scenario(
      "F3", "a derived link heads a path",
      """
      on x a.heir.value old new
      set a.other b => x old nil new 0
      set b.value 2 => x old 0 new 2
      set a.next c  => x old 2 new 0
      set b.value 5
      set c.value 1 => x old 0 new 1
      """),
    Scenario(
      "F3", "repeated relinking leaves no duplicates",
      """
      set a.next b
      on x a.heir.value old new
      set a.next c  => x old 0 new 0
      set a.next b  => x old 0 new 0
      set a.next b  => x old 0 new 0
      set a.other b => x old 0 new 0
      set b.value 1 => x old 0 new 1
      """),
    Scenario(
      "F3", "a derived link inside a path, a derived key at its end",
      """
      set a.next b
      on x a.next.heir.total old new
      set b.other c => x old nil new 0
      set c.extra 1 => x old 0 new 1
      set b.next d  => x old 1 new 0
      set c.extra 2
      set a.next nil => x old 0 new nil
      set d.value 1
      """),
    Scenario(
      "F3", "a derived link that is announced manually is followed",
      """
      set a.next b
      set b.value 1
      on x a.heir.value old new
      store a.next c
      will a.heir
      did a.heir    => x old 0 new 0
      set b.value 2
      set c.value 3 => x old 0 new 3
      """),
    Scenario(
      "F4", "off for a key: its setter notifies no observer, a manual pair notifies all",
      """
      on x a.loud old new
      on y a.quiet old new
      set a.quiet 1
      will a.quiet
      set a.quiet 2
      did a.quiet   => y old 1 new 2; x old 1 new 2
      """),
    Scenario(
      "F4", "off for the derived key does not stop its dependencies",
      """
      on x a.hush old new
      set a.value 1 => x old 0 new 1
      """),
    Scenario(
      "F4", "a key of an object in the middle that is off",
      """
      set a.next b
      on x a.next.quiet old new
      on y a.next.loud old new
      set b.quiet 1
      set a.next b  => x old 1 new 1; y old 1 new 1
      will b.quiet
      store b.quiet 3
      did b.quiet   => x old 1 new 3; y old 1 new 3
      """),
  ]
}
