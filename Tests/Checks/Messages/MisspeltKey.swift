// says: MisspeltKey.swift:8:24: error: value of type 'Book' has no member 'titel'
import KVORuntime

class Book: KVOObject {
  @Observed var title = ""
}

let key = Book.key(of: \.titel)
