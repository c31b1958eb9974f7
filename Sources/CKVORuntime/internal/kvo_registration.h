/// Making and ending registrations.
#ifndef KVO_REGISTRATION_H
#define KVO_REGISTRATION_H

#include "kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Ends a registration that the caller keeps from being freed. False if it had ended.
bool kvo_registration_end(kvo_registration *registration);
/// Ends all with this object, and all that this object made as observer.
void kvo_registrations_end_with(kvo_object *object);
void kvo_registrations_end_by(kvo_object *observer);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
