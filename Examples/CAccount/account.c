#include "account.h"

// This is the whole class: it has no code for observers.
KVO_CLASS_IMPLEMENTATION(account, "Account", kvo_root_class, ACCOUNT_PROPERTIES, NULL)
