/// How methods are called: the parsed encoding, and calls by `ffi_call`, or directly if the C type is known. Only
/// ffi.c and closures.c use libffi.
#ifndef KVO_CALL_H
#define KVO_CALL_H

#include "kvo_class.h"
#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The shape of a call, interned by its encoding and never freed. All methods of one encoding share it, with its
/// prepared cif and its closure.
typedef struct kvo_call {
  const char *encoding;    ///< normalised: "v@:d"
  const kvo_type *result;  ///< KVO_KIND_VOID if there is none
  uint32_t argument_count; ///< including self and _cmd
  const kvo_type *KVO_NONNULL const *KVO_NONNULL arguments;
  void *cif; ///< owned by ffi.c
  kvo_imp
      KVO_NULLABLE closure; ///< owned by closures.c: made when first needed, atomically published
} kvo_call;

/// The call for a whole method encoding; NULL with KVO_INVALID_ENCODING or KVO_NO_MEMORY. The first two arguments
/// must be `@` and `:`.
const kvo_call *KVO_NULLABLE kvo_call_for_encoding(const char *encoding,
    kvo_error *KVO_NULLABLE error);
/// The call for a method's signature: parses the encoding, and compares the layout. The error's text names the type;
/// the caller adds class and key. Hooks have no call.
const kvo_call *KVO_NULLABLE kvo_call_for_signature(kvo_signature signature,
    kvo_error *KVO_NULLABLE error);
/// Checks that the compiler's layout agrees with the encoding's, and returns the type.
const kvo_type *KVO_NULLABLE kvo_type_for_layout(kvo_layout layout, kvo_error *KVO_NULLABLE error);

/// Calls through libffi. `arguments` has a pointer to each argument. `result` must have room for the result, and at
/// least for a word; small integers are widened to a word.
void kvo_call_invoke(const kvo_call *call, kvo_imp imp, void *KVO_NULLABLE result,
    void *KVO_NULLABLE *KVO_NONNULL arguments);
/// Calls through libffi as `kvo_call_invoke` does, and drops the result, whatever its size.
void kvo_call_drop(const kvo_call *call, kvo_imp imp, void *KVO_NULLABLE *KVO_NONNULL arguments);
/// `*result = imp(self, method)`, writing exactly `call->result->size` bytes. Scalars and pointers are called
/// directly.
void kvo_call_get(const kvo_call *call, kvo_imp imp, kvo_object *self, const kvo_method *method,
    void *result);
/// `imp(self, method, *value)`. A result is dropped.
void kvo_call_set(const kvo_call *call, kvo_imp imp, kvo_object *self, const kvo_method *method,
    const void *value);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
