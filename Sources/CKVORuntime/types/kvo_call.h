/// How a method is called: its encoding parsed once, calls by `ffi_call` or directly where the C
/// type is known. ffi.c and closures.c alone know libffi.
#ifndef KVO_CALL_H
#define KVO_CALL_H

#include "kvo_class.h"
#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A call's shape, interned by its encoding, living for ever: all methods of one encoding share
/// one, with its prepared cif and its closure.
typedef struct kvo_call {
  const char *encoding;    ///< normalised: "v@:d"
  const kvo_type *result;  ///< KVO_KIND_VOID for none
  uint32_t argument_count; ///< with self and _cmd
  const kvo_type *KVO_NONNULL const *KVO_NONNULL arguments;
  void *cif;                    ///< ffi.c's
  kvo_imp KVO_NULLABLE closure; ///< closures.c's: made at first need, atomically published
} kvo_call;

/// The call of a whole method encoding; NULL with KVO_INVALID_ENCODING or KVO_NO_MEMORY. The first
/// two arguments must be `@` and `:`.
const kvo_call *KVO_NULLABLE kvo_call_for_encoding(const char *encoding,
    kvo_error *KVO_NULLABLE error);
/// The call of a class's method by its signature: parses, and compares the layout. The error's
/// text names the type; the caller adds class and key. Hooks have no call.
const kvo_call *KVO_NULLABLE kvo_call_for_signature(kvo_signature signature,
    kvo_error *KVO_NULLABLE error);
/// Checks that the compiler's layout is the encoding's, and returns the type.
const kvo_type *KVO_NULLABLE kvo_type_for_layout(kvo_layout layout, kvo_error *KVO_NULLABLE error);

/// Calls through libffi. `arguments` holds a pointer to each argument. `result` must have room
/// for the result and at least for a word; small integers come widened to a word.
void kvo_call_invoke(const kvo_call *call, kvo_imp imp, void *KVO_NULLABLE result,
    void *KVO_NULLABLE *KVO_NONNULL arguments);
/// As `kvo_call_invoke`; a result of any size is dropped.
void kvo_call_drop(const kvo_call *call, kvo_imp imp, void *KVO_NULLABLE *KVO_NONNULL arguments);
/// `*result = imp(self, method)`, exactly `call->result->size` bytes; directly where the kind is
/// scalar or pointer.
void kvo_call_get(const kvo_call *call, kvo_imp imp, kvo_object *self, const kvo_method *method,
    void *result);
/// `imp(self, method, *value)`; a result is dropped.
void kvo_call_set(const kvo_call *call, kvo_imp imp, kvo_object *self, const kvo_method *method,
    const void *value);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
