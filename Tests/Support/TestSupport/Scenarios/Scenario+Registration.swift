extension Scenario {
  /// C: registration.
  static let registration = [
    Scenario(
      "C1", "as many calls as registrations, and each removal takes one away (guide: Removing)",
      """
      add b to a.value new
      add b to a.value new
      set a.value 1         => b a.value new 1; b a.value new 1
      remove b from a.value
      set a.value 2         => b a.value new 2
      remove b from a.value
      set a.value 3
      """),
    Scenario(
      "C1", "a removal with a context takes that context's, one without the latest",
      """
      add b to a.value #1
      add b to a.value #2
      add b to a.value #1
      set a.value 1            => b#1 a.value; b#2 a.value; b#1 a.value
      remove b from a.value #1
      set a.value 1            => b#1 a.value; b#2 a.value
      remove b from a.value
      set a.value 1            => b#1 a.value
      """),
    Scenario(
      "C1", "a removal takes no other path's and no other observer's",
      """
      set a.next c
      add b to a.value
      add b to a.next.value
      add d to a.next.value
      remove b from a.next.value
      set a.value 1         => b a.value
      set c.value 1         => d a.next.value
      """),
    Scenario(
      "C1", "a path may be registered twice as well",
      """
      set a.next c
      add b to a.next.value #1
      add b to a.next.value #2
      set c.value 1            => b#1 a.next.value; b#2 a.next.value
      remove b from a.next.value
      set c.value 1            => b#1 a.next.value
      set a.next nil           => b#1 a.next.value
      """),
    Scenario(
      "C2", "what is not registered can't be removed (guide: Removing)",
      """
      remove b from a.value    => notRegistered
      add b to a.value #1
      remove b from a.value #2 => notRegistered
      remove b from a.extra    => notRegistered
      remove c from a.value    => notRegistered
      remove b from c.value    => notRegistered
      set a.value 1            => b#1 a.value
      """),
    Scenario(
      "C2", "the second removal of one registration is one too many",
      """
      add b to a.next.value
      remove b from a.next.value
      remove b from a.next.value => notRegistered
      """),
    Scenario(
      "C3", "initial comes before registration returns, with new and never old (guide: Options)",
      """
      set a.value 3
      on x a.value initial new           => x new 3
      on y a.value initial               => y
      on z a.value initial old new prior => z new 3
      set a.value 4                      => z prior old 3; x new 4; y; z old 3 new 4
      """),
    Scenario(
      "C3", "initial where automatic notification is off",
      """
      store a.quiet 2
      on x a.quiet initial new => x new 2
      """),
    Scenario(
      "C3", "initial carries nil as present, also of a broken path",
      """
      on x a.next initial new            => x new nil
      on y a.next.next.value initial new => y new nil
      on z a.wares initial new           => z new nil
      """),
    Scenario(
      "C3", "initial carries a whole collection",
      """
      set a.items b c b
      set a.tags c b
      on x a.items initial new => x new [b c b]
      on y a.tags initial new  => y new {b c}
      """),
    Scenario(
      "C3", "a registration may end inside its initial call",
      """
      when x 1: off x
      on x a.value initial new => x new 0
      set a.value 1
      """),
    Scenario(
      "C3", "initial of derived keys and of paths is the value at the end",
      """
      set b.value 2
      set a.next b
      on x a.nextTotal initial new  => x new 2
      on y a.next.total initial new => y new 2
      """),
    Scenario(
      "C4", "an observer that dies ends its registrations",
      """
      add b to a.value
      add b to a.next.value
      add c to a.value
      renew b
      set a.value 1 => c a.value
      set a.next d
      """),
    Scenario(
      "C4", "an observed object that dies ends its registrations",
      """
      on x a.value
      add b to a.next.value
      renew a
      set a.value 1
      remove b from a.value => notRegistered
      """),
    Scenario(
      "C4", "an observer that dies during a change is not called any more",
      """
      on x a.value
      add b to a.value
      on y a.value
      when x 1: renew b
      set a.value 1 => x; y
      """),
    Scenario(
      "C4", "a path keeps none of its objects alive, and loses one that dies without a word",
      """
      set a.next b
      renew b
      set b.value 1
      on x a.next.value old new
      store a.next nil
      set a.next c => x old nil new 0
      """),
    Scenario(
      "C5", "invalidation again, and inside the own callback",
      """
      on x a.value
      on y a.value
      when x 2: off x
      set a.value 1 => x; y
      set a.value 2 => x; y
      off x
      set a.value 3 => y
      off y
      off y
      set a.value 4
      """),
    Scenario(
      "C6", "the count and the sum of a list follow membership and elements",
      """
      on x a.items.@count old new
      on y a.items.@sum.value old new
      insert a.items 0 b   => x old 0 new 1; y old 0 new 0
      set b.value 2        => y old 0 new 2
      insert a.items 1 b   => x old 1 new 2; y old 2 new 4
      set b.value 3        => y old 4 new 6
      remove a.items 0     => x old 2 new 1; y old 6 new 3
      set b.value 4        => y old 3 new 4
      remove a.items 0     => x old 1 new 0; y old 4 new 0
      set b.value 5
      """),
    Scenario(
      "C6", "operators over sets, and over what was nil",
      """
      on x a.tags.@max.value old new
      on y a.wares.@sum.value old new
      union a.tags b c     => x old nil new 0
      set c.value 2        => x old 0 new 2
      minus a.tags c       => x old 2 new 0
      set c.value 3
      set a.wares c b      => y old nil new 3
      set b.value 1        => x old 0 new 1; y old 3 new 4
      """),
    Scenario(
      "C6", "an operator over derived keys and over links",
      """
      set a.items b
      on x a.items.@sum.total old new
      on y a.items.@sum.next.value old new
      set b.extra 2        => x old 0 new 2
      set c.value 1
      set b.next c         => y old 0 new 1
      set c.value 5        => y old 1 new 5
      set b.next nil       => y old 5 new 0
      set c.value 6
      """),
    Scenario(
      "C6", "nested operators",
      """
      set a.items b c
      on x a.items.@sum.items.@sum.value old new
      insert b.items 0 d   => x old 0 new 0
      set d.value 2        => x old 0 new 2
      insert c.items 0 d   => x old 2 new 4
      remove a.items 0     => x old 4 new 2
      set d.value 3        => x old 2 new 3
      insert b.items 0 d
      """),
    Scenario(
      "C6", "a path through a plain collection is refused (guide: To-Many Relationships)",
      """
      on x a.items.value => invalidKeyPath
      on y a.tags.value  => invalidKeyPath
      set a.next b
      on z a.next.items.value => invalidKeyPath
      set a.items b
      set b.value 1
      """),
    Scenario(
      "C7", "an object observes itself (guide: At a Glance)",
      """
      set a.next a
      add a to a.value new
      add a to a.total new
      add a to a.next.extra new
      set a.value 1 => a a.value new 1; a a.total new 1
      set a.extra 2 => a a.next.extra new 2; a a.total new 3
      set a.next b  => a a.next.extra new 0
      """),
    Scenario(
      "C7", "an object that observes itself may die",
      """
      add a to a.value
      add a to a.next.value
      renew a
      set a.value 1
      """),
    Scenario(
      "C8", "an unknown key is refused, also on the way, and nothing is registered",
      """
      on x a.bogus           => undefinedKey
      on y a.bogus.value     => undefinedKey
      set a.next b
      on z a.next.bogus      => undefinedKey
      on w a.items.@sum.bogus
      set a.next c
      """),
    Scenario(
      "C10", "a registration replaced from inside its own callback",
      """
      set a.next b
      on x a.next new
      when x 1: off x
      when x 1: on y c.value initial new
      set a.next c  => x new c; y new 0
      set a.next b
      set c.value 1 => y new 1
      """),
    Scenario(
      "C11", "the context is handed back (guide: Context)",
      """
      add b to a.value new #1
      add b to a.next.value new #2
      set a.value 1 => b#1 a.value new 1
      set a.next c  => b#2 a.next.value new 0
      """),
  ]
}
