// Registrations.

final class Registration {
  /// In the order of registration.
  let number: Int
  /// A callback's number, or that of an observer object.
  let callback: Int?, observer: Int?
  let root: Int
  let path: GraphPath
  let options: GraphOptions
  let context: Int
  var isLive = true
  private(set) var last = LastValue<GraphValue>()
  /// The places that its path observes.
  private(set) lazy var strand = Strand(path, registration: self)

  init(
    number: Int, callback: Int? = nil, observer: Int? = nil, root: Int, path: GraphPath,
    options: GraphOptions, context: Int = 0
  ) {
    self.number = number
    self.callback = callback
    self.observer = observer
    self.root = root
    self.path = path
    self.options = options
    self.context = context
  }

  var caller: Int { callback ?? -1 - observer! }

  /// Whether a change is delivered to it (D3). `value` is nil for a mutation.
  func admits(_ value: GraphValue?, at time: Int) -> Bool {
    !options.contains(.distinct) || last.admits(value, at: time)
  }
}

extension ObservationModel {
  package func observe(
    _ object: Int, _ path: GraphPath, _ options: GraphOptions, as callback: Int
  ) {
    register(
      Registration(
        number: registered + 1, callback: callback, root: object, path: path, options: options))
  }

  package func add(
    _ observer: Int, to object: Int, _ path: GraphPath, _ options: GraphOptions, context: Int
  ) {
    register(
      Registration(
        number: registered + 1, observer: observer, root: object, path: path, options: options,
        context: context))
  }

  private func register(_ registration: Registration) {
    if let refusal = refusal(of: registration.path, at: registration.root) {
      return log.add(refusal)
    }
    registered += 1
    registrations.append(registration)
    begin(registration.strand, at: registration.root)
    time += 1
    _ = registration.admits(read(registration.root, registration.path), at: time)
    guard registration.options.contains(.initial) else { return }
    var call = call(of: registration, nil)
    if registration.options.contains(.new) {
      call.new = read(registration.root, registration.path)
    }
    tell(registration, call)
  }

  /// The error of a path, checked as far as objects exist along it.
  private func refusal(of path: GraphPath, at root: Int) -> GraphLog.Refusal? {
    var objects = [root]
    for (depth, component) in path.components.enumerated() {
      switch component {
      case .unknown: if !objects.isEmpty { return .undefinedKey }
      case .aggregate: continue
      case .key(let key):
        let values = objects.map { read($0, key) }
        let next = depth + 1 < path.count ? path.components[depth + 1] : nil
        if case .key? = next, values.contains(where: \.isCollection) { return .invalidKeyPath }
        objects = values.flatMap(\.objects)
      }
    }
    return nil
  }

  package func invalidate(_ callback: Int) { end { $0.callback == callback } }

  package func remove(_ observer: Int, from object: Int, _ path: GraphPath, context: Int?) {
    let match = registrations.last {
      $0.observer == observer && $0.root == object && $0.path == path
        && (context == nil || $0.context == context)
    }
    if let match { end { $0 === match } } else { log.add(.notRegistered) }
  }

  package func removeAll(from object: Int) { end { $0.root == object } }

  func end(_ isMeant: (Registration) -> Bool) {
    let ended = registrations.filter(isMeant)
    registrations.removeAll(where: isMeant)
    for registration in ended {
      registration.isLive = false
      end(registration.strand)
    }
    endUnwatched()
  }
}
