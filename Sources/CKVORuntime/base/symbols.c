// The names of the functions of a program or library, from the file that it was loaded from. The file's symbol table,
// unless it is stripped, also has functions that the dynamic linker does not know. The file is mapped, searched and
// unmapped, and nothing is cached. So this is for work that is done once, messages above all.
//
// The file is not trusted: all offsets in it are checked against its size.
//
// Classes are never freed, so the functions of their methods must not be unloaded: a library that contains one stays
// in memory (P5).
#include "base/kvo_memory.h"
#include "kvo_binding.h"

#ifdef __linux__
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A statically linked program has no libraries, so dlopen is not called there. A weak reference does not link it in;
// glibc's libc.a links it for itself, and the linker then warns about this reference.
#pragma weak dlopen

// The program or library that contains an address: where it is loaded, its file, and the segment with the address.
typedef struct {
  uintptr_t address;
  uintptr_t segment;
  uintptr_t segment_size;
  uintptr_t base;
  bool is_program;
  char path[4096];
} origin;

typedef struct {
  const char *bytes;
  size_t size;
} mapped;

typedef struct {
  const ElfW(Sym) * symbols;
  size_t count;
  const char *names;
  size_t names_size;
} symbol_table;

static bool is_in_segment(origin *origin, const struct dl_phdr_info *info) {
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    origin->segment = info->dlpi_addr + segment->p_vaddr;
    origin->segment_size = segment->p_memsz;
    if (segment->p_type == PT_LOAD && origin->address - origin->segment < segment->p_memsz)
      return true;
  }
  return false;
}

static int is_code(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  uintptr_t address = *(const uintptr_t *)context;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t offset = address - (info->dlpi_addr + segment->p_vaddr);
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && offset < segment->p_memsz)
      return 1;
  }
  return 0;
}

bool kvo_is_code(const void *address) {
  uintptr_t number = (uintptr_t)address;
  return dl_iterate_phdr(is_code, &number);
}

// The program itself has an empty name here.
static int take_origin(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  origin *origin = context;
  if (!is_in_segment(origin, info)) return 0;
  origin->is_program = !info->dlpi_name || !*info->dlpi_name;
  snprintf(origin->path, sizeof origin->path, "%s",
      origin->is_program ? "/proc/self/exe" : info->dlpi_name);
  origin->base = info->dlpi_addr;
  return 1;
}

static mapped map_file(const char *path) {
  mapped file = {NULL, 0};
  struct stat status;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file;
  if (!fstat(descriptor, &status) && status.st_size > 0) {
    file.size = (size_t)status.st_size;
    void *bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes != MAP_FAILED) file.bytes = bytes;
  }
  close(descriptor);
  return file;
}

// A part of the file, or NULL if the file is too short or the part misaligned.
static const void *symbol_file_part(const mapped *file, size_t offset, size_t size,
    size_t alignment) {
  bool is_there = offset <= file->size && size <= file->size - offset && offset % alignment == 0;
  return is_there ? file->bytes + offset : NULL;
}

static const ElfW(Shdr) *
    symbol_section(const mapped *file, const ElfW(Ehdr) * header, size_t index) {
  if (index >= header->e_shnum || header->e_shentsize != sizeof(ElfW(Shdr))) return NULL;
  return symbol_file_part(file, header->e_shoff + index * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)),
      _Alignof(ElfW(Shdr)));
}

static bool take_table(symbol_table *table, const mapped *file, const ElfW(Ehdr) * header,
    const ElfW(Shdr) * found) {
  const ElfW(Shdr) *names = symbol_section(file, header, found->sh_link);
  if (!names) return false;
  table->count = found->sh_size / sizeof(ElfW(Sym));
  table->symbols = symbol_file_part(file, found->sh_offset, found->sh_size, _Alignof(ElfW(Sym)));
  table->names_size = names->sh_size;
  table->names = symbol_file_part(file, names->sh_offset, names->sh_size, 1);
  // The last name must end inside the table.
  return table->symbols && table->names && table->names_size &&
         !table->names[table->names_size - 1];
}

static bool find_table(symbol_table *table, const mapped *file) {
  const ElfW(Ehdr) *header = symbol_file_part(file, 0, sizeof *header, 1);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG)) return false;
  for (size_t i = 0; i < header->e_shnum; i++) {
    const ElfW(Shdr) *found = symbol_section(file, header, i);
    if (found && found->sh_type == SHT_SYMTAB) return take_table(table, file, header, found);
  }
  return false;
}

void kvo_visit_symbols(const void *address,
    void (*visit)(void *context, const char *name, const void *address), void *context) {
  origin origin = {.address = (uintptr_t)address};
  symbol_table table;
  if (!dl_iterate_phdr(take_origin, &origin)) return;
  mapped file = map_file(origin.path);
  if (!file.bytes) return;
  if (find_table(&table, &file)) {
    for (size_t i = 0; i < table.count; i++) {
      const ElfW(Sym) *symbol = &table.symbols[i];
      if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= table.names_size) continue;
      visit(context, table.names + symbol->st_name, (const void *)(origin.base + symbol->st_value));
    }
  }
  munmap((void *)(uintptr_t)file.bytes, file.size);
}

// MARK: Libraries with methods

// A function whose library is kept when the thread's outermost scope ends.
typedef struct waiting {
  const void *address;
  struct waiting *next;
} waiting;

static _Thread_local struct {
  uint32_t scopes;
  waiting *first;
  // The last segment that is kept or waiting, since most methods are in the same segment as the one before.
  uintptr_t segment, segment_size;
} keeping;

// Opens the library once more, so that it is never unloaded. Not called inside dl_iterate_phdr, which holds a lock
// that dlopen takes while it holds another one.
static bool open_again(const origin *origin) {
  return origin->is_program || dlopen(origin->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static bool wait_for_end(const void *address) {
  waiting *added = kvo_alloc(sizeof *added);
  if (!added) return false;
  *added = (waiting){address, keeping.first};
  keeping.first = added;
  return true;
}

bool kvo_keep_code(const void *address) {
  origin origin = {.address = (uintptr_t)address};
  if (!dlopen || origin.address - keeping.segment < keeping.segment_size) return true;
  if (!dl_iterate_phdr(take_origin, &origin)) return true; // code that was made at run time
  bool waits = keeping.scopes && !origin.is_program;
  if (waits && !wait_for_end(address)) return false;
  if (!waits && !open_again(&origin)) return true;
  keeping.segment = origin.segment;
  keeping.segment_size = origin.segment_size;
  return true;
}

uint32_t kvo_begin_keeping_later(void) { return keeping.scopes++; }

void kvo_end_keeping_later(const uint32_t *outer) {
  keeping.scopes = *outer;
  while (!keeping.scopes && keeping.first) {
    waiting *next = keeping.first->next;
    origin origin = {.address = (uintptr_t)keeping.first->address};
    if (!dl_iterate_phdr(take_origin, &origin) || !open_again(&origin)) keeping.segment_size = 0;
    kvo_free(keeping.first);
    keeping.first = next;
  }
}
#else
bool kvo_keep_code(const void *unused) {
  (void)unused;
  return true;
}
bool kvo_is_code(const void *unused) {
  (void)unused;
  return false;
}
uint32_t kvo_begin_keeping_later(void) { return 0; }
void kvo_end_keeping_later(const uint32_t *unused) { (void)unused; }

void kvo_visit_symbols(const void *address,
    void (*visit)(void *context, const char *name, const void *address), void *context) {
  (void)address, (void)visit, (void)context;
}
#endif
