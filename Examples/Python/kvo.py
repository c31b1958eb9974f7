"""KVORuntime for Python, with ctypes: classes with observable properties, and observers.

    class Person(Model):
        name = Property(str)

    person = Person()
    observation = person.observe("name", lambda person, old, new: print(old, "->", new))
    person.name = "Ada"

Each Python object has a C object, whose class is created together with the Python class. The C
object counts its references with atomics and without a lock. Python could not do that in a
callback: the runtime changes the counts while it holds locks, and a callback would wait for the
interpreter's lock.
"""

import ctypes
import itertools
import os
import threading
import weakref
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_int, c_size_t, c_void_p

library = ctypes.CDLL(os.environ.get("KVO_LIBRARY", "libckvoruntime.so.0.1"))


class KVOError(Exception):
    """An error reported by the runtime; its text names class, key and cause."""


# MARK: Types of kvo_*.h


class Error(Structure):
    _fields_ = [("status", c_int), ("class_name", c_char * 96), ("key", c_char * 128)]
    _fields_ += [("message", c_char * 416), ("component", c_char * 64)]
    _fields_ += [("expected", c_char * 48), ("found", c_char * 64)]


class Layout(Structure):
    _fields_ = [("encoding", c_char_p), ("size", c_size_t), ("alignment", c_size_t)]


class Signature(Structure):
    _fields_ = [("form", c_int), ("layout", Layout)]


class Type(Structure):
    _fields_ = [("encoding", c_char_p), ("size", c_size_t), ("alignment", c_size_t)]


class Value(Structure):
    _fields_ = [("words", ctypes.c_uint64 * 3), ("type", POINTER(Type))]


def new_value():
    """A nil value. It must be aligned to 16 bytes, which ctypes does not guarantee."""
    room = (c_char * (ctypes.sizeof(Value) + 15))()
    return Value.from_buffer(room, -ctypes.addressof(room) % 16)


GETTER, SETTER = 0, 1
OLD_AND_NEW = 3
Ended = CFUNCTYPE(None, c_void_p)
Callback = CFUNCTYPE(None, c_void_p, c_void_p, c_char_p, c_void_p)
V, E = POINTER(Value), POINTER(Error)


def function(name, result, *arguments):
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


class_create = function("kvo_class_create", c_void_p, c_char_p, c_void_p, c_size_t, E)
class_register = function("kvo_class_register", c_int, c_void_p, E)
add_method = function(
    "kvo_class_add_method", c_int, c_void_p, c_char_p, c_void_p, Signature, c_void_p, E
)
add_dependency = function("kvo_class_add_dependency", c_int, c_void_p, c_char_p, c_char_p, E)
object_create = function("kvo_object_create", c_void_p, c_void_p)
object_release = function("kvo_object_release", None, c_void_p)
type_for_encoding = function("kvo_type_for_encoding", POINTER(Type), c_char_p, E)
value_init = function("kvo_value_init", c_int, V, POINTER(Type), c_void_p)
value_destroy = function("kvo_value_destroy", None, V)
value_bytes = function("kvo_value_bytes", c_void_p, V)
value_for_key_path = function("kvo_value_for_key_path", c_int, c_void_p, c_char_p, V, E)
set_value_for_key_path = function("kvo_set_value_for_key_path", c_int, c_void_p, c_char_p, V, E)
add_callback = function(
    "kvo_add_callback", c_int, c_void_p, c_char_p, c_int, Callback, c_void_p, Ended,
    POINTER(c_void_p), E,
)  # fmt: skip
handle_release = function("kvo_handle_release", None, c_void_p)
change_get_old = function("kvo_change_get_old", V, c_void_p)
change_get_new = function("kvo_change_get_new", V, c_void_p)


def call(called, *arguments):
    """Calls a function that returns a status and takes an error as its last argument."""
    error = Error()
    if called(*arguments, byref(error)):
        raise KVOError(error.message.decode())


# MARK: Values

ENCODINGS = {bool: b"B", int: b"q", float: b"d", str: b"*"}  # any other class is an object
C_TYPES = {b"B": ctypes.c_bool, b"q": ctypes.c_int64, b"d": ctypes.c_double}
alive = weakref.WeakValueDictionary()  # maps addresses of C objects to objects


def encoding_of(kind):
    return ENCODINGS.get(kind, b"@")


def to_c(value):
    """Converts a value for C functions: to a number, the bytes of a string, or an object's address."""
    if isinstance(value, str):
        return value.encode()
    return value.address if isinstance(value, Model) else value


def from_c(encoding, value):
    """Converts a value from C. A string or an object may be None."""
    if encoding == b"@":
        return value and alive.get(value)
    return value.decode() if encoding == b"*" and value is not None else value


