import Glibc

/// In this file, because it does not have main.swift's imports.
func exit(_ status: Int32) -> Never { Glibc.exit(status) }
