#pragma once

/// The name whose look-up waits for `test_resolver_release`; any other is looked up as ever.
#define TEST_RESOLVER_HELD_NAME "held.halcyon.test"

/// Look-ups of the held name wait from now on.
void test_resolver_hold(void);
/// They end, as of a name that there is not.
void test_resolver_release(void);
/// How many wait now.
int test_resolver_waiting(void);
