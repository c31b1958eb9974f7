// says: MisspeltWithRoot.swift:10:16: error: value of type 'Book' has no member 'titel'
// quoted: value of type 'Book' has no member 'titel'
import KVORuntime

class Book: KVOObject {
  @Observed var title = ""
}

func watch(_ book: Book) -> KeyValueObservation {
  book.observe(\Book.titel, options: .new) { _, change in print(change.newValue!) }
}
