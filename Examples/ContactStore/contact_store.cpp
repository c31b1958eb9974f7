#include "ContactStore.h"

#include <cstddef>
#include <string>
#include <vector>

struct contact_store {
  std::vector<std::string> names;
};

contact_store *contact_store_create(void) { return new contact_store; }

void contact_store_destroy(contact_store *store) { delete store; }

size_t contact_store_count(const contact_store *store) { return store->names.size(); }

const char *contact_store_name(const contact_store *store, size_t index) {
  return store->names[index].c_str();
}

void contact_store_insert(contact_store *store, const char *name, size_t index) {
  store->names.insert(store->names.begin() + static_cast<std::ptrdiff_t>(index), name);
}

void contact_store_remove(contact_store *store, size_t index) {
  store->names.erase(store->names.begin() + static_cast<std::ptrdiff_t>(index));
}
