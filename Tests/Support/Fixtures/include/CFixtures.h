/// Classes of C that the tests of both languages share, and what it takes to watch them.
#ifndef CFIXTURES_H
#define CFIXTURES_H

#include "fixture_account.h"
#include "fixture_answers.h"
#include "fixture_article.h"
#include "fixture_automatic.h"
#include "fixture_breaks.h"
#include "fixture_closures.h"
#include "fixture_crate.h"
#include "fixture_extended.h"
#include "fixture_graph.h"
#include "fixture_guest.h"
#include "fixture_guide.h"
#include "fixture_keys.h"
#include "fixture_lodger.h"
#include "fixture_meeting.h"
#include "fixture_memory.h"
#include "fixture_programs.h"
#include "fixture_refused.h"
#include "fixture_scalars.h"
#include "fixture_setters.h"
#include "fixture_shelf.h"
#include "fixture_stress.h"
#include "fixture_threads.h"
#include "fixture_thrower.h"
#include "fixture_token.h"
#include "fixture_tracked.h"
#include "fixture_watcher.h"
#include "fixture_weave.h"
#include "fixture_worker.h"

#endif
