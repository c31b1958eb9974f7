// libsigc++: signals.
#include <sigc++/sigc++.h>

namespace {
using Signal = sigc::signal<void(double)>;
void told(double);
sigc::connection connect(Signal &signal) { return signal.connect(sigc::ptr_fun(told)); }
} // namespace

#include "signals.h"
