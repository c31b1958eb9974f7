/// Changes that reach exactly one recipient, along a path or to a derived key (single_recipient.c).
#ifndef KVO_SINGLE_RECIPIENT_H
#define KVO_SINGLE_RECIPIENT_H

#include "delivery/kvo_delivery.h"
#include "delivery/kvo_propagation.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The will phase of a change of a key with linked observers, whose frame is open: finds the recipient, and reads the
/// old value if the recipient asks for it. Returns false, having done nothing, if the change has to take the slow
/// path.
bool kvo_single_recipient_begin(kvo_frame *frame, kvo_observers observers);
/// The did phase of a frame with KVO_FRAME_SINGLE_RECIPIENT. Clears the flag, reads the new value and calls the
/// recipient. Returns false if the slow path has to finish the change: then what the will phase found is in the
/// frame's propagation.
bool kvo_single_recipient_finish(kvo_frame *frame, kvo_observers observers);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
