# The session without debug information: objects are given by the address in a register.
set pagination off
set confirm off
break look_here
run
continue
echo == a release build\n
call (void)kvo_debug_dump($object)
kill
