// quoted: error: missing argument label 'keyPath:' in call
// quoted: error: cannot infer key path type from context; consider explicitly specifying a root type
import KVORuntime

class Book: KVOObject {
  @Observed var title = ""
}

func watch(_ book: Book) -> KeyValueObservation {
  book.observe(\.titel, options: .new) { _, change in print(change.newValue!) }
}
