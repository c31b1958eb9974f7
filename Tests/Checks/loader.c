// Loads the library LOADED, and calls its main function with this program's arguments. See Scripts/checks/bridge.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  void *library = dlopen(getenv("LOADED"), RTLD_NOW | RTLD_LOCAL);
  int (*start)(int, char **) = NULL;
  if (library) *(void **)&start = dlsym(library, "ObservationBridge_main");
  if (!start) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return start(count, arguments);
}
