# A debugging session. Expected.txt has the answers, without addresses.
set pagination off
set confirm off
set print thread-events off
break look_here
break kvo_break_on_misuse
break balance_changed
run
echo == nobody observes it\n
output o->isa->name
echo \n
info symbol o->isa->table[account_setBalance_method->slot]
continue
echo == one observer, one open change\n
output o->isa->name
echo \n
output o->isa->superclass->name
echo \n
info symbol o->isa->table[account_setBalance_method->slot]
call (void)kvo_debug_dump(o)
continue
echo == in the observer\n
output kvo_this_thread->top != kvo_this_thread->first.frames
echo \n
continue
echo == misuse\n
printf "%s\n", message
continue
echo == nobody again\n
output o->isa->name
echo \n
call (void)kvo_debug_dump(o)
kill
