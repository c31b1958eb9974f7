// quoted: error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type '[PartialKeyPath<Book>]'
// quoted: error: cannot infer key path type from context; consider explicitly specifying a root type
import KVORuntime

class Book: KVOObject {
  @Observed var title = ""
}

func watch(_ book: Book) -> KeyValueObservation {
  book.observe(\.titel) { book, _ in print(book.title) }
}
