// GTK for Swift, with a function in place of a C macro that casts, which Swift does not import.
#include <gtk/gtk.h>

static inline void kvo_connect(void *instance, const char *signal, void (*handler)(void),
    void *data, GClosureNotify destroy) {
  g_signal_connect_data(instance, signal, handler, data, destroy, G_CONNECT_DEFAULT);
}
