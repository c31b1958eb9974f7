extension Scenario {
  /// D7: observers that act in their calls.
  static let reentrancy = [
    Scenario(
      "D7", "a set in a final call is a change of its own, delivered to all",
      """
      on x a.value old new
      on y a.value old new
      when x 1: set a.value 2
      set a.value 1 => x old 0 new 1; x old 1 new 2; y old 1 new 2; y old 0 new 1
      """),
    Scenario(
      "D7", "a set of the key in its prior call joins the change",
      """
      on x a.value prior old new
      when x 1: set a.value 5
      set a.value 1 => x prior old 0; x old 0 new 1
      """),
    Scenario(
      "D7", "a mutation of the key in its prior call makes the change a setting",
      """
      on x a.items prior old new
      when x 1: insert a.items 0 c
      insert a.items 0 b => x prior insertion 0; x old [] new [b c]
      insert a.items 2 d => x prior insertion 2; x insertion 2 new [d]
      """),
    Scenario(
      "D7", "a set of another key in a prior call is a change of its own",
      """
      on x a.value prior
      on y a.extra old new
      when x 1: set a.extra 5
      set a.value 1 => x prior; y old 0 new 5; x
      """),
    Scenario(
      "D7", "who is added during a change gets the next one",
      """
      on x a.value
      when x 1: on y a.value new
      set a.value 1 => x
      set a.value 2 => x; y new 2
      """),
    Scenario(
      "D7", "who is added in a prior call gets the next change as well",
      """
      on x a.value prior
      when x 1: on y a.value new
      set a.value 1 => x prior; x
      set a.value 2 => x prior; x; y new 2
      """),
    Scenario(
      "D7",
      "who is added in a prior call gets the next change, also if this one leads its path to the key",
      """
      on x a.next.total prior
      when x 1: on y a.heir.next.both old new
      set a.next a => x prior; x
      set a.value 5 => x prior; y old 0 new 5; x
      """),
    Scenario(
      "D7",
      "who is added in a prior call gets the next change of a key that an earlier one has led to itself",
      """
      on x a.value prior
      on z a.joint
      set a.next a => z
      when x 1: on y a.joint old new
      set a.value 5 => x prior; x; z
      set a.value 6 => x prior; x; z; y old 10 new 12
      """),
    Scenario(
      "D7", "who is added during a change gets a change made inside it",
      """
      on x a.value new
      when x 1: on y a.value new
      when x 1: set a.value 2
      set a.value 1 => x new 1; x new 2; y new 2
      """),
    Scenario(
      "D7", "who is removed during a change is not called any more",
      """
      on x a.value
      on y a.value
      when x 1: off y
      set a.value 1 => x
      """),
    Scenario(
      "D7", "who is removed in a prior call gets neither its prior nor its final",
      """
      on x a.value prior
      on y a.value prior
      on z a.value
      when x 1: off y
      when x 1: off z
      set a.value 1 => x prior; x
      """),
    Scenario(
      "D7", "who is removed and added again is new to the change",
      """
      on x a.value
      add b to a.value
      when x 1: remove b from a.value
      when x 1: add b to a.value
      set a.value 1 => x
      set a.value 2 => x; b a.value
      """),
    Scenario(
      "D7", "all are removed by the first",
      """
      on x a.value
      add b to a.value
      on p a.next.value
      when x 1: clear a
      set a.value 1 => x
      set a.next b
      set a.value 2
      """),
    Scenario(
      "D7", "the object may be dropped in a call",
      """
      on x a.value
      on y a.value
      when x 1: renew a
      set a.value 1 => x; y
      set a.value 2
      """),
    Scenario(
      "D7", "a link that is cut in a call cuts the paths behind it",
      """
      set a.next b
      on x b.value
      on y a.next.value old new
      when x 1: set a.next nil
      set b.value 1 => x; y old 1 new nil; y old 0 new 1
      set b.value 2 => x
      """),
    Scenario(
      "D7", "a path that was cut in a prior call is not reached by the change any more",
      """
      set a.next b
      on x b.value prior
      on y a.next.value old new
      when x 1: set a.next nil
      set b.value 1 => x prior; y old 0 new nil; x
      """),
    Scenario(
      "G1", "a path that a prior call led here is notified of the change, too",
      """
      on x b.value prior
      on y a.next.value old new
      when x 1: set a.next b
      set b.value 1 => x prior; y old nil new 0; x; y old 1 new 1
      set b.value 2 => x prior; x; y old 1 new 2
      """),
    Scenario(
      "D7", "a path that is registered during a change gets the next one",
      """
      set a.next b
      will b.value
      on x a.next.value old new
      store b.value 1
      did b.value
      set b.value 2 => x old 1 new 2
      """),
    Scenario(
      "D7", "calls recurse to any depth",
      """
      on x a.value new
      when x 1: set a.value 2
      when x 2: set a.value 3
      when x 3: set a.value 4
      on y a.value new
      set a.value 1 => x new 1; x new 2; x new 3; x new 4; y new 4; y new 3; y new 2; y new 1
      """),
  ]

  /// D13: order across keys.
  static let order = [
    Scenario(
      "D13", "the key, then derived keys level by level",
      """
      on g a.grand
      on t a.total
      on v a.value
      set a.value 1 => v; t; g
      """),
    Scenario(
      "D13", "the keys of a level by name",
      """
      on t a.total
      on r a.ringA
      on h a.hush
      on c a.circle
      set a.value 1 => c; h; r; t
      """),
    Scenario(
      "D13", "priors come in the same order",
      """
      on g a.grand prior
      on t a.total prior
      on v a.value prior
      on c a.circle prior
      set a.value 1 => v prior; c prior; t prior; g prior; v; c; t; g
      """),
    Scenario(
      "D13", "levels across objects",
      """
      set b.next a
      on n b.nextTotal
      on g b.grand
      on t a.total
      on v a.value
      set a.value 1 => v; t; n; g
      """),
    Scenario(
      "D13", "one key of several objects in the order in which it came to be watched",
      """
      set b.next a
      set c.next a
      on y c.nextTotal
      on x b.nextTotal
      set a.value 1 => y; x
      """),
    Scenario(
      "D13", "observers through a path stand where they were registered among their key's",
      """
      set b.next a
      on p b.next.total
      on t a.total
      on q b.next.total
      on v a.value
      set a.value 1 => v; p; t; q
      """),
    Scenario(
      "D13", "an observer of several of the keys is notified once, at the first",
      """
      set a.next a
      on x a.next.next.total
      on y a.next
      set a.value 1  => x
      set a.next nil => x; y
      """),
  ]
}
