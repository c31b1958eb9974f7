/// Changes that reach one recipient alone, along a path or to a derived key; single_recipient.c.
#ifndef KVO_SINGLE_RECIPIENT_H
#define KVO_SINGLE_RECIPIENT_H

#include "delivery/kvo_delivery.h"
#include "delivery/kvo_propagation.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The will of a change of a key with linked observers, whose frame is open: finds the recipient and reads
/// old if that asks for it. False, with nothing done, if the change has to go the long way.
bool kvo_single_recipient_begin(kvo_frame *frame, kvo_observers observers);
/// The did of a frame with KVO_FRAME_SINGLE_RECIPIENT, which it ends: reads new and calls the recipient, or leaves to
/// the long way what was found out at will, as the frame's propagation. False: the long way goes on.
bool kvo_single_recipient_finish(kvo_frame *frame, kvo_observers observers);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
