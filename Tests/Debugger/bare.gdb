# The same without debug information: by the address that a register has.
set pagination off
set confirm off
break look_here
run
continue
echo == a release build\n
call (void)kvo_debug_dump($object)
kill
