// libsigc++: signals.
#include <sigc++/sigc++.h>

namespace {
using Signal = sigc::signal<void(double)>;
void notified(double);
sigc::connection connect(Signal &signal) { return signal.connect(sigc::ptr_fun(notified)); }
} // namespace

#include "signals.h"
