// Sets up the coverage's counters before the tests' constructors, some of which replace main and exit. See
// Scripts/variant.py.
int __llvm_profile_runtime; // instead of the profiling library's own beginning
void __llvm_profile_initialize(void);
__attribute__((constructor(102))) static void begin(void) { __llvm_profile_initialize(); }
