extension Scenario {
  /// G: key paths.
  static let paths = [
    Scenario(
      "G1", "any object on the path may change; old and new are the end's, nil where it is broken",
      """
      on x a.next.value old new
      set a.next b   => x old nil new 0
      set b.value 1  => x old 0 new 1
      set a.next nil => x old 1 new nil
      set b.value 2
      """),
    Scenario(
      "G1", "a longer path, cut and joined in the middle",
      """
      set a.next b
      set c.value 3
      on x a.next.next.value old new
      set b.next c   => x old nil new 3
      set c.value 4  => x old 3 new 4
      set d.next c
      set a.next d   => x old 4 new 4
      set b.next nil
      set d.next nil => x old 4 new nil
      set a.next nil => x old nil new nil
      """),
    Scenario(
      "G1", "the observer gets the root and the whole path",
      """
      set a.next b
      add d to a.next.value new #1
      set b.value 1  => d#1 a.next.value new 1
      """),
    Scenario(
      "G1", "priors along a path",
      """
      set a.next b
      on x a.next.value prior old new
      set b.value 1  => x prior old 0; x old 0 new 1
      set a.next nil => x prior old 1; x old 1 new nil
      """),
    Scenario(
      "G1", "a path whose end is a link",
      """
      set a.next b
      on x a.next.next old new
      set b.next c   => x old nil new c
      set c.value 1
      set a.next c   => x old c new nil
      """),
    Scenario(
      "G1", "a path that passes one object several times",
      """
      set a.next a
      on x a.next.next.value old new
      set a.value 1  => x old 0 new 1
      set a.next b   => x old 1 new nil
      set b.next a   => x old nil new 1
      set a.value 2  => x old 1 new 2
      """),
    Scenario(
      "G1", "several roots lead to one object",
      """
      set a.next c
      set b.next c
      on x b.next.value new
      on y a.next.value new
      set c.value 1  => x new 1; y new 1
      set a.next nil => y new nil
      set c.value 2  => x new 2
      """),
    Scenario(
      "G1", "removal unhooks the whole path",
      """
      set a.next b
      on x a.next.value
      off x
      set b.value 1
      set a.next c
      """),
    Scenario(
      "G2",
      "a detached object notifies no observer, a re-attached one notifies once, even the same one again",
      """
      set a.next b
      on x a.next.value old new
      set a.next c  => x old 0 new 0
      set b.value 1
      set a.next b  => x old 0 new 1
      set b.value 2 => x old 1 new 2
      set a.next b  => x old 2 new 2
      set b.value 3 => x old 2 new 3
      """),
    Scenario(
      "G2", "who dies while detached harms nobody",
      """
      set a.next b
      on x a.next.value new
      set a.next c  => x new 0
      renew b
      set c.value 1 => x new 1
      """),
    Scenario(
      "G2", "the root of another's path may die",
      """
      set a.next b
      on x a.next.value
      on y b.value
      renew a
      set b.value 1 => y
      """),
    Scenario(
      "G4", "a direct write and an empty pair (article: pairs with nothing in between)",
      """
      set a.next b
      set b.value 1
      set c.value 7
      on x a.next.value old new
      store a.next c
      will a.next
      did a.next    => x old 7 new 7
      set b.value 2
      set c.value 8 => x old 7 new 8
      """),
    Scenario(
      "G4", "a path follows its old objects until a change is delivered",
      """
      set a.next b
      set c.value 7
      on x a.next.value old new
      store a.next c
      set c.value 8
      set b.value 2 => x old 8 new 8
      set a.next c  => x old 8 new 8
      set b.value 3
      set c.value 9 => x old 8 new 9
      """),
    Scenario(
      "G4", "the same for what a derived key depends on",
      """
      set a.next b
      on x a.nextTotal old new
      store a.next c
      set c.value 1
      will a.next
      did a.next    => x old 1 new 1
      set b.value 2
      set c.value 3 => x old 1 new 3
      """),
    Scenario(
      "G4", "the same for the elements of a list",
      """
      set a.items b
      on x a.items.@sum.value old new
      store a.items c
      set c.value 1
      will a.items
      did a.items   => x old 1 new 1
      set b.value 2
      set c.value 3 => x old 1 new 3
      """),
    Scenario(
      "G5",
      "a path that is led elsewhere while a pair of its link is open is silent when the pair ends",
      """
      set a.next b
      set b.other a
      on x a.next.other.value
      will b.other
      set a.value 1
      set a.next c  => x
      did b.other
      """),
    Scenario(
      "G5", "a path through elements that is led elsewhere during the pair is silent, too",
      """
      set a.next b
      insert b.items 0,1 c a
      on x a.next.items.@sum.value
      will b.items
      set c.value 1
      set a.next c  => x
      did b.items
      """),
    Scenario(
      "G5",
      "an observer that a link's pair does not know is notified of changes behind it, beside another pair",
      """
      insert a.items 0,1 c a
      on x b.other.items.@sum.nextTotal
      on y a.items.@sum.items.@count
      will a.items
      set b.other a => x
      will c.next
      set a.next a  => x
      did c.next    => x
      did a.items   => x; y
      """),
    Scenario(
      "G5",
      "a change is not left to another link's pair that notifies the observer of a derived key",
      """
      set a.items a
      on x a.items.@sum.value
      will a.items
      store a.items b a
      on y a.sum
      will b.value
      set a.value 1 => y
      did b.value   => y
      did a.items   => x
      """),
    Scenario(
      "G5",
      "a change that reaches an observer by two ways, behind one link each, is part of neither link's",
      """
      set a.next b
      set a.other b
      on x a.both
      will a.next
      will a.other
      set b.value 1 => x
      did a.other   => x
      set b.value 2 => x
      did a.next    => x
      """),
    Scenario(
      "G5", "if the outer one of two open pairs ends first, changes behind the inner one notify",
      """
      set b.next a
      set a.next b
      insert a.items 0,1 b a
      on x b.heir.items.@sum.nextTotal
      will b.heir
      will a.next
      did b.heir    => x
      set b.value 1 => x
      did a.next    => x
      """),
  ]
}
