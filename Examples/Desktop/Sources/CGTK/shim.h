// GTK for Swift, which sees no macros of C that cast.
#include <gtk/gtk.h>

static inline void kvo_connect(void *instance, const char *signal, void (*handler)(void),
    void *data, GClosureNotify destroy) {
  g_signal_connect_data(instance, signal, handler, data, destroy, G_CONNECT_DEFAULT);
}
