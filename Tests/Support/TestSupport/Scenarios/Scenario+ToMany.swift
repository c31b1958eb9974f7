extension Scenario {
  /// H1, H2, H3, H5, H6: lists.
  static let toMany = [
    Scenario(
      "H1", "insertion, replacement, removal (guide: Receiving Notification of a Change)",
      """
      on x a.items old new
      insert a.items 0 b   => x insertion 0 new [b]
      insert a.items 1 c   => x insertion 1 new [c]
      replace a.items 0 d  => x replacement 0 old [b] new [d]
      remove a.items 1     => x removal 1 old [c]
      """),
    Scenario(
      "H1", "several indexes at once",
      """
      set a.items d
      on x a.items old new
      insert a.items 0,2 b c  => x insertion 0,2 new [b c]
      replace a.items 1,2 a a => x replacement 1,2 old [d c] new [a a]
      remove a.items 0,2      => x removal 0,2 old [b a]
      """),
    Scenario(
      "H1", "kind and indexes are there for who asks for nothing",
      """
      on x a.items
      insert a.items 0 b  => x insertion 0
      replace a.items 0 c => x replacement 0
      remove a.items 0    => x removal 0
      """),
    Scenario(
      "H1", "prior calls have kind and indexes, old but never new",
      """
      on x a.items prior old new
      insert a.items 0 b  => x prior insertion 0; x insertion 0 new [b]
      replace a.items 0 c => x prior replacement 0 old [b]; x replacement 0 old [b] new [c]
      remove a.items 0    => x prior removal 0 old [c]; x removal 0 old [c]
      """),
    Scenario(
      "H1", "a path that ends in a list has kinds, one that passes it has settings",
      """
      set a.next b
      on x a.next.items old new
      on y a.next.items.@sum.value old new
      insert b.items 0 c => x insertion 0 new [c]; y old 0 new 0
      set c.value 2      => y old 0 new 2
      set a.next nil     => x old [c] new nil; y old 2 new nil
      """),
    Scenario(
      "H1", "each gets its own of a mutation",
      """
      set a.items b
      on w a.items
      on x a.items new
      on y a.items old
      on z a.items.@count
      replace a.items 0 c => w replacement 0; x replacement 0 new [c]; y replacement 0 old [b]; z
      """),
    Scenario(
      "H2", "one notification by accessor, by proxy, by hand",
      """
      on x a.items old new
      insert a.items 0 b        => x insertion 0 new [b]
      proxy insert a.items 0 c  => x insertion 0 new [c]
      hand insert a.items 0 d   => x insertion 0 new [d]
      replace a.items 0 c       => x replacement 0 old [d] new [c]
      proxy replace a.items 1 b => x replacement 1 old [c] new [b]
      hand replace a.items 2 c  => x replacement 2 old [b] new [c]
      remove a.items 0          => x removal 0 old [c]
      proxy remove a.items 0    => x removal 0 old [b]
      hand remove a.items 0     => x removal 0 old [c]
      """),
    Scenario(
      "H2", "batches by accessor, by proxy, by hand",
      """
      on x a.items old new
      insert a.items 0,1 b c        => x insertion 0,1 new [b c]
      proxy insert a.items 0,3 d d  => x insertion 0,3 new [d d]
      hand replace a.items 0,1 a a  => x replacement 0,1 old [d b] new [a a]
      proxy replace a.items 0,3 b b => x replacement 0,3 old [a d] new [b b]
      remove a.items 0,1            => x removal 0,1 old [b a]
      proxy remove a.items 0,1      => x removal 0,1 old [c b]
      """),
    Scenario(
      "H2", "a pair by hand around what happens to storage (guide: Listing 6)",
      """
      on x a.items prior old new
      will a.items insert 0,1 => x prior insertion 0,1
      store a.items b c
      did a.items             => x insertion 0,1 new [b c]
      will a.items remove 0   => x prior removal 0 old [b]
      store a.items c
      did a.items             => x removal 0 old [b]
      will a.items            => x prior old [c]
      store a.items
      did a.items             => x old [c] new []
      """),
    Scenario(
      "H2", "without accessors, by hand and through the proxy",
      """
      on x a.wares old new
      proxy insert a.wares 0 b  => x insertion 0 new [b]
      hand insert a.wares 1 c   => x insertion 1 new [c]
      proxy replace a.wares 0 d => x replacement 0 old [b] new [d]
      proxy remove a.wares 0,1  => x removal 0,1 old [d c]
      """),
    Scenario(
      "H3", "the count is delivered as a setting, without indexes",
      """
      on x a.items.@count old new
      insert a.items 0,1 b c   => x old 0 new 2
      replace a.items 0 d      => x old 2 new 2
      proxy remove a.items 0   => x old 2 new 1
      set a.items b c d        => x old 1 new 3
      set b.value 1
      """),
    Scenario(
      "H5", "replacing the whole list is a setting",
      """
      on x a.items old new
      set a.items b c => x old [] new [b c]
      key a.items c   => x old [b c] new [c]
      set a.items     => x old [c] new []
      """),
    Scenario(
      "H5", "through the proxy an insertion, also where it falls back on the setter",
      """
      on x a.wares prior old new
      proxy insert a.wares 0 b => x prior insertion 0; x insertion 0 new [b]
      set a.wares c            => x prior old [b]; x old [b] new [c]
      set a.wares nil          => x prior old [c]; x old [c] new nil
      proxy insert a.wares 0 d => x prior insertion 0; x insertion 0 new [d]
      """),
    Scenario(
      "H5", "a proxy's mutation reaches those who pass the list",
      """
      on x a.wares.@sum.value old new
      set b.value 2
      proxy insert a.wares 0 b => x old nil new 2
      set b.value 3            => x old 2 new 3
      proxy remove a.wares 0   => x old 3 new 0
      set b.value 4
      """),
    Scenario(
      "H6", "an index that a prior observer has made too large is an error, and its setting stays",
      """
      set a.items b c
      on x a.items prior old new
      when x 1: set a.items b
      proxy replace a.items 1 d => x prior replacement 1 old [c]; x old [b c] new [b]; outOfBounds
      set a.wares b c
      on y a.wares prior old new
      when y 1: set a.wares b
      proxy replace a.wares 1 d => y prior replacement 1 old [c]; y old [b c] new [b]; outOfBounds
      set a.wares nil           => y prior old [b]; y old [b] new nil
      """),
    Scenario(
      "H6", "an index out of range is an error, and nothing happens",
      """
      on x a.items prior old new
      proxy insert a.items 1 b    => outOfBounds
      proxy remove a.items 0      => outOfBounds
      proxy replace a.items 0 b   => outOfBounds
      insert a.items 0 b          => x prior insertion 0; x insertion 0 new [b]
      proxy insert a.items 0,3 c d => outOfBounds
      proxy remove a.items 0,1    => outOfBounds
      proxy replace a.items 0,1 c d => outOfBounds
      remove a.items 0            => x prior removal 0 old [b]; x removal 0 old [b]
      """),
    Scenario(
      "H6", "the same where there is no list yet",
      """
      on x a.wares old new
      proxy insert a.wares 1 b  => outOfBounds
      proxy remove a.wares 0    => outOfBounds
      set a.wares b             => x old nil new [b]
      proxy replace a.wares 1 c => outOfBounds
      """),
  ]

  /// H4: sets.
  static let sets = [
    Scenario(
      "H4", "union, minus, intersect: only what came or went",
      """
      on x a.tags old new
      union a.tags b c     => x insertion new {b c}
      union a.tags c d     => x insertion new {d}
      union a.tags b       => x insertion new {}
      minus a.tags b a     => x removal old {b}
      intersect a.tags d a => x removal old {c}
      intersect a.tags d   => x removal old {}
      minus a.tags d       => x removal old {d}
      """),
    Scenario(
      "H4", "through the proxy, with set as a replacement",
      """
      on x a.tags old new
      proxy union a.tags b       => x insertion new {b}
      proxy union a.tags b c     => x insertion new {c}
      proxy assign a.tags c d    => x replacement old {b} new {d}
      proxy minus a.tags c       => x removal old {c}
      proxy intersect a.tags b c => x removal old {d}
      proxy assign a.tags b      => x replacement old {} new {b}
      """),
    Scenario(
      "H4", "prior calls have what will go",
      """
      set a.tags b c
      on x a.tags prior old new
      union a.tags d        => x prior insertion; x insertion new {d}
      minus a.tags b a      => x prior removal old {b}; x removal old {b}
      intersect a.tags c    => x prior removal old {d}; x removal old {d}
      proxy assign a.tags a => x prior replacement old {c}; x replacement old {c} new {a}
      """),
    Scenario(
      "H4", "by hand (article: withSetMutation)",
      """
      on x a.tags prior old new
      hand union a.tags b c     => x prior insertion; x insertion new {b c}
      hand assign a.tags c d    => x prior replacement old {b}; x replacement old {b} new {d}
      will a.tags minus c b     => x prior removal old {c}
      store a.tags d
      did a.tags                => x removal old {c}
      hand intersect a.tags a   => x prior removal old {d}; x removal old {d}
      """),
    Scenario(
      "H4", "the setter of a set is a setting",
      """
      on x a.tags old new
      set a.tags b c => x old {} new {b c}
      key a.tags c   => x old {b c} new {c}
      """),
    Scenario(
      "H4", "those who pass the set get settings",
      """
      on x a.tags.@count old new
      on y a.tags.@sum.value old new
      set c.value 3
      union a.tags b c => x old 0 new 2; y old 0 new 3
      minus a.tags c   => x old 2 new 1; y old 3 new 0
      set c.value 4
      """),
  ]
}
