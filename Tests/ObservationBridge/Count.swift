import Glibc

/// Without what main has open.
func exit(_ status: Int32) -> Never { Glibc.exit(status) }
