#include "account.h"

// That is all: nothing here knows that somebody may be watching.
KVO_CLASS_IMPLEMENTATION(account, "Account", kvo_root_class, ACCOUNT_PROPERTIES, NULL)
