/// Changes that reach one recipient alone, along a path or to a derived key; near.c.
#ifndef KVO_NEAR_H
#define KVO_NEAR_H

#include "kvo_delivery.h"
#include "kvo_reach.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The will of a change of a key with linked observers, whose frame is open: finds the recipient and reads
/// old if that asks for it. False, with nothing done, if the change has to go the long way.
bool kvo_near_begin(kvo_frame *frame, kvo_observers observers);
/// The did of a frame with KVO_FRAME_NEAR, which it ends: reads new and calls the recipient, or leaves to
/// the long way what was found out at will, as the frame's reach. False: the long way goes on.
bool kvo_near_finish(kvo_frame *frame, kvo_observers observers);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
