// GTK, for Swift.
#include <gtk/gtk.h>