def unpack(value):
    """The content of a pointer to a kvo_value."""
    where = value and value_bytes(value)
    if not where:
        return None
    encoding = value.contents.type.contents.encoding
    kind = C_TYPES.get(encoding, c_char_p if encoding == b"*" else c_void_p)
    return from_c(encoding, kind.from_address(where).value)


def pack(python):
    value = new_value()
    if python is not None:
        encoding = encoding_of(type(python))
        kind = C_TYPES.get(encoding, c_char_p if encoding == b"*" else c_void_p)
        if value_init(byref(value), type_for_encoding(encoding, None), byref(kind(to_c(python)))):
            raise MemoryError
    return value


# MARK: Classes

functions = []  # called by classes, which live for ever
texts = threading.local()


class Property:
    """An attribute of a Model: stored, or read by a function and affected by key paths."""

    def __init__(self, kind, read=None, affected_by=()):
        self.kind, self.read, self.affected_by = kind, read, affected_by
        self.encoding = encoding_of(kind)

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, model, owner=None):
        if model is None:
            return self
        return self.read(model) if self.read else model.__dict__.get(self.name, self.none())

    def __set__(self, model, value):
        model[self.name] = value

    def none(self):
        return self.kind() if self.encoding in C_TYPES else None

    def get_for_c(self, address, method):
        model = alive.get(address)
        value = to_c(self.none() if model is None else self.__get__(model))
        if self.encoding != b"*":
            return value
        texts.last = c_char_p(value)  # C borrows it until this thread's next call
        return ctypes.cast(texts.last, c_void_p).value

    def set_for_c(self, address, method, value):
        alive[address].__dict__[self.name] = from_c(self.encoding, value)

    def add_to(self, cls):
        result = C_TYPES.get(self.encoding, c_void_p)
        taken = c_char_p if self.encoding == b"*" else result
        self.add_method(cls, self.name, GETTER, CFUNCTYPE(result, c_void_p, c_void_p), self.get_for_c)
        if not self.read:
            setter = "set" + self.name[:1].upper() + self.name[1:] + ":"
            kind = CFUNCTYPE(None, c_void_p, c_void_p, taken)
            self.add_method(cls, setter, SETTER, kind, self.set_for_c)
        for path in self.affected_by:
            call(add_dependency, cls, self.name.encode(), path.encode())

    def add_method(self, cls, selector, form, kind, python):
        functions.append(kind(python))
        signature = Signature(form, Layout(self.encoding, 0, 0))
        imp = ctypes.cast(functions[-1], c_void_p)
        call(add_method, cls, selector.encode(), imp, signature, None)


def computed(kind, *affected_by):
    """A decorator that makes the method a read-only property."""
    return lambda read: Property(kind, read, affected_by)


class Model:
    """The root class of observable classes."""

    known_as = None  # the C root class

    def __init_subclass__(cls):
        error = Error()
        cls.known_as = class_create(cls.__name__.encode(), cls.known_as, 16, byref(error))
        if not cls.known_as:
            raise KVOError(error.message.decode())
        for member in vars(cls).values():
            if isinstance(member, Property):
                member.add_to(cls.known_as)
        call(class_register, cls.known_as)

    def __init__(self):
        self.address = object_create(self.known_as)
        if not self.address:
            raise MemoryError
        alive[self.address] = self

    def __del__(self, release=object_release):
        release(self.__dict__.get("address"))

    def __getitem__(self, key_path):
        value = new_value()
        call(value_for_key_path, self.address, key_path.encode(), byref(value))
        try:
            return unpack(ctypes.pointer(value))
        finally:
            value_destroy(byref(value))

    def __setitem__(self, key_path, new):
        value = pack(new)
        try:
            call(set_value_for_key_path, self.address, key_path.encode(), byref(value))
        finally:
            value_destroy(byref(value))

    def observe(self, key_path, callback, options=OLD_AND_NEW):
        """Calls `callback(object, old, new)` after each change, until the result is released."""
        return Observation(self, key_path, callback, options)


# MARK: Observing

numbers = itertools.count(1)
observers = {}  # handlers, by the number passed as context


@Callback
def change_told(number, address, key_path, change):
    callback = observers.get(number)
    if callback:
        callback(alive.get(address), unpack(change_get_old(change)), unpack(change_get_new(change)))


@Ended
def registration_ended(number):
    observers.pop(number, None)


class Observation:
    """A registration. It ends with this object, or when the observed object dies."""

    def __init__(self, model, key_path, callback, options):
        self.handle = c_void_p()
        number = next(numbers)
        observers[number] = callback
        try:
            call(
                add_callback, model.address, key_path.encode(), options, change_told, number,
                registration_ended, byref(self.handle),
            )  # fmt: skip
        except KVOError:
            del observers[number]
            raise

    def invalidate(self):
        handle, self.handle = self.handle, None
        handle_release(handle)

    def __del__(self):
        self.invalidate()
