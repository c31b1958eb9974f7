extension Scenario {
  /// D1 to D6, E: the notifications and their order.
  static let delivery = [
    Scenario(
      "D1", "all observers have been called when the setter returns (article: on the same thread)",
      """
      on x a.value new
      set a.value 1 => x new 1
      key a.value 2 => x new 2
      """),
    Scenario(
      "D2", "in the order of registration, priors and finals alike",
      """
      on x a.value prior
      on y a.value
      on z a.value prior
      set a.value 1 => x prior; z prior; x; y; z
      """),
    Scenario(
      "D2", "callbacks, objects and paths are in one order",
      """
      set b.next a
      on p b.next.value
      add c to a.value
      on x a.value
      add d to b.next.value
      set a.value 1 => p; c a.value; x; d b.next.value
      """),
    Scenario(
      "D2", "who leaves and comes back is last",
      """
      add b to a.value
      on x a.value
      remove b from a.value
      add b to a.value
      set a.value 1 => x; b a.value
      """),
    Scenario(
      "D3", "setting an equal value notifies observers, nil over nil too",
      """
      on x a.value old new
      on y a.next old new
      set a.value 0  => x old 0 new 0
      set a.next nil => y old nil new nil
      """),
    Scenario(
      "D3", "distinct leaves out what is equal",
      """
      on x a.value distinct new
      on y a.next distinct old new
      on z a.items distinct
      set a.value 0
      set a.value 1  => x new 1
      set a.next nil
      set a.next b   => y old nil new b
      set a.next b
      set a.items b  => z
      set a.items b
      """),
    Scenario(
      "D3", "distinct compares what its path leads to",
      """
      set b.value 2
      set c.value 2
      on x a.next.value distinct new
      on y a.total distinct new
      set a.next b  => x new 2
      set a.next c
      set c.value 3 => x new 3
      set a.value 1 => y new 1
      set a.extra 0
      """),
    Scenario(
      "D3", "distinct never leaves out a mutation",
      """
      set a.items b
      set a.tags b
      on x a.items distinct old new
      on y a.tags distinct new
      replace a.items 0 b => x replacement 0 old [b] new [b]
      union a.tags b      => y insertion new {}
      """),
    Scenario(
      "D3", "distinct has its prior call all the same",
      """
      on x a.value distinct prior
      set a.value 0 => x prior
      set a.value 1 => x prior; x
      """),
    Scenario(
      "D4", "each gets what it asked for and nothing more (guide: Options)",
      """
      on w a.value
      on x a.value new
      on y a.value old
      on z a.value old new prior
      on p a.value prior new
      set a.value 1 => z prior old 0; p prior; w; x new 1; y old 0; z old 0 new 1; p new 1
      """),
    Scenario(
      "D4", "the same for those who follow a path and a derived key",
      """
      set a.next b
      on x a.next.value new
      on y a.next.value old prior
      on z a.nextTotal old new prior
      on w a.nextTotal
      set b.value 1 => y prior old 0; z prior old 0; x new 1; y old 0; z old 0 new 1; w
      """),
    Scenario(
      "D5", "old is read at will, new at did (article: stores the values at the point in time)",
      """
      on x a.value old new
      store a.value 1
      will a.value
      store a.value 2
      store a.value 3
      did a.value     => x old 1 new 3
      """),
    Scenario(
      "D5", "in a prior call everything reads as before, derived keys too",
      """
      on x a.value prior
      when x 1: on y a.total initial new
      when x 1: on z a.value initial new
      set a.value 1 => x prior; y new 0; z new 0; x
      """),
    Scenario(
      "D5", "in a final call everything reads as after, paths and collections too",
      """
      on x a.next
      when x 1: on y a.next.value initial new
      when x 1: on z a.nextTotal initial new
      set b.value 4
      set a.next b  => x; y new 4; z new 4
      """),
    Scenario(
      "D5", "old is there for the last observer although the setter dropped it",
      """
      set a.next b
      renew b
      on x a.next old
      on y a.next old
      set a.next c => x old b; y old b
      """),
    Scenario(
      "D6", "pairs by hand nest (guide: Manual Change Notification)",
      """
      on x a.value prior old new
      on y a.extra prior old new
      will a.value    => x prior old 0
      will a.extra    => y prior old 0
      store a.value 1
      store a.extra 2
      did a.extra     => y old 0 new 2
      did a.value     => x old 0 new 1
      """),
    Scenario(
      "D6", "pairs of different keys may cross",
      """
      on x a.value prior old new
      on y a.extra prior old new
      will a.value    => x prior old 0
      store a.value 1
      will a.extra    => y prior old 0
      did a.value     => x old 0 new 1
      store a.extra 2
      did a.extra     => y old 0 new 2
      """),
    Scenario(
      "D6", "pairs of one key nest, the last opened closes first",
      """
      on x a.value prior old new
      will a.value    => x prior old 0
      store a.value 1
      will a.value    => x prior old 1
      store a.value 2
      did a.value     => x old 1 new 2
      store a.value 3
      did a.value     => x old 0 new 3
      """),
    Scenario(
      "D6", "pairs of one key of two objects don't meet",
      """
      on x a.value old new
      on y b.value old new
      will a.value
      will b.value
      store a.value 1
      did a.value     => x old 0 new 1
      did b.value     => y old 0 new 0
      """),
    Scenario(
      "D6", "a set inside a pair by hand is a change of its own",
      """
      on x a.value prior old new
      will a.value  => x prior old 0
      set a.value 1 => x prior old 0; x old 0 new 1
      did a.value   => x old 0 new 1
      """),
    Scenario(
      "D6", "a set in the prior call of a pair by hand is a change of its own",
      """
      on x a.value prior old new
      when x 1: set a.value 1
      will a.value  => x prior old 0; x prior old 0; x old 0 new 1
      did a.value   => x old 0 new 1
      """),
    Scenario(
      "D6", "a pair inside an automatic change joins it",
      """
      on x a.value prior old new
      when x 1: will a.value
      when x 2: did a.value
      set a.value 1 => x prior old 0; x old 0 new 1
      set a.value 2 => x prior old 1; x old 1 new 2
      """),
    Scenario(
      "D6", "a pair of another key inside an automatic change does not join it",
      """
      on x a.value prior
      on y a.extra old new
      when x 1: will a.extra
      when x 2: did a.extra
      set a.value 1 => x prior; x; y old 0 new 0
      """),
    Scenario(
      "D8", "a did without a will is ignored",
      """
      on x a.value new
      did a.value
      set a.value 1 => x new 1
      """),
    Scenario(
      "D8", "a will left open silences nothing",
      """
      on x a.value old new
      will a.value
      set a.value 1 => x old 0 new 1
      set a.value 2 => x old 1 new 2
      did a.value   => x old 0 new 2
      """),
    Scenario(
      "D11", "two levels of one observer, distinguished by context (article: PrivateKVOContext)",
      """
      add b to a.value #1
      add b to a.value #2
      set a.value 1            => b#1 a.value; b#2 a.value
      remove b from a.value #2
      set a.value 2            => b#1 a.value
      """),
    Scenario(
      "D12", "a pair opened in a prior call and closed in the final one (guide: Options, prior)",
      """
      on x a.value prior
      on y b.extra old new
      when x 1: will b.extra
      when x 2: store b.extra 7
      when x 2: did b.extra
      set a.value 1 => x prior; x; y old 0 new 7
      """),
    Scenario(
      "D12", "the same by two observers of one key",
      """
      on x a.value prior
      on z a.value prior
      on y b.extra old new
      when x 1: will b.extra
      when z 1: will b.extra
      when x 2: store b.extra 7
      when x 2: did b.extra
      when z 2: store b.extra 8
      when z 2: did b.extra
      set a.value 1 => x prior; z prior; x; y old 0 new 7; z; y old 0 new 8
      """),
    Scenario(
      "D12", "the same with a path that the pair relinks",
      """
      set b.next c
      set d.value 4
      on y b.next.value old new
      on x a.value prior
      when x 1: will b.next
      when x 2: store b.next d
      when x 2: did b.next
      set a.value 1 => x prior; x; y old 0 new 4
      set c.value 2
      set d.value 5 => y old 4 new 5
      """),
  ]
}
