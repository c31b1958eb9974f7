"""Observable objects in Python: deliveries, the threads that they arrive on, and the child of a
fork."""

import gc
import os
import threading

from kvo import KVOError, Model, Property, computed, observers


class Person(Model):
    first = Property(str)
    age = Property(int)
    weight = Property(float)
    happy = Property(bool)
    friend = Property(object)

    @computed(str, "first", "friend.first")
    def pair(self):
        return f"{self.first} and {self.friend.first}" if self.friend else self.first


def tell(name):
    return lambda person, old, new: print(f"{name}: {old!r} -> {new!r}")


ada, mary = Person(), Person()
mary.first = "Mary"
keys = ["first", "age", "weight", "happy", "pair", "friend.first"]
kept = [ada.observe(key, tell(key)) for key in keys]
ada.first = "Ada"
ada.age = 36
ada["weight"] = 60  # converted
ada.happy = True
ada.friend = mary
mary.first = "Mary S."

for wrong in [("age", "old"), ("agge", 1), ("pair", "nobody"), ("friend.age", None)]:
    try:
        ada[wrong[0]] = wrong[1]
    except KVOError as error:
        print(error)

# A registration ends with the observed object, and releases its observer.
soon = mary.observe("age", tell("never"))
before = len(observers)
ada.friend = None
del mary
gc.collect()
print("registrations ended:", before - len(observers))

# Observers are called on the thread that sets the property.
counts = {}
lock = threading.Lock()


def count(person, old, new):
    with lock:
        name = threading.current_thread().name
        counts[name] = counts.get(name, 0) + 1


def work():
    mine = Person()
    watching = mine.observe("age", count)
    for age in range(1000):
        mine.age = age
    watching.invalidate()


threads = [threading.Thread(target=work, name=f"thread {i}") for i in range(4)]
for thread in threads:
    thread.start()
kept.clear()
heard = []
kept = [ada.observe("age", lambda person, old, new: heard.append(new))]
child = os.fork()  # while the threads run
if child == 0:
    ada.age = 50
    os._exit(heard != [50])
print("the child's observer:", "fine" if os.waitpid(child, 0)[1] == 0 else "not called")
for thread in threads:
    thread.join()
print(sorted(counts.items()), heard)
