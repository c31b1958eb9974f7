// Boost.Signals2: signals in their default configuration, with a mutex.
#include <boost/signals2.hpp>

namespace {
using Signal = boost::signals2::signal<void(double)>;
void notified(double);
boost::signals2::connection connect(Signal &signal) { return signal.connect(&notified); }
} // namespace

#include "signals.h"
